#!/bin/sh
# Prints the versions of the C and C++ libraries that programs and modules need, with some symbols
# of these versions, and which systems have them. Fails if a file needs a newer version than
# manylinux_2_34 permits, or a shared library that is neither one of the system's basic ones nor
# LibTorch's.
#   symbols.sh FILE...
set -eu
[ $# -gt 0 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
# The newest versions that the systems have. All of them have those that the first line permits.
systems='manylinux_2_34  GLIBC 2.34  GLIBCXX 3.4.29  CXXABI 1.3.13  GCC 7.0.0
Rocky and Alma 9         GLIBC 2.34  GLIBCXX 3.4.29  CXXABI 1.3.13  GCC 7.0.0
Ubuntu 22.04             GLIBC 2.35  GLIBCXX 3.4.30  CXXABI 1.3.13  GCC 12.0.0
Debian 12                GLIBC 2.36  GLIBCXX 3.4.30  CXXABI 1.3.13  GCC 12.0.0
Ubuntu 24.04             GLIBC 2.39  GLIBCXX 3.4.33  CXXABI 1.3.15  GCC 14.0.0
Fedora 40                GLIBC 2.39  GLIBCXX 3.4.33  CXXABI 1.3.15  GCC 14.0.0
Debian 13                GLIBC 2.41  GLIBCXX 3.4.33  CXXABI 1.3.15  GCC 14.0.0'
basic='lib(c|m|dl|pthread|rt|stdc\+\+|gcc_s|z)\.so\.[0-9]+|ld-linux[-a-z0-9_]*\.so\.[0-9]+'
torch='lib(torch|torch_cpu|torch_cuda|c10|c10_cuda)\.so[.0-9]*'

# The newest version of the kind $2 (GLIBC, ...) that the file $1 needs.
needed() {
  objdump -p "$1" | sed -n "s/^ *0x.* $2_\([0-9.]*\)\$/\1/p" | sort -V | tail -n 1
}

# Returns whether a line of the table has all versions that the file $1 needs.
runs_on() {
  echo "$2" | grep -oE '[A-Z]+ [0-9.]+  |[A-Z]+ [0-9.]+$' | while read -r kind newest; do
    version=$(needed "$1" "$kind")
    [ "$(printf '%s\n' "$version" "$newest" | sort -V | tail -n 1)" = "$newest" ] || exit 1
  done
}

status=0
for file in "$@"; do
  objdump -p "$file" >/dev/null || exit 1
  echo "$file:"
  for kind in GLIBC GLIBCXX CXXABI GCC; do
    version=$(needed "$file" $kind)
    [ -n "$version" ] || continue
    version=${kind}_$version
    symbols=$(objdump -T "$file" | sed -n "s/.*($version) *//p" | sort -u | head -n 3 | paste -sd ' ')
    printf '  needs %-15s %s\n' "$version" "$symbols"
  done
  libraries=$(objdump -p "$file" | sed -n 's/^ *NEEDED  *//p' | grep -vxE "$basic|$torch" || true)
  if [ -n "$libraries" ]; then
    echo "  needs the shared libraries" $libraries
    status=1
  fi
  echo "$systems" | while read -r line; do
    runs_on "$file" "$line" && answer=yes || answer=no
    printf '  %-17s %s\n' "$(echo "$line" | sed 's/  .*//')" $answer
  done
  runs_on "$file" "$(echo "$systems" | head -n 1)" || status=1
done
exit $status
