#!/bin/sh
# run.sh BUILD SECONDS [TARGET...]: runs the fuzz targets in BUILD for SECONDS each, starting from
# the inputs in this folder. Keeps new inputs in BUILD/corpus and failing ones in BUILD/failed.
# Prints the number of inputs for each target. Exits with status 1 if one failed.
set -u
build=$1 seconds=$2
shift 2
here=$(dirname "$0")
[ $# -gt 0 ] || set -- $(ls "$build" | sed -n 's/^fuzz_//p')
mkdir -p "$build/failed"
status=0 total=0
for name; do
  corpus=$build/corpus/$name log=$build/fuzz-$name.log
  mkdir -p "$corpus"
  # LibTorch keeps its objects until the end, which is not a leak of this program.
  if ASAN_OPTIONS=detect_leaks=${LEAKS:-1} "$build/fuzz_$name" -max_total_time="$seconds" -max_len=4096 -timeout=20 \
    -rss_limit_mb=4096 -artifact_prefix="$build/failed/$name-" -print_final_stats=1 \
    "$corpus" "$here/$name" >"$log" 2>&1; then
    word=passed
  else
    word=FAILED
    status=1
    tail -n 20 "$log"
  fi
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  printf '%-14s %10s inputs  %s\n' "$name" "${runs:-?}" $word
  total=$((total + ${runs:-0}))
done
printf '%-14s %10s inputs\n' together $total
exit $status
