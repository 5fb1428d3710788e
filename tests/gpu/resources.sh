#!/bin/sh
# Prints a table of the resources of a device that the CUDA kernels take, as the compiler reports
# them:
#   tests/gpu/resources.sh [ARCHITECTURE...] > docs/reference/cuda_resources.md      (90)
#   tests/gpu/resources.sh --check     checks that file; 77 if it is from another compiler
# Needs nvcc and c++filt, but no device, and takes minutes.
# label: slow
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
table="$root/docs/reference/cuda_resources.md"
check=""
[ "${1:-}" = --check ] && check=yes && shift
[ $# -gt 0 ] || set -- 90
command -v nvcc >/dev/null 2>&1 || PATH="$PATH:/usr/local/cuda/bin"
command -v nvcc >/dev/null 2>&1 || { echo "resources.sh: no nvcc" >&2; exit 77; }
version=$(nvcc --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')
[ -z "$check" ] || grep -q "nvcc $version," "$table" || exit 77
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# kernel | architecture | registers | spilled bytes | warps
report() {
  nvcc -std=c++20 -O3 -DNDEBUG "-arch=sm_$2" -Xptxas -v --expt-relaxed-constexpr \
    "-I$root/src" -DPUSHDOWN_CUDA_ARCHITECTURES='""' -c "$1" -o "$work/object" 2> "$work/report" ||
    { cat "$work/report" >&2; return 1; }
  c++filt < "$work/report" | awk -v architecture="$2" '
    /Compiling entry function/ {
      name = $0
      sub(/.*entry function .(void )?/, "", name); sub(/. for .sm_.*/, "", name)
      pass = name ~ /forward_kernel/ ? "forward" : name ~ /backward_kernel/ ? "backward" : ""
      type = name ~ /<double/ ? "float64" : "float32"
      loop = name ~ /StepLoop/ ? (name ~ /, true>/ ? "with arrays, " : "recorded, ") : ""
      stack = name
      if (loop != "") { sub(/.*Loop<[a-z]+, pushdown::device::/, "", stack); sub(/> ?>.*/, ">", stack) }
      else if (name ~ /sum_kernel/) { loop = "recorded, "; stack = "sums"; pass = "backward" }
      else if (name ~ /update_|optimizer_step/) {
        loop = "updates, "; stack = name
        sub(/.*update_/, "", stack); sub(/.*optimizer_step/, "optimizers", stack); sub(/_kernel.*/, "", stack)
      }
      else { loop = "grammars, "; stack = name ~ /inside/ ? "inside" : "lengths"; type = "float64" }
      sub(/, (true|false)>+$/, "", stack); gsub(/<(double|float)(, 0, 0)?>/, "", stack); sub(/<(double|float), /, " ", stack); sub(/, /, " x ", stack)
      gsub(/>/, "", stack)
    }
    /spill stores/ { spilled = $5 }
    /Used [0-9]+ registers/ {
      match($0, /Used [0-9]+/); registers = substr($0, RSTART + 5, RLENGTH - 5) + 0
      most = architecture < 80 ? 32 : 64
      blocks = int(65536 / (int((registers + 7) / 8) * 8 * 256)); warps = blocks * 8
      if (warps > most) warps = most
      printf "| %s%s | %s | %s | %s | %d | %d | %d of %d |\n", loop, stack, pass, type, architecture, registers, spilled, warps, most
    }'
}
{
  echo '[Documentation](../README.md) › [CUDA](cuda.md)'
  echo
  echo '# Resources of the CUDA kernels'
  echo
  echo "The compiler reports these numbers (nvcc $version, \`tests/gpu/resources.sh\`) for blocks of 256 threads. The last column is"
  echo 'the number of warps that a multiprocessor can hold at once with these registers, out of all that it could hold. A'
  echo 'launch uses the shared memory that its shape needs, at most 48 KB.'
  echo
  echo '| kernel | pass | numbers | architecture | registers | spilled bytes | warps |'
  echo '|---|---|---|---|---|---|---|'
  for source in step/device_step step/device_step_arrays update/device_update grammar/device_grammar; do
    for architecture; do report "$root/src/kernel/$source.cu" "$architecture" || exit 1; done
  done | LC_ALL=C sort
} > "$work/table" || exit 1
if [ -n "$check" ]; then
  diff "$table" "$work/table" && exit 0
  echo "out of date: $table; run tests/gpu/resources.sh > $table" >&2
  exit 1
fi
cat "$work/table"
