#!/bin/sh
# Build the wheel and the source distribution into dist/, check them, and try the wheel in an empty
# environment. PYTHON chooses another interpreter; INSTALL=no leaves the last step out.
set -eu
cd "$(dirname "$0")/.."
python=${PYTHON:-.venv/bin/python}

"$python" -c 'import build, twine' 2>/dev/null || {
    echo "tools/release.sh needs the extra 'release': $python -m pip install --constraint constraints.txt '.[release]'" >&2
    exit 1
}
rm -rf build/lib build/bdist.* dist
PIP_CONSTRAINT=$PWD/constraints.txt "$python" -m build --outdir dist .
"$python" -m twine check --strict dist/*
[ "${INSTALL:-yes}" = no ] && exit

empty=$(mktemp -d)
trap 'rm -rf "$empty"' EXIT
"$python" -m venv "$empty/venv"
"$empty/venv/bin/pip" install --quiet --constraint constraints.txt dist/*.whl
cd "$empty"  # away from the source, so that the installed package is found
"$empty/venv/bin/bilingual-crawler" --version
