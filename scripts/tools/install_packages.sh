#!/bin/sh
# Installs the Debian packages that Pushdown needs. Before that it prints their size and the
# expected time of the build.
#   install_packages.sh run     for `make run`: the shell, its module, the kernel for notebooks and the first run
#   install_packages.sh test    for `make test`: everything, and the tests
#   install_packages.sh build   everything
#   install_packages.sh fuzz    Clang with libFuzzer, and the packages of the core
#   install_packages.sh check   as build, the programs of the format and lint checks, and files for tests
#   install_packages.sh ci      as check and test, and what no test may skip for: a browser, MkDocs, Slurm, Jupyter's client
# Installs as root or through a password-less sudo; otherwise prints the command to run and stops.
# Without apt it checks that the libraries are installed. It changes nothing before all checks have
# passed.
set -eu

# Processor minutes of a complete build and of the first run or the tests after it, on two cores of
# an Intel Xeon (docs/install.md).
build_minutes_run=6    # the shell and its module
build_minutes_test=11  # everything
after_minutes_run=4    # the first run
after_minutes_test=9   # the tests
# Megabytes of a complete build folder, and of packages that are unpacked in one minute.
build_megabytes_run=450
build_megabytes_test=1000
install_megabytes=700

oldest_torch=1.13
oldest_gcc=12
oldest_cmake=3.25
folder=build/release

purpose=${1:-build}
case $purpose in
  run) build_minutes=$build_minutes_run after_minutes=$after_minutes_run
       build_megabytes=$build_megabytes_run targets="shell core notebooks" rest="and the first run take" ;;
  test) build_minutes=$build_minutes_test after_minutes=$after_minutes_test
        build_megabytes=$build_megabytes_test targets=all rest="and the tests take" ;;
  build | check | ci | fuzz) build_minutes=$build_minutes_test after_minutes=0
        build_megabytes=$build_megabytes_test targets=all rest="takes" ;;
  *) echo "usage: install_packages.sh [run|test|build|check|ci|fuzz]" >&2; exit 2 ;;
esac

fail() {
  printf '[install] %s\n' "$1" >&2
  shift
  for line in "$@"; do printf '  %s\n' "$line" >&2; done
  exit 1
}

at_least() { # version, oldest: whether the version is new enough
  [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]
}

# ---- The system ----
system=$(uname -s)
machine=$(uname -m)
case $system/$machine in
  Linux/x86_64 | Linux/amd64 | Linux/aarch64 | Linux/arm64) ;;
  *) fail "unsupported system: expected Linux on x86-64 or arm64, got $system on $machine." ;;
esac

# A build folder keeps the LibTorch that it was configured for.
configured=$(sed -n 's/^PUSHDOWN_TORCH_DIR:PATH=//p' $folder/CMakeCache.txt 2>/dev/null || true)
PUSHDOWN_TORCH_DIR=${PUSHDOWN_TORCH_DIR:-$configured}
if [ -n "$PUSHDOWN_TORCH_DIR" ]; then
  for file in include/ATen/ATen.h lib/libtorch_cpu.so; do
    [ -e "$PUSHDOWN_TORCH_DIR/$file" ] ||
      fail "PUSHDOWN_TORCH_DIR: no LibTorch in '$PUSHDOWN_TORCH_DIR': expected $file there."
  done
  header=$PUSHDOWN_TORCH_DIR/include/torch/headeronly/version.h
  [ -e "$header" ] || header=$PUSHDOWN_TORCH_DIR/include/torch/csrc/api/include/torch/version.h
  version=$(sed -n 's/^#define TORCH_VERSION_M[A-Z]*  *\([0-9]*\).*/\1/p' "$header" 2>/dev/null |
    head -n 2 | paste -s -d . -)
  at_least "${version:-0}" $oldest_torch ||
    fail "PUSHDOWN_TORCH_DIR: the LibTorch in '$PUSHDOWN_TORCH_DIR' is too old: expected $oldest_torch or \
newer, got ${version:-one without a version}."
  grep -q __cxx11 "$PUSHDOWN_TORCH_DIR/lib/libc10.so" 2>/dev/null ||
    fail "PUSHDOWN_TORCH_DIR: the LibTorch $version in '$PUSHDOWN_TORCH_DIR' has the old ABI of C++ strings: \
expected a Python package of 2.7 or newer, or a build with _GLIBCXX_USE_CXX11_ABI=1."
  ! grep -q '^PUSHDOWN_TORCH_DIR:PATH=' $folder/CMakeCache.txt 2>/dev/null ||
    [ "$configured" = "$PUSHDOWN_TORCH_DIR" ] ||
    fail "$folder is configured for another LibTorch: expected '$PUSHDOWN_TORCH_DIR', got \
${configured:-that of the system}; run 'make clean' first."
fi

