#!/bin/sh
# Installs the Debian packages that Pushdown needs and that are not there yet.
#   install_packages.sh build   what the shell, the tests and the benchmarks are built from
#   install_packages.sh check   that, and what the format and lint checks run
# Installs as root or through a password-less sudo; otherwise prints the line to run and stops.
# On other systems than Debian and its kin it only says which packages it would have looked for.
set -eu

packages="g++ cmake ninja-build pkg-config git libluajit-5.1-dev luajit libedit-dev libspdlog-dev \
libfmt-dev nlohmann-json3-dev libcli11-dev libsqlite3-dev libicu-dev libgtest-dev"
# A LibTorch of one's own replaces the system's.
[ -n "${PUSHDOWN_TORCH_DIR:-}" ] || packages="$packages libtorch-dev"
[ "${1:-build}" = check ] && packages="$packages clang-format lua-check"

if ! command -v dpkg-query >/dev/null 2>&1; then
  echo "No dpkg here: make sure that the equivalents of these Debian packages are installed:" >&2
  echo "  $packages" >&2
  exit 0
fi

missing=""
for package in $packages; do
  if dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed; then
    continue
  fi
  missing="$missing $package"
done
[ -z "$missing" ] && exit 0

if [ "$(id -u)" -eq 0 ]; then
  as_root=""
elif sudo -n true 2>/dev/null; then
  as_root="sudo -n"
else
  echo "Packages are missing. Install them, then run make again:" >&2
  echo "  sudo apt-get update && sudo apt-get install -y --no-install-recommends$missing" >&2
  exit 1
fi

echo "Installing:$missing"
install() {
  # shellcheck disable=SC2086  # lists of words
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get update -q &&
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing
}
install || {
  echo "The installation failed; trying once more." >&2
  sleep 5
  install
}
