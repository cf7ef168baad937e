#!/bin/sh
# What the tests use that pip does not bring: Chromium, for those of the web page.
# Where it cannot be installed this says how, and those tests skip.
set -u

if command -v chromium >/dev/null || command -v chromium-browser >/dev/null; then
    exit 0
fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "Installing Chromium for the tests of the web page ..."
    export DEBIAN_FRONTEND=noninteractive
    if timeout 600 apt-get install -qq -y --no-install-recommends chromium >/dev/null 2>&1 ||
        { timeout 120 apt-get update -qq >/dev/null 2>&1 &&
            timeout 600 apt-get install -qq -y --no-install-recommends chromium >/dev/null 2>&1; }
    then
        exit 0
    fi
    echo "Chromium could not be installed with apt-get."
fi
echo "The tests of the web page in a browser will be skipped: there is no Chromium."
echo "Install it with: sudo apt-get install chromium (or your system's own package of it)."
