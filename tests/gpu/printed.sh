#!/bin/bash
# Compiles the printed device code of some networks for an H100 and checks the machine code: spills
# of a thread, and that no load or store has to ask at run time whether its memory is shared.
# Usage: printed.sh SIMULATE. Skipped (77) without nvcc; without nvdisasm, only the spills
# are checked.
# label: long
set -eu -o pipefail
most_spilled=128
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2> /dev/null || true)
if [ -z "$nvcc" ]; then
  echo "skipped: no nvcc"
  exit 77
fi
nvdisasm=$(command -v "${NVDISASM:-nvdisasm}" || true)
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
"$1" print "$folder"
failed=0
for source in "$folder"/*.cu; do
  name=$(basename "$source" .cu)
  log=$("$nvcc" -arch=sm_90 -std=c++20 --expt-relaxed-constexpr -cubin -Xptxas -v \
    -o "$folder/$name.cubin" "$source" 2>&1) || { echo "$log"; exit 1; }
  spilled=$(echo "$log" | sed -n 's/.* \([0-9]*\) bytes spill stores.*/\1/p' | sort -n | tail -1)
  registers=$(echo "$log" | sed -n 's/.*Used \([0-9]*\) registers.*/\1/p' | sort -n | tail -1)
  asking=unknown
  if [ -n "$nvdisasm" ]; then
    asking=$("$nvdisasm" -c "$folder/$name.cubin" | grep -cE '[[:space:]](LD|ST)(\.E)?[. ]' || true)
  fi
  echo "$name: $registers registers, $spilled bytes of spills, loads and stores that ask: $asking"
  if [ "$spilled" -gt "$most_spilled" ] || { [ "$asking" != unknown ] && [ "$asking" -gt 0 ]; }; then
    failed=1
  fi
done
if [ $failed = 1 ]; then
  echo "spills are more than $most_spilled bytes, or the kind of memory is not known"
fi
exit $failed
