#!/bin/sh
# Unsuitable systems give one clear message. Tests install_packages.sh with fake programs in place
# of apt, uname, df and others, and cmake/PushdownFindTorch.cmake with fake LibTorches. Needs no
# root.
#   messages.sh [CMAKE]
set -eu
source=$(cd "$(dirname "$0")/../.." && pwd)
cmake=${1:-cmake}
script=$source/scripts/tools/install_packages.sh
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
passed=0 failed=0 purpose=run
unset PUSHDOWN_TORCH_DIR CONDA_PREFIX CXX || true

# A fake program on the PATH of the test. Its text reads the word WHAT of the case.
program() {
  { echo '#!/bin/sh'; cat; } >"$top/bin/$1"
  chmod +x "$top/bin/$1"
}
real() {
  for name in "$@"; do ln -s "$(env which "$name")" "$top/bin/$name"; done
}
mkdir "$top/bin" "$top/work"
real sh env awk sed grep head sort tail tr wc cat mktemp rm paste true

program uname <<'END'
case $WHAT$1 in other*-s) echo Darwin ;; *-s) echo Linux ;; other*) echo arm64 ;; *) echo x86_64 ;; esac
END
program nproc <<'END'
echo 2
END
program id <<'END'
case $WHAT in user | sudo) echo 1000 ;; *) echo 0 ;; esac
END
program sudo <<'END'
[ "$WHAT" = sudo ] || exit 1
shift
exec "$@"
END
program c++ <<'END'
case $WHAT in compiler) echo 9.4.0 ;; *) echo 12.2.0 ;; esac
END
program dpkg-query <<'END'
# In the case "kernel" only the library of the kernel for notebooks is missing.
for package; do :; done
case $WHAT/$package in complete/*) echo installed ;; kernel*/xeus*) exit 1 ;; kernel*) echo installed ;; *) exit 1 ;; esac
END
program df <<'END'
echo 'Filesystem 1024-blocks Used Available Capacity Mounted on'
case $WHAT in full) free=512000 ;; *) free=99999999 ;; esac
echo "/dev/x 100000000 1 $free 1% /"
END
program apt-cache <<'END'
case $1 in
  show) echo 'Installed-Size: 1000000' ;;
  policy)
    case $WHAT/$2 in
      lists/* | without/libtorch-dev) ;;
      kernel-12/xeus-zmq-dev | kernel-none/xeus*) ;;
      old/libtorch-dev) echo '  Candidate: 1.8.1-4' ;;
      old/cmake) echo '  Candidate: 3.22.1-1ubuntu1' ;;
      old/g++) echo '  Candidate: 4:11.2.0-1ubuntu1' ;;
      *) echo '  Candidate: 4:99.1-1' ;;
    esac ;;
esac
END
program apt-get <<'END'
echo "$*" >>"$CALLS"
case "$WHAT $*" in
  lists*update* | offline*update*)
    echo 'Err:1 http://example suite InRelease'
    echo "W: Failed to fetch http://example/InRelease  Temporary failure resolving 'example'" ;;
  *update*) echo 'Hit:1 http://example suite InRelease' ;;
  *--simulate*) echo 'Inst one (1)'; echo 'Inst two (1)' ;;
  *--print-uris*) echo "'http://example/one' one_1.deb 250000000 MD5Sum:0" ;;
  broken*--download-only*)
    echo 'E: Failed to fetch http://example/one.deb  Connection failed'; exit 100 ;;
  *) echo 'dlstatus:1:50.5:Retrieving' >&3; echo 'Unpacking one' ;;
esac
END

# says CASE STATUS TEXT...: the script exits with this status and prints each of the texts.
says() {
  case=$1 status=$2
  shift 2
  code=0
  : >"$top/calls"
  output=$(cd "$top/work" && env WHAT="$case" CALLS="$top/calls" PATH="$top/bin" sh "$script" "$purpose" 2>&1) ||
    code=$?
  check "$case" "$status" "$@"
}
check() {
  name=$1 status=$2 trouble=""
  shift 2
  [ "$code" = "$status" ] || trouble="status $code"
  flat=$(echo "$output" | tr -s '\n ' ' ')
  for text in "$@"; do
    case $flat in *"$text"*) ;; *) trouble="$trouble; lacks '$text'" ;; esac
  done
  if [ -z "$trouble" ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAILED %s: %s\n%s\n' "$name" "$trouble" "$output"
  fi
}
# The previous case must not have installed anything.
untouched() {
  if grep -v -e --simulate -e --print-uris -e --download-only "$top/calls" | grep -q install; then
    failed=$((failed + 1))
    echo "FAILED $case: packages were installed"
  fi
}

says other 1 '[install] unsupported system: expected Linux on x86-64 or arm64, got Darwin on arm64.'
says compiler 1 "[install] the compiler 'c++' is too old: expected g++ 12 or newer, got 9.4.0"
says user 1 'needs 2 packages that are not installed: 250 MB to download, 1024 MB on disk.' \
  'this user may not install them' 'sudo apt-get update && sudo apt-get install -y --no-install-recommends cmake g++'
untouched
# The kernel for notebooks is built if apt offers its library. Without it the build goes on.
installs() {
  says "$1" 0
  if [ "$2" = none ]; then
    untouched
  elif ! grep -q -e "install --no-download --no-install-recommends $2\$" "$top/calls"; then
    failed=$((failed + 1))
    echo "FAILED $1: $2 was not installed: $(cat "$top/calls")"
  fi
}
installs kernel-13 xeus-zmq-dev
installs kernel-12 xeus-dev
installs kernel-none none
installs complete none
says lists 1 "[install] the lists of packages cannot be fetched, so nothing was installed: Temporary failure"
untouched
says offline 1 "[install] there is no network to fetch 250 MB of packages, so nothing was installed: Temporary"
untouched
says without 1 'does not offer libtorch-dev' 'pip install torch' 'export PUSHDOWN_TORCH_DIR='
untouched
says old 1 'too old a version of' 'cmake 3.22.1 (expected 3.25 or newer)' 'g++ 11.2.0 (expected 12 or newer)' \
  'libtorch-dev 1.8.1 (expected 1.13 or newer)'
untouched
says full 1 '[install] not enough free disk space on /: expected ' 'got 500 MB'
untouched
says broken 1 'the packages cannot be downloaded, so nothing was installed: Connection failed'
untouched
says sudo 0 'Installing packages: 50 %'
says good 0 'Installing, building and the first run take about ' ' minutes on 2 cores.' \
  'Downloading packages: 50 %' 'Installing packages: 50 %'
purpose=test
says complete 0 'Building and the tests take about '
rm "$top/bin/apt-get"
says none 1 'there is no apt to install it: cmake ninja pkg-config git luajit' 'environment.yml'

# ---- LibTorches ----
tree() { # name, version of the headers, of the libraries, a word in libc10.so, its ELF machine
  dir=$top/$1
  mkdir -p "$dir/include/ATen" "$dir/include/torch/headeronly" "$dir/lib"
  touch "$dir/include/ATen/ATen.h" "$dir/lib/libtorch.so" "$dir/lib/libtorch_cpu.so"
  printf '#define TORCH_VERSION_MAJOR %s\n#define TORCH_VERSION_MINOR %s\n' "${2%.*}" "${2#*.}" \
    >"$dir/include/torch/headeronly/version.h"
  echo "__version__ = '$3.1'" >"$dir/version.py"
  # Sixteen bytes of identification, the type, the machine.
  printf "\\177ELF\\2\\1\\1\\0\\0\\0\\0\\0\\0\\0\\0\\0\\3\\0$5%s" "$4" >"$dir/lib/libc10.so"
}
tree good 2.7 2.7 _ZNSt7__cxx11E '\076\0'
tree old 1.12 1.12 _ZNSt7__cxx11E '\076\0'
tree abi 2.6 2.6 _ZN3c105ErrorC1ESs '\076\0'
tree mixed 2.7 2.6 _ZNSt7__cxx11E '\076\0'
tree arm 2.7 2.7 _ZNSt7__cxx11E '\267\0'
# torch CASE STATUS TEXT...: the same for CMake, with the tree of this name.
torch() {
  case=$1 status=$2
  shift 2
  code=0
  output=$("$cmake" -D CMAKE_SYSTEM_PROCESSOR=x86_64 -D PUSHDOWN_TORCH_DIR="$top/$case" \
    -P "$source/cmake/PushdownFindTorch.cmake" 2>&1) || code=$?
  check "LibTorch $case" "$status" "$@"
}
torch good 0
torch old 1 'is too old: expected 1.13 or newer, got 1.12'
torch abi 1 'has the old ABI of C++ strings: expected one built with _GLIBCXX_USE_CXX11_ABI=1' 'got 2.6'
torch mixed 1 'do not belong together: expected libraries of version 2.7' 'got 2.6 in'
torch arm 1 'is for another processor: expected libc10.so for x86_64'
torch nowhere 1 'No LibTorch: expected include/ATen/ATen.h in PUSHDOWN_TORCH_DIR'
for name in old abi nowhere; do
  export PUSHDOWN_TORCH_DIR="$top/$name"
  case $name in
    old) text='is too old: expected 1.13 or newer, got 1.12' ;;
    abi) text='has the old ABI of C++ strings' ;;
    *) text='no LibTorch in' ;;
  esac
  says "$name" 1 "[install] PUSHDOWN_TORCH_DIR: " "$text"
done

# system CASE STATUS TEXT...: the same for CMake, with the variables SYSTEM, PROCESSOR, COMPILER and
# VERSION.
system() {
  case=$1 status=$2
  shift 2
  code=0
  output=$("$cmake" -D CMAKE_SYSTEM_NAME="${SYSTEM:-Linux}" -D CMAKE_SYSTEM_PROCESSOR="${PROCESSOR:-x86_64}" \
    -D CMAKE_CXX_COMPILER_ID="${COMPILER:-GNU}" -D CMAKE_CXX_COMPILER_VERSION="${VERSION:-12.2.0}" \
    -P "$source/cmake/PushdownSystem.cmake" 2>&1) || code=$?
  check "CMake $case" "$status" "$@"
}
system good 0
SYSTEM=Darwin PROCESSOR=arm64
system darwin 1 'Unsupported system: expected Linux on x86-64 or arm64, got Darwin on arm64.'
SYSTEM=Linux PROCESSOR=riscv64
system riscv 1 'got Linux on riscv64.'
PROCESSOR=aarch64 VERSION=11.3.0
system compiler 1 'is too old: expected g++ 12 or newer, got 11.3.0'
COMPILER=Clang VERSION=19.1.0
system clang 0 'tested with g++ 12 and 14 only, not with Clang 19.1.0'

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