compiler=${CXX:-c++}
if command -v "${compiler%% *}" >/dev/null 2>&1; then
  version=$($compiler -dumpfullversion 2>/dev/null || true)
  # Clang does not have this option.
  [ -z "$version" ] || at_least "$version" $oldest_gcc ||
    fail "the compiler '$compiler' is too old: expected g++ $oldest_gcc or newer, got $version; install a \
newer one and name it, for example CXX=g++-$oldest_gcc."
fi

# ---- The build: files to compile, out of how many ----
compile=1 of=1
if [ -e $folder/build.ninja ] && command -v ninja >/dev/null 2>&1; then
  # A dry run stops at the rule that runs CMake again, so it runs on a copy without that rule.
  dry=$folder/dry_run.ninja
  awk '/^build build\.ninja:/ { skip = 1; next } skip && /^ / { next } { skip = 0; print }' \
    $folder/build.ninja >$dry 2>/dev/null || true
  of=$(ninja -C $folder -f dry_run.ninja -t commands $targets 2>/dev/null | grep -c ' -c ' || true)
  # If that fails, for example after a source was renamed, all files count.
  if steps=$(ninja -C $folder -f dry_run.ninja -n -v $targets 2>/dev/null); then
    compile=$(printf '%s\n' "$steps" | grep -c ' -c ' || true)
  else
    compile=$of
  fi
  rm -f $dry
  [ "$of" -gt 0 ] || { compile=1 of=1; }
fi
cores=$(nproc 2>/dev/null || echo 2)
[ "$cores" -eq 1 ] && on="one core" || on="$cores cores"

# announce SECONDS: the expected minutes, with SECONDS of installing before the build.
announce() {
  case $1/$compile in
    0/0) return 0 ;;
    */0) doing="Installing takes" after_minutes=0 ;;
    0/*) doing="Building $rest" ;;
    *) [ "$rest" = takes ] && doing="Installing and building take" || doing="Installing, building $rest" ;;
  esac
  # The first run and the tests use at most two processes.
  minutes=$(awk -v before="$1" -v share="$compile" -v of="$of" -v build="$build_minutes" \
    -v after="$after_minutes" -v cores="$cores" 'BEGIN {
      m = before / 60 + build * share / of / cores + after / (cores < 2 ? cores : 2)
      print m < 1 ? 1 : int(m + 0.5) }')
  [ "$minutes" -eq 1 ] && unit=minute || unit=minutes
  echo "$doing about $minutes $unit on $on."
}

# check_space DOWNLOAD PACKAGES: checks for these free megabytes besides those of the build.
check_space() {
  build=$((build_megabytes * compile / of))
  short=$({
    echo "$1 /var/cache/apt/archives"
    echo "$2 /usr"
    echo "$build $PWD"
  } | while read -r megabytes path; do
    [ -d "$path" ] || path=/
    df -Pk "$path" 2>/dev/null | awk -v need="$megabytes" 'NR == 2 { print need, int($4 / 1024), $6 }'
  done | awk '{ need[$3] += $1; free[$3] = $2 } END {
    for (place in need) if (need[place] > free[place]) {
      printf "%s: expected %d MB, got %d MB", place, need[place], free[place]; exit } }')
  [ -z "$short" ] || fail "not enough free disk space on $short (downloads $1 MB, packages $2 MB, build $build MB)."
}

# ---- Without apt: checks that the tools and libraries are installed ----
torch_advice() {
  cat >&2 <<'END'
  Take the LibTorch of a Python package (2.7 or newer) instead:
    python3 -m venv ~/torch && ~/torch/bin/pip install torch
    export PUSHDOWN_TORCH_DIR=$(~/torch/bin/python -c 'import torch; print(torch.__path__[0])')
  docs/install.md has the details.
END
}

if ! command -v apt-get >/dev/null 2>&1 || [ -n "${CONDA_PREFIX:-}" ]; then
  missing=""
  for tool in cmake ninja pkg-config git; do
    command -v $tool >/dev/null 2>&1 || missing="$missing $tool"
  done
  command -v "${CXX:-c++}" >/dev/null 2>&1 || missing="$missing g++"
  for library in luajit fmt spdlog nlohmann_json sqlite3 libutf8proc zlib gtest; do
    pkg-config --exists $library 2>/dev/null || missing="$missing $library"
  done
  if [ -n "$missing" ]; then
    if [ -n "${CONDA_PREFIX:-}" ]; then
      advice="conda env update --file environment.yml"
    elif command -v dnf >/dev/null 2>&1; then
      advice="sudo dnf install gcc-c++ cmake ninja-build pkgconf-pkg-config git luajit luajit-devel \
fmt-devel spdlog-devel json-devel sqlite-devel utf8proc-devel zlib-devel gtest-devel"
    else
      advice="conda env create --file environment.yml && conda activate pushdown"
    fi
    fail "missing, and there is no apt to install it:$missing. Run this line, then make again:" "$advice"
  fi
  check_space 0 0
  announce 0
  exit 0
fi

# ---- With apt ----
packages="libluajit-5.1-dev luajit libspdlog-dev libfmt-dev nlohmann-json3-dev \
libsqlite3-dev libutf8proc-dev zlib1g-dev libgtest-dev libjs-dygraphs"
# A newer CMake or another compiler may be installed from elsewhere.
[ -n "${CXX:-}" ] || packages="g++ $packages"
own_cmake=$(cmake --version 2>/dev/null | sed -n '1s/[^0-9]*\([0-9.]*\).*/\1/p')
[ -n "$own_cmake" ] && at_least "$own_cmake" $oldest_cmake || packages="cmake $packages"
command -v ninja >/dev/null 2>&1 || packages="$packages ninja-build"
command -v pkg-config >/dev/null 2>&1 || packages="$packages pkg-config"
command -v git >/dev/null 2>&1 || packages="$packages git"
# Debian's LibTorch computes with the installed BLAS. Its default is the slow reference
# implementation.
[ -n "$PUSHDOWN_TORCH_DIR" ] || packages="$packages libtorch-dev libopenblas0-pthread"
if [ "$purpose" = check ] || [ "$purpose" = ci ]; then
  packages="$packages clang-format lua-check ruby-mdl unicode-data"
  # The default of Debian 12 is too old for C++20.
  for tidy in clang-tidy-19 clang-tidy-18 clang-tidy; do
    apt-cache show $tidy >/dev/null 2>&1 && break
  done
  packages="$packages $tidy"
