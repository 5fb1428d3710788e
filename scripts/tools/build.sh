#!/usr/bin/env bash
# build.sh PRESET JOBS [TARGET...]: builds, and shows one line of progress. On a terminal Ninja rewrites that line.
# Elsewhere it is printed every 15 seconds and at the end; whatever else the build prints, such as errors, is shown.
set -o pipefail
preset=$1 jobs=$2
shift 2
command=(cmake --build --preset "$preset" -j "$jobs")
if [ $# -gt 0 ]; then command+=(--target "$@"); fi
if [ -t 1 ] && [ "${TERM:-dumb}" != dumb ]; then exec "${command[@]}"; fi

"${command[@]}" 2>&1 | {
  next=$((SECONDS + 15)) last=
  while IFS= read -r line; do
    if [[ $line =~ ^\[([0-9]+)/([0-9]+)\]\  ]]; then
      last=$line
      if [ "$SECONDS" -ge "$next" ]; then
        echo "building: ${BASH_REMATCH[1]} of ${BASH_REMATCH[2]} steps"
        next=$((SECONDS + 15))
      fi
    else
      printf '%s\n' "$line"
    fi
  done
  if [[ $last =~ ^\[([0-9]+)/([0-9]+)\] && ${BASH_REMATCH[1]} = "${BASH_REMATCH[2]}" ]]; then
    echo "built: ${BASH_REMATCH[1]} of ${BASH_REMATCH[2]} steps"
  fi
}
