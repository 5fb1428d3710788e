#!/bin/sh
# Runs clang-tidy with the checks of .clang-tidy on sources of src and bindings and on their headers.
#   tidy.sh            the sources that differ from the main branch or, on it, from the commit before
#   tidy.sh --all      all sources, several at a time: ten minutes on two idle cores
#   tidy.sh FILE ...   these sources: 15 seconds each on one core
# Exits with status 77 if there is no clang-tidy.
# label: slow
set -eu
cd "$(dirname "$0")/../.."
for tidy in clang-tidy-19 clang-tidy-18 clang-tidy none; do
  command -v $tidy >/dev/null 2>&1 && break
done
[ $tidy != none ] || { echo 'test skipped: there is no clang-tidy'; exit 77; }

# A build folder without precompiled headers, so that each file must include what it needs.
folder=build/tidy unity=OFF
[ "${1:-}" != --all ] || folder=build/tidy-all unity=ON
mkdir -p build
[ -e $folder/compile_commands.json ] ||
  cmake -S . -B $folder -G Ninja -D CMAKE_BUILD_TYPE=Release -D PUSHDOWN_UNITY=$unity -D PUSHDOWN_TESTS=OFF \
    -D CMAKE_DISABLE_PRECOMPILE_HEADERS=ON >$folder.log 2>&1 || { cat $folder.log >&2; exit 1; }

# The sources among these files, and a source for each header: that of its name, or one that includes it.
sources_of() {
  while read -r file; do
    case $file in
      *.cpp) echo "$file" ;;
      *.h) [ -e "${file%.h}.cpp" ] && echo "${file%.h}.cpp" ||
             grep -rlF --include='*.cpp' "\"${file#src/}\"" src bindings | head -n 1 ;;
    esac
  done | sort -u
}
if [ $unity = ON ]; then
  files=$(sed -n 's/^ *"file": "\(.*\)",*$/\1/p' $folder/compile_commands.json | sort -u |
    grep -v "tidy-all/[a-z_]*\.cpp")
elif [ $# -gt 0 ]; then
  files=$(printf '%s\n' "$@")
else
  base=$(git merge-base HEAD origin/main 2>/dev/null || git rev-parse HEAD)
  [ "$base" != "$(git rev-parse HEAD)" ] || base=$(git rev-parse --verify -q HEAD~1 || echo HEAD)
  files=$(git diff --name-only --diff-filter=d "$base" -- src bindings | sources_of)
fi
[ -n "$files" ] || exit 0
# LibTorch before 2.0 needs the include for Clang.
printf '%s\n' "$files" | xargs -P "$(nproc)" -n 1 $tidy -p $folder --quiet \
  --header-filter="^$PWD/(src|bindings)/" --extra-arg=-include"$PWD/cmake/clang_vector.h" 2>/dev/null
