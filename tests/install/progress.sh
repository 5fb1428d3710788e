#!/usr/bin/env bash
# scripts/tools/build.sh without a terminal: few lines about progress, whole errors, and the exit status of the build.
# Tests it with a fake cmake in place of the one of the system.
set -eu
source=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cat > "$folder/cmake" <<'END'
#!/bin/sh
echo "called: $*"
i=0
while [ $i -lt 102 ]; do
  i=$((i + 1))
  echo "[$i/102] Building CXX object part_$i.o"
  if [ "$i" = "${FAILS:-}" ]; then
    echo "FAILED: part_$i.o" >&2
    echo "part.cpp:1: error: expected ';'"
    exit 3
  fi
done
END
chmod +x "$folder/cmake"

build() { PATH=$folder:$PATH "$source/scripts/tools/build.sh" release 2 shell core 2>&1; }
fail() { printf 'progress.sh: %s\n%s\n' "$1" "$output"; exit 1; }

output=$(build)
[ "$(printf '%s\n' "$output" | wc -l)" -le 4 ] || fail 'expected at most four lines'
case $output in
  'called: --build --preset release -j 2 --target shell core'*'built: 102 of 102 steps') ;;
  *) fail 'unexpected output' ;;
esac

status=0
output=$(FAILS=7 build) || status=$?
[ "$status" = 3 ] || fail "expected the exit status 3 of the build, got $status"
case $output in
  *"FAILED: part_7.o"*"error: expected ';'"*) ;;
  *) fail 'the error is not shown' ;;
esac
case $output in *'102 of 102'*) fail 'the build did not end' ;; esac
echo 'passed'