fi
if [ "$purpose" = fuzz ] && ! scripts/tools/find_clang.sh >/dev/null 2>&1; then
  # The newest one that apt offers; the default of Debian 12 is too old for C++20.
  for version in 19 18 17 16; do
    apt-cache show clang-$version >/dev/null 2>&1 && break
  done
  packages="$packages clang-$version libclang-rt-$version-dev"
fi

is_installed() {
  dpkg-query -W -f='${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed
}
missing=""
for package in $packages; do
  is_installed "$package" || missing="$missing $package"
done

# add_offered PACKAGE: adds a package that is not necessary, if apt offers it according to its lists.
add_offered() {
  is_installed "$1" && return 0
  case " $missing " in *" $1 "*) return 0 ;; esac
  version=$(LC_ALL=C apt-cache policy "$1" 2>/dev/null | sed -n 's/^ *Candidate: *//p')
  case $version in "" | "(none)") return 1 ;; esac
  missing="$missing $1"
}
# add_optional: adds the library of the kernel for notebooks, and what the tests of the Python module,
# of notebooks, of Slurm, of pages in a browser and of the documentation site need. A system that
# does not offer them has no kernel and skips these tests. In Debian 12 the library is xeus-dev.
add_optional() {
  [ "$purpose" != fuzz ] || return 0
  is_installed xeus-dev || add_offered xeus-zmq-dev || add_offered xeus-dev || true
  case $purpose in
    test) offered="python3-pytest python3-numpy" ;;
    ci) offered="python3-pytest python3-numpy chromium-headless-shell mkdocs-material slurm-wlm munge \
python3-jupyter-client" ;;
    *) offered="" ;;
  esac
  for package in $offered; do add_offered $package || true; done
}
# A user who cannot install packages is not asked for these alone.
if [ -n "$missing" ] || [ "$(id -u)" -eq 0 ] || sudo -n true 2>/dev/null; then add_optional; fi
if [ -z "$missing" ]; then
  check_space 0 0
  announce 0
  exit 0
fi

