#!/usr/bin/env bash
# Builds the fuzzer with sanitizers and runs it: run.sh PYTHON INPUTS [SEED].
set -euo pipefail
cd "$(dirname "$0")/.."
python=$1 inputs=$2 seed=${3:-1}
build=build/fuzz
mkdir -p $build
"$python" -c 'import sources; sources.unpacked()'
xxhash=$("$python" -c 'import sources; print(sources.unpacked()["xxhash"])')
mapfile -t files < <(find src -name '*.cpp' ! -name module.cpp)
"${CXX:-g++}" -std=c++20 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer \
  -D_GLIBCXX_ASSERTIONS -DXXH_INLINE_ALL -I"$xxhash/deps/xxhash" fuzz/fuzz.cpp "${files[@]}" -o $build/fuzz
exec $build/fuzz "$inputs" "$seed"
