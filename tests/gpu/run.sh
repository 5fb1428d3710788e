#!/bin/sh
# Builds Pushdown with CUDA and runs the tests and the benchmark of its CUDA parts, and compares the
# measured times with those of the simulator, in at most ten minutes. The machine needs only the
# CUDA toolkit, a C++ compiler, CMake, ninja and a Python with torch:
#   tests/gpu/run.sh [PACKAGES] [RESULTS]
# PACKAGES: the folder of fetch_packages.sh, or "" if the packages are installed. RESULTS: the
# folder for results.json, one text file for each step, and the rows of the benchmark; by default
# build/gpu/results. See docs/development/cuda.md.
#
# Environment variables, with their defaults:
#   STEPS               some of "build test bench simulate sanitize" (all, in this order)
#   LIMIT_SECONDS       time limit for all steps (600); a step for which no time is left is skipped
#   PUSHDOWN_TORCH_DIR  the torch package (that of python3; else the system's LibTorch)
#   ARCHITECTURES       CMAKE_CUDA_ARCHITECTURES (native if there is a device, else CMake's default)
#   JOBS                parallel compilations (all processors)
#   STEP_SECONDS        time limit for each program of a step (3000)
# Exits with 0 if all steps succeed, with 77 if nothing ran on a device because there is none, else
# with 1.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
build="$root/build/gpu"
mkdir -p "$build"
packages=""
[ -z "${1:-}" ] || packages=$(cd "$1" && pwd) || exit 2
results=${2:-$build/results}
mkdir -p "$results" && results=$(cd "$results" && pwd) || exit 2
steps=${STEPS:-build test bench simulate sanitize}
limit=${LIMIT_SECONDS:-600}
started=$(date +%s)
seconds=${STEP_SECONDS:-3000}
jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)}
for folder in /usr/local/cuda/bin; do
  case ":$PATH:" in *":$folder:"*) ;; *) PATH="$PATH:$folder" ;; esac
done
export PATH

if [ -n "$packages" ]; then
  multiarch=$(ls "$packages/usr/lib" | grep -- '-linux-gnu$' | head -n 1)
  libraries="$packages/usr/lib/$multiarch"
  export CMAKE_PREFIX_PATH="$packages/usr"
  export CPLUS_INCLUDE_PATH="$packages/usr/include"
  export LIBRARY_PATH="$libraries${LIBRARY_PATH:+:$LIBRARY_PATH}"
  export LD_LIBRARY_PATH="$libraries:$packages/lib/$multiarch${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
  export PKG_CONFIG_LIBDIR="$libraries/pkgconfig:$packages/usr/share/pkgconfig"
  export PKG_CONFIG_SYSROOT_DIR="$packages"
  command -v pkg-config >/dev/null 2>&1 || PATH="$packages/usr/bin:$PATH"
fi

torch=${PUSHDOWN_TORCH_DIR-$(python3 -c 'import os, torch; print(os.path.dirname(torch.__file__))' 2>/dev/null)}
device=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -n 1)
case "$device" in *[Ff]ail*|*[Ee]rror*) device="" ;; esac
architectures=${ARCHITECTURES:-${device:+native}}

# ---- One line of results.json for each program. ----
records="$results/records"
: > "$records"
quoted() { printf '%s' "$1" | tr -d '\000-\037' | sed 's/\\/\\\\/g; s/"/\\"/g'; }
failed=0
# step NAME COMMAND...: runs it, with its output in NAME.txt.
step() {
  name=$1
  shift
  echo "== $name: $*"
  begun=$(date +%s)
  left=$((limit - begun + started))
  [ "$left" -le "$seconds" ] || left=$seconds
  if [ "$left" -lt 1 ]; then
    printf '{"step": "%s", "status": "no time left"}\n' "$name" >> "$records"
    echo "   no time is left (LIMIT_SECONDS=$limit)"
    return 1
  fi
  timeout "$left" "$@" > "$results/$name.txt" 2>&1
  status=$?
  took=$(($(date +%s) - begun))
  of() { sed -n "s/^\[  $1  *\] \([0-9][0-9]*\) tests\{0,1\}.*/\1/p" "$results/$name.txt" | head -n 1; }
  passed=$(of PASSED) skipped=$(of SKIPPED) wrong=$(of FAILED)
  case $status in
    0) word=ok ;;
    77) word=skipped ;;
    124) word="ended after $left s" failed=1 ;;
    *) word=failed failed=1 ;;
  esac
  printf '{"step": "%s", "status": "%s", "exit": %d, "seconds": %d, "passed": %d, "skipped": %d, "failed": %d}\n' \
    "$name" "$word" "$status" "$took" "${passed:-0}" "${skipped:-0}" "${wrong:-0}" >> "$records"
  tail -n 4 "$results/$name.txt" | sed 's/^/   /'
  echo "   $word, $took s"
  return $status
}
wants() { case " $steps " in *" $1 "*) return 0 ;; *) return 1 ;; esac; }

