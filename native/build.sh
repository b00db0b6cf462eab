#!/usr/bin/env bash
# Builds gregor-native into the environment of the Python that is named. Without a C++ compiler, or Python's headers,
# it says so in one line, and nothing has failed.
set -euo pipefail
cd "$(dirname "$0")"
python=$1
compiler=${CXX:-g++}

missing=
command -v "${compiler%% *}" >/dev/null || missing="a C++ compiler (${compiler%% *})"
headers=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
[ -e "$headers/Python.h" ] || missing=${missing:-"Python.h ($headers)"}
if [ -n "$missing" ]; then
  echo "gregor-native is not built: $missing is missing; pages are read by Python alone" >&2
  exit 0
fi

mkdir -p build
if ! "$python" -m pip install --disable-pip-version-check --progress-bar off . >build/log 2>&1; then
  echo "gregor-native is not built: see native/build/log; pages are read by Python alone" >&2
  exit 1
fi
