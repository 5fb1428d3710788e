#!/usr/bin/env bash
# Tries the wheel in a bare Debian, a root folder made by debootstrap with only python3-venv
# installed, as an ordinary user and, after the installation, without a network. Needs root,
# debootstrap and a network.
#   wheel.sh SUITE WHEEL TORCH [--folder FOLDER] [--mirror URL] [--files FOLDER]...
# SUITE: bookworm or trixie. TORCH: the version of torch, such as 2.13.0. --files: a folder with
# packages that pip takes instead of downloading them. FOLDER: as in fresh.sh.
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
words=("$@")
[ $# -ge 3 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
suite=$1 wheel=$2 torch=$3
shift 3
folder=${TMPDIR:-/tmp}/pushdown-roots mirror="" files=()
while [ $# -gt 0 ]; do
  case $1 in
    --folder) folder=$2; shift 2 ;;
    --mirror) mirror=$2; shift 2 ;;
    --files) files+=("$2"); shift 2 ;;
    *) echo "wheel.sh: unknown option '$1'" >&2; exit 2 ;;
  esac
done
[ -e "$wheel" ] || { echo "wheel.sh: no wheel '$wheel'" >&2; exit 2; }
# shellcheck source=tests/install/root.sh
. "$source/tests/install/root.sh"

inside apt-get update -q >"$logs/prepare" 2>&1
inside env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends python3-venv >>"$logs/prepare" 2>&1
inside useradd --create-home --shell /bin/bash tester
cp "$wheel" "$root/tmp/"
wheel=/tmp/$(basename "$wheel")
options="--disable-pip-version-check --no-cache-dir -q" number=0
# The certificates of this machine: those of the root may be others.
[ ! -e /etc/ssl/certs/ca-certificates.crt ] || {
  cp -L /etc/ssl/certs/ca-certificates.crt "$root/tmp/certificates"
  options+=" --cert /tmp/certificates"
}
for place in "${files[@]}"; do
  number=$((number + 1))
  mkdir -p "$root/files/$number"
  mount --bind "$place" "$root/files/$number"
  options+=" --find-links /files/$number"
done

# The folder has a blank, in which scripts that do not quote fail.
user() { inside su - tester -c "cd '/home/tester' && $1"; }
offline() { unshare --net chroot "$root" su - tester -c "cd /home/tester && export OMP_NUM_THREADS=1 && $1"; }
pip="'my pd/bin/pip' install $options"
pushdown="'my pd/bin/pushdown'"
tutorial() { echo "$pushdown --threads 1 'my pd'/lib/python3*/site-packages/pushdown_shell/program/share/pushdown/scripts/tutorial/$1.lua --smoke"; }

try venv ok '' user "python3 -m venv 'my pd'"
try no-compiler fails '' user 'command -v cc || command -v c++ || command -v gcc'
try no-torch fails 'torch is not installed' user "$pip --no-deps '$wheel' && $pushdown --version"
try torch ok '' user "$pip numpy torch==$torch"
try install ok '' user "$pip '$wheel'"
try version ok 'pushdown ' offline "$pushdown --version"
try start ok '' offline "time $pushdown -e 'return 1' && time $pushdown -e 'pd.version = pd.version' || true"
try first-run ok 'Entropies in nats' offline "$(tutorial 01_first_run)"
try prompt ok '> 42' offline "printf 'print(\"> \" .. 6 * 7)\n' | script -qc $(printf %q "$pushdown") /dev/null"
try own-stack ok 'keeps the contract' offline "$(tutorial 06_own_stack)"
try grid ok '2 points' offline "$(tutorial 07_grid_and_report) --workers 2"
try report ok 'dygraphs' offline "cat runs/grid_and_report/*/report.html"
try help ok 'nondeterministic' offline "$pushdown -e \"help 'nondeterministic stack'\""
try kernel fails 'no kernel for notebooks' offline "$pushdown kernel install"
try python ok '( ' offline "'my pd/bin/python' -c \"import pushdown_shell as p; print(p.grammar('dyck').sample(count=2, length=4, seed=1))\""
inside chmod -R a-w '/home/tester/my pd'
try read-only ok 'torch' offline "$pushdown -e 'print(pd.build().torch, \"torch\")'"
try no-home ok 'torch' offline "HOME=/nonexistent $pushdown -e 'print(pd.build().torch, \"torch\")'"
inside chmod -R u+w '/home/tester/my pd'
try wrong-torch fails 'no module for the installed torch' offline \
  "sed -i \"s/^__version__ = .*/__version__ = '2.9.1'/\" 'my pd'/lib/python3*/site-packages/torch/version.py && $pushdown --version"
try uninstall ok '' offline "'my pd/bin/pip' uninstall -y -q pushdown-shell && ! test -e 'my pd/bin/pushdown' && ! ls -d 'my pd'/lib/python3*/site-packages/pushdown_shell"

printf '\n%s, torch %s\n\n| step | outcome | minutes | processor minutes |\n|---|---|---|---|\n%s' "$suite" "$torch" "$rows"
exit $bad