if wants build; then
  set -- -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DPUSHDOWN_CUDA=ON
  [ -z "$torch" ] || set -- "$@" "-DPUSHDOWN_TORCH_DIR=$torch"
  [ -z "$architectures" ] || set -- "$@" "-DCMAKE_CUDA_ARCHITECTURES=$architectures"
  [ -z "${CXX_LAUNCHER:-}" ] || set -- "$@" "-DCMAKE_CXX_COMPILER_LAUNCHER=$CXX_LAUNCHER" \
    "-DCMAKE_CUDA_COMPILER_LAUNCHER=$CXX_LAUNCHER"
  step configure cmake "$@"
  [ $failed -eq 0 ] && step build cmake --build "$build" -j "$jobs" --target \
    shell core bench simulate test_grammar test_model test_train test_contract
fi
if [ $failed -eq 0 ]; then step version "$build/pushdown" --version; fi

if wants test && [ $failed -eq 0 ]; then
  step test_grammar "$build/test_grammar" '--gtest_filter=*Device*'
  step test_model "$build/test_model" '--gtest_filter=*Device*'
  step test_train "$build/test_train" '--gtest_filter=*OnTheDevice*'
  step test_contract "$build/test_contract" '--gtest_filter=*CudaEqualsCpu*'
fi

if wants bench && [ -x "$build/bench" ]; then step bench "$build/bench" device; fi

# Milliseconds of the passes: measured, simulated, and their ratio. Where these have drifted apart,
# TimingModel (tests/gpu/simulator/timing.h) needs other numbers.
if wants simulate && [ -x "$build/simulate" ]; then
  step simulate "$build/simulate" times
  touch "$results/bench.txt"
  awk '
    function number(name) {
      match($0, " " name "=[0-9.]+")
      return substr($0, RSTART + length(name) + 2, RLENGTH - length(name) - 2)
    }
    /^device_passes|^simulated/ {
      match($0, /[0-9]x[0-9]/)
      key = substr($0, RSTART, RLENGTH) " models=" number("models")
      if (!(key in seen)) { seen[key] = 1; order[++count] = key }
      for (k = 1; k <= 2; ++k) {
        pass = k == 1 ? "forward" : "backward"
        ms[$1, key, pass] = number(pass "_ms")
      }
    }
    END {
      for (i = 1; i <= count; ++i) for (k = 1; k <= 2; ++k) {
        pass = k == 1 ? "forward" : "backward"
        measured = ms["device_passes", order[i], pass]; simulated = ms["simulated", order[i], pass]
        if (measured > 0 && simulated > 0)
          printf "calibration %s %s measured_ms=%.2f simulated_ms=%.2f ratio=%.2f\n",
            order[i], pass, measured, simulated, simulated / measured
      }
    }' "$results/bench.txt" "$results/simulate.txt" > "$results/calibration.txt"
  sed 's/^/   /' "$results/calibration.txt"
fi

if wants sanitize && [ -x "$build/test_model" ]; then
  if ! command -v compute-sanitizer >/dev/null 2>&1; then
    echo "== compute-sanitizer is not installed"
  elif [ -z "$device" ]; then
    echo "== compute-sanitizer: no device"
  else
    # The kernels of grammars, and of recorded steps, through models.
    for tool in memcheck racecheck initcheck synccheck; do
      check="compute-sanitizer --tool $tool --error-exitcode 1"
      # shellcheck disable=SC2086  # a list of words
      step "${tool}_grammar" $check "$build/test_grammar" '--gtest_filter=DeviceInside.OnTheDevice'
      [ "$tool" = initcheck ] && continue  # LibTorch leaves memory uninitialized on purpose
      # shellcheck disable=SC2086
      step "${tool}_model" $check "$build/test_model" '--gtest_filter=*Recorded.OnTheDevice/?'
    done
  fi
fi

# ---- results.json ----
{
  printf '{\n"device": "%s",\n"torch": "%s",\n"toolkit": "%s",\n"host": "%s",\n' \
    "$(quoted "${device:-none}")" "$(quoted "${torch:-the LibTorch of the system}")" \
    "$(quoted "$(nvcc --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\).*/\1/p')")" \
    "$(quoted "$(uname -srm)")"
  printf '"version": ['
  sed 's/\\/\\\\/g; s/"/\\"/g; s/.*/"&"/' "$results/version.txt" 2>/dev/null | paste -sd, -
  printf '],\n"steps": [\n'
  paste -sd, "$records"
  printf '],\n"benchmark": [\n'
  sed 's/\\/\\\\/g; s/"/\\"/g; s/.*/"&"/' "$results/bench.txt" 2>/dev/null | paste -sd, -
  printf '],\n"calibration": [\n'
  sed 's/.*/"&"/' "$results/calibration.txt" 2>/dev/null | paste -sd, -
  printf ']\n}\n'
} > "$results/results.json"
rm -f "$records"
echo "results in $results"
[ $failed -eq 0 ] || exit 1
if [ -z "$device" ]; then
  echo "There is no CUDA device: the steps that need one were skipped."
  exit 77
fi
