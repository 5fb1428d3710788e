#!/bin/sh
# run.sh BUILD SECONDS [TARGET...]: runs the fuzz targets that are built in BUILD, for SECONDS each, from the inputs
# that are kept beside this script. New inputs are kept in BUILD/corpus, those that fail in BUILD/failed. Says for each
# target how many inputs were run. Status 1 if one failed.
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
  # LibTorch and ICU keep what they have made until the end, which is no leak of ours.
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
