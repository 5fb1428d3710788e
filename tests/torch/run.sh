#!/usr/bin/env bash
# Builds Pushdown with other LibTorches and runs the whole test suite with each, except the tests
# with the label slow. Takes about fifteen minutes for each on two cores, more with CUDA kernels.
#   run.sh TORCH_DIR...     TORCH_DIR: a Python torch package (.../site-packages/torch), or system
# Each gets a build folder, build/torch-NAME, which is kept. A table is printed at the end. Exits
# with 1 if a LibTorch does not compile, gives warnings, or fails a test. CMAKE_ARGS are passed on
# to CMake.
set -euo pipefail
cd "$(dirname "$0")/../.."
[ $# -gt 0 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2; }

rows="" bad=0
for torch in "$@"; do
  if [ "$torch" = system ]; then
    directory=""
    name=system
  else
    [ -e "$torch/include/ATen" ] || { echo "run.sh: there is no include/ATen in '$torch'." >&2; exit 2; }
    directory=$(cd "$torch" && pwd)
    name=$(printf '%s' "$directory" | cksum | cut -d ' ' -f 1)
  fi
  build=build/torch-$name
  mkdir -p "$build"
  echo "== $torch in $build"
  began=$SECONDS
  # shellcheck disable=SC2086  # a list of words
  PUSHDOWN_TORCH_DIR=$directory cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DPUSHDOWN_TORCH_DIR="$directory" ${CMAKE_ARGS:-} >"$build/configure.log" 2>&1 || {
    tail -n 5 "$build/configure.log" >&2
    exit 1
  }
  found=$(sed -n 's/^-- LibTorch \([^:]*\):.*/\1/p' "$build/configure.log")
  built=ok
  cmake --build "$build" --clean-first -j "${JOBS:-$(nproc)}" >"$build/build.log" 2>&1 || built=no
  compiled=$((SECONDS - began))
  warnings=$(grep -c 'warning:' "$build/build.log" || true)
  tests="not run"
  if [ $built = ok ]; then
    ctest --test-dir "$build" -LE slow -j2 --output-on-failure >"$build/test.log" 2>&1 || true
    tests=$(sed -n 's/^\(.*tests passed.*\)$/\1/p' "$build/test.log")
    grep -q '100% tests passed' "$build/test.log" || bad=1
  else
    grep -m 5 'error' "$build/build.log" || tail -n 5 "$build/build.log"
    bad=1
  fi
  [ "$warnings" -eq 0 ] || bad=1
  rows+="| $found | $built | $warnings | $tests | $((compiled / 60)):$(printf %02d $((compiled % 60))) |"$'\n'
done

compiler=$("${CXX:-c++}" -dumpfullversion)
printf '\nGCC %s, %s cores\n\n| LibTorch | compiles | warnings | tests | build, min:s |\n|---|---|---|---|---|\n%s' \
  "$compiler" "$(nproc)" "$rows"
exit $bad
