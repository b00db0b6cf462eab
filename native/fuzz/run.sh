#!/usr/bin/env bash
# Builds the fuzzer with sanitizers and runs it: run.sh PYTHON INPUTS [SEED].
set -euo pipefail
cd "$(dirname "$0")/.."
python=$1 inputs=$2 seed=${3:-1}
build=build/fuzz
mkdir -p $build
"$python" -c 'import sources; sources.unpacked()'
xxhash=$("$python" -c 'import sources; print(sources.unpacked()["xxhash"])')
ada=$("$python" -c 'import sources; print(sources.unpacked()["ada_url"])')/ada_url
lexbor=$("$python" -c 'import sources; print(sources.unpacked()["selectolax"])')/lexbor/source
checks=(-O1 -g -fsanitize=address -fno-sanitize-recover=all -fno-omit-frame-pointer)
common=(-DLEXBOR_STATIC -DXXH_INLINE_ALL -I"$xxhash/deps/xxhash" -I"$lexbor" -I"$ada")

# Whatever is older than its source, two files at a time.
compile() {
  local source=$1 object=${1#"$lexbor"/}
  object=$build/${object//\//_}.o
  shift
  [ "$object" -nt "$source" ] || "$@" -c "$source" -o "$object"
}
export -f compile
export build lexbor
find "$lexbor"/lexbor/{core,dom,html,ns,ports/posix,tag} -name '*.c' -print0 |
  xargs -0 -P "$(nproc)" -I{} bash -c 'compile "$@"' compile {} "${CC:-gcc}" -std=c99 -w "${checks[@]}" "${common[@]}"
compile "$ada/ada.cpp" "${CXX:-g++}" -std=c++20 -w "${checks[@]}" -O2  # it has functions that must be inlined
mapfile -t files < <(grep -L python.hpp src/*.cpp)
"${CXX:-g++}" -std=c++20 "${checks[@]}" -fsanitize=undefined -D_GLIBCXX_ASSERTIONS "${common[@]}" fuzz/fuzz.cpp "${files[@]}" $build/*.o -o $build/fuzz
exec $build/fuzz "$inputs" "$seed"