# Simulates apt with its current lists: sets $count packages, $download and $unpacked megabytes.
make_plan() {
  # shellcheck disable=SC2086  # lists of words
  plan=$(LC_ALL=C apt-get install --simulate --no-install-recommends $missing 2>>"$log" |
    awk '$1 == "Inst" { print $2 }') || true
  [ -n "$plan" ] || return 0
  count=$(echo "$plan" | wc -l)
  # shellcheck disable=SC2086
  download=$(apt-get install --print-uris -qq --no-install-recommends $missing 2>/dev/null |
    awk '{ sum += $3 } END { print int(sum / 1e6 + 0.999) }')
  # shellcheck disable=SC2086
  unpacked=$(apt-cache show --no-all-versions $plan 2>/dev/null |
    awk '/^Installed-Size:/ { sum += $2 } END { print int(sum * 1.024 / 1e3 + 0.999) }')
}
say_plan() {
  [ "$count" -eq 1 ] && noun="package that is" || noun="packages that are"
  echo "Pushdown needs $count $noun not installed: $download MB to download, $unpacked MB on disk."
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

if [ "$(id -u)" -eq 0 ]; then
  as_root=""
elif sudo -n true 2>/dev/null; then
  as_root="sudo -n"
else
  make_plan
  [ -z "$plan" ] || say_plan
  command -v sudo >/dev/null 2>&1 && sudo="sudo " || sudo=""
  fail "packages are missing and this user may not install them. Run this line as root, then run make again:" \
    "${sudo}apt-get update && ${sudo}apt-get install -y --no-install-recommends$missing"
fi

# run_apt DOING WORDS...: runs apt-get as root, with its progress in one line and its output in the
# log.
run_apt() {
  doing=$1
  shift
  {
    code=0
    # Descriptor 3 is opened after sudo, which closes it. It is not 1, which apt would close for
    # dpkg.
    # shellcheck disable=SC2086  # no word, or two
    $as_root env DEBIAN_FRONTEND=noninteractive LC_ALL=C sh -c 'exec apt-get "$@" 3>&1' sh \
      -q -y -o APT::Status-Fd=3 -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=60 -o Acquire::Retries=1 \
      -o Acquire::http::Timeout=10 -o Acquire::https::Timeout=10 "$@" </dev/null 2>&1 || code=$?
    echo "exit:$code"
  } | {
    shown=-1
    while IFS= read -r line; do
      case $line in
        dlstatus:* | pmstatus:*)
          percent=${line#*:*:}
          percent=${percent%%[.:]*}
          if [ -t 1 ]; then
            printf '\r%s: %3d %%' "$doing" "$percent"
          elif [ $((percent / 20)) -gt "$shown" ]; then
            shown=$((percent / 20))
            printf '%s: %d %%\n' "$doing" "$percent"
          fi ;;
        exit:*) code=${line#exit:} ;;
        *) printf '%s\n' "$line" >>"$log" ;;
      esac
    done
    [ ! -t 1 ] || printf '\r\033[K'
    return "$code"
  }
}

# The reason from apt's first error.
apt_error() {
  sed -n -e 's/^[EW]: Failed to fetch [^ ]*  *//p' -e 's/^E: //p' "$log" | head -n 1
}

updated=yes
run_apt "Reading the lists of packages" update || updated=no
grep -q '^Err:\|^E: \|^W: Failed' "$log" && updated=no
reached=$updated
grep -q '^Hit:\|^Get:' "$log" && reached=yes
add_optional

# Compares the offer of apt with the requirements.
absent="" old="" torch=yes
for package in $missing; do
  version=$(LC_ALL=C apt-cache policy "$package" 2>/dev/null | sed -n 's/^ *Candidate: *//p')
  version=${version#*:}
  case $version in "" | "(none)") absent="$absent $package" ;; esac
  case $package in
    libtorch-dev) oldest=$oldest_torch ;;
    g++) oldest=$oldest_gcc ;;
    cmake) oldest=$oldest_cmake ;;
    *) continue ;;
  esac
  case $version in
    "" | "(none)") [ "$package" != libtorch-dev ] || torch=no ;;
    *) at_least "$version" $oldest || {
         old="$old${old:+,} $package ${version%%[-+~]*} (expected $oldest or newer)"
         [ "$package" != libtorch-dev ] || torch=no
       } ;;
  esac
done
if [ -n "$absent" ] && [ "$updated" = no ]; then
  fail "the lists of packages cannot be fetched, so nothing was installed: $(apt_error)"
fi
if [ -n "$absent$old" ]; then
  printf '[install] nothing was installed, because apt on this system%s%s%s%s.\n' \
    "${absent:+ does not offer}" "$absent" "${old:+${absent:+ and}} ${old:+offers too old a version of}" "$old" >&2
  [ $torch = yes ] || torch_advice
  [ $torch = no ] || echo "  docs/install.md says what to do on Ubuntu and other systems." >&2
  exit 1
fi

make_plan
[ -n "$plan" ] || fail "apt cannot install the packages, so nothing was installed: $(apt_error)"
if [ $reached = no ] && [ "$download" -gt 0 ]; then
  fail "there is no network to fetch $download MB of packages, so nothing was installed: $(apt_error)"
fi
check_space "$download" "$unpacked"
say_plan
announce $((unpacked * 60 / install_megabytes + 10))

# The download comes first, so that a failed download leaves no incomplete installation.
# shellcheck disable=SC2086
run_apt "Downloading packages" install --download-only --no-install-recommends $missing ||
  fail "the packages cannot be downloaded, so nothing was installed: $(apt_error)"
# shellcheck disable=SC2086
run_apt "Installing packages" install --no-download --no-install-recommends $missing || {
  tail -n 30 "$log" >&2
  fail "apt could not install the packages: $(apt_error)" \
    "The end of its output is above. 'apt-get install --fix-broken' completes what it began."
}
