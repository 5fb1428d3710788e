#!/bin/sh
# Runs clang-tidy with the checks of .clang-tidy on the layers without LibTorch, which takes two minutes.
#   tidy.sh [FILE ...]    on these files
set -eu
cd "$(dirname "$0")/../.."
for tidy in clang-tidy-19 clang-tidy-18 clang-tidy; do
  command -v $tidy >/dev/null 2>&1 && break
done
# A build folder without unity files and precompiled headers, so that each file must include what it
# needs.
folder=build/tidy
mkdir -p build
[ -e $folder/compile_commands.json ] ||
  cmake -S . -B $folder -G Ninja -D CMAKE_BUILD_TYPE=Release -D PUSHDOWN_UNITY=OFF \
    -D CMAKE_DISABLE_PRECOMPILE_HEADERS=ON >$folder.log 2>&1 || { cat $folder.log >&2; exit 1; }
[ $# -gt 0 ] || set -- src/base/*.cpp src/grammar/*.cpp src/pda/*.cpp src/record/*.cpp
printf '%s\n' "$@" | xargs -P "$(nproc)" -n 4 $tidy -p $folder --quiet 2>/dev/null
