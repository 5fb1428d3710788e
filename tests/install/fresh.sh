#!/usr/bin/env bash
# Tries the two commands of the README in a bare Debian: a root folder made by debootstrap with only
# git and make installed. Needs root, debootstrap and a network, and takes most of an hour.
#   fresh.sh SUITE [--folder FOLDER] [--mirror URL]     SUITE: bookworm or trixie
# FOLDER (default ${TMPDIR:-/tmp}/pushdown-roots) gets SUITE.base, the bare root, which later runs
# use again; SUITE, the root of this run; and SUITE.logs. STEPS selects some of these (default:
# all):
#   refuse   make run as a user, without packages: ends with a message
#   offline  make run as root, without packages and network: ends with a message
#   run      make run as root
#   test     make test as root
#   user     both as an ordinary user, in a separate clone, with the packages installed
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
words=("$@")
suite=${1:-}
case $suite in
  bookworm | trixie) shift ;;
  *) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
folder=${TMPDIR:-/tmp}/pushdown-roots mirror=""
while [ $# -gt 0 ]; do
  case $1 in
    --folder) folder=$2; shift 2 ;;
    --mirror) mirror=$2; shift 2 ;;
    *) echo "fresh.sh: unknown option '$1'" >&2; exit 2 ;;
  esac
done
# shellcheck source=tests/install/root.sh
. "$source/tests/install/root.sh"
packages() { inside dpkg-query -W -f='${db:Status-Status}\n' | grep -c '^installed$'; }
megabytes() { inside dpkg-query -W -f='${Installed-Size}\n' | awk '{ s += $1 } END { print int(s * 1.024 / 1e3) }'; }

inside apt-get update -q >"$logs/prepare" 2>&1
inside env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends git make >>"$logs/prepare" 2>&1
inside useradd --create-home tester
git -C "$source" bundle create -q "$root/tmp/pushdown.bundle" HEAD
clone='rm -rf pushdown && git clone -q /tmp/pushdown.bundle pushdown && cd pushdown'
{ inside sh -c "cd /root && $clone" && inside su - tester -c "$clone"; } >>"$logs/prepare" 2>&1
bare_packages=$(packages)
bare_megabytes=$(megabytes)

steps=${STEPS:-refuse offline run test user}
for step in $steps; do
  case $step in
    refuse) try refuse fails 'apt-get install' inside su - tester -c 'cd pushdown && make run' ;;
    offline) try offline fails 'nothing was installed' unshare --net chroot "$root" sh -c 'cd /root/pushdown && make run' ;;
    run) try run ok 'Pushdown needs' inside sh -c 'cd /root/pushdown && make run' ;;
    test) try test ok 'tests passed' inside sh -c 'cd /root/pushdown && make test' ;;
    user)
      try user-run ok '' inside su - tester -c 'cd pushdown && make run'
      try user-test ok 'tests passed' inside su - tester -c 'cd pushdown && make test' ;;
    *) echo "fresh.sh: unknown step '$step'" >&2; exit 2 ;;
  esac
done

echo
echo "$suite at $(git -C "$source" rev-parse --short HEAD), $(nproc) cores"
grep -h 'Pushdown needs\|minutes on\|minute on' "$logs"/run "$logs"/test 2>/dev/null || true
echo "packages: $bare_packages with git and make, $(($(packages) - bare_packages)) more by make"
echo "installed: $bare_megabytes MB with git and make, $(($(megabytes) - bare_megabytes)) MB more by make"
for build in root/pushdown home/tester/pushdown; do
  [ -d "$root/$build/build" ] && du -sm "$root/$build/build" | awk '{ print "build folder: " $1 " MB" }'
done
grep -h 'tests passed' "$logs"/test "$logs"/user-test 2>/dev/null || true
printf '\n| step | outcome | minutes | processor minutes |\n|---|---|---|---|\n%s' "$rows"
exit $bad
