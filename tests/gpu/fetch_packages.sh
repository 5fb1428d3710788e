#!/bin/sh
# Unpacks the Debian packages for building Pushdown, except LibTorch, into a folder for a machine on
# which nothing can be installed:
#   tests/gpu/fetch_packages.sh FOLDER
# Runs on a Debian or Ubuntu with the architecture of the other machine and a C library that is not
# newer. Needs apt-get, apt-cache and dpkg, but not root, and installs nothing. tests/gpu/run.sh
# takes the folder as an argument.
set -eu

[ $# -eq 1 ] || { echo "usage: fetch_packages.sh FOLDER" >&2; exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)

wanted="libluajit-5.1-dev libspdlog-dev libfmt-dev nlohmann-json3-dev \
libsqlite3-dev libutf8proc-dev zlib1g-dev libgtest-dev googletest pkgconf"

# Their dependencies, except those that a machine with a compiler has.
depends() {
  apt-cache depends --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces \
    --no-enhances "$1" 2>/dev/null | sed -n 's/^ *|\{0,1\}Depends: \(lib[^<:]*\|pkgconf[^<:]*\)$/\1/p' |
    grep -Ev '^(libc6|libc6-dev|libgcc.*|libstdc\+\+.*|libgomp.*|libcrypt.*)$' || true
}
all=""
queue="$wanted"
while [ -n "$queue" ]; do
  next=""
  for package in $queue; do
    case " $all " in *" $package "*) continue ;; esac
    all="$all $package"
    next="$next $(depends "$package" | tr '\n' ' ')"
  done
  queue=$(echo "$next" | xargs)
done

mkdir -p "$folder/packages"
cd "$folder/packages"
for package in $all; do
  # Libraries that others link to may have different names in different releases, and may be
  # missing.
  apt-get download -qq "$package" 2>/dev/null || {
    case " $wanted " in
      *" $package "*) echo "cannot download $package; is the list of packages up to date (apt-get update)?" >&2
        exit 1 ;;
      *) echo "left out: $package" >&2 ;;
    esac
  }
done
for package in *.deb; do dpkg -x "$package" "$folder"; done
rm -r "$folder/packages"
# Documentation is not needed, and static libraries only for the tests.
rm -rf "$folder/usr/share/doc" "$folder/usr/share/man" "$folder/usr/share/info" \
  "$folder/usr/share/lintian" "$folder/usr/share/terminfo" \
  "$folder/usr/src" "$folder/lib/terminfo"
find "$folder/usr/lib" -name '*.a' ! -name 'libgtest*' ! -name 'libgmock*' -delete
echo "unpacked into $folder:"
du -sh "$folder"
