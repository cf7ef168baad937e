#!/bin/sh
# Install what the tests need and pip does not provide. If that is not possible, say how to install
# it; the tests that need it are skipped.
set -u
export DEBIAN_FRONTEND=noninteractive

# found PROGRAM...: succeed if one of them exists
found() {
    for program in "$@"; do
        command -v "$program" >/dev/null && return 0
    done
    return 1
}

# install PACKAGE: with apt-get, if it is there and we are root
install() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
    echo "Installing $1 for the tests ..."
    timeout 600 apt-get install -qq -y --no-install-recommends "$1" >/dev/null 2>&1 ||
        { timeout 120 apt-get update -qq >/dev/null 2>&1 &&
            timeout 600 apt-get install -qq -y --no-install-recommends "$1" >/dev/null 2>&1; }
}

# need PACKAGE WHAT PROGRAM...: one of the programs, from the package; without it WHAT is skipped
need() {
    package=$1 what=$2
    shift 2
    found "$@" || install "$package" || {
        echo "$what will be skipped: there is no $1."
        echo "Install it with: sudo apt-get install $package (or your system's own package of it)."
    }
}

need chromium "The tests of the web page in a browser" chromium chromium-browser
need redis-server "The tests of the frontier in Redis" redis-server
# only with the extra: python -m pip install 'bilingual-crawler[spark]'
if "${PYTHON:-.venv/bin/python}" -c 'import pyspark' 2>/dev/null; then
    need openjdk-17-jre-headless "The tests of builds on Spark" java
fi
