# shellcheck shell=bash
# For the scripts beside it: makes $root, a bare Debian of the release $suite in $folder (URL of a
# mirror: $mirror), with the network of this machine; $logs, an empty folder; `inside COMMAND...`,
# which runs a command in the root; and `try`, which runs a step. $words are the script's arguments:
# it starts again in a mount namespace of its own, so that what is mounted disappears with it.
name=$(basename "$0")
[ "$(id -u)" -eq 0 ] || { echo "$name: this must run as root." >&2; exit 1; }
command -v debootstrap >/dev/null || { echo "$name: debootstrap is not installed." >&2; exit 1; }
if [ "${PUSHDOWN_FRESH:-}" != inside ]; then
  PUSHDOWN_FRESH=inside exec unshare --mount "$0" "${words[@]}"
fi

mkdir -p "$folder"
base=$folder/$suite.base root=$folder/$suite logs=$folder/$suite.logs
if [ ! -e "$base/.complete" ]; then
  echo "Making $base with debootstrap."
  rm -rf "$base"
  # shellcheck disable=SC2086  # a word, or none
  debootstrap --variant=minbase "$suite" "$base" $mirror >"$folder/$suite.debootstrap.log" 2>&1 || {
    tail -n 5 "$folder/$suite.debootstrap.log" >&2
    exit 1
  }
  rm -f "$base"/var/cache/apt/archives/*.deb
  touch "$base/.complete"
fi
rm -rf "$root" "$logs"
mkdir -p "$logs"
cp -a "$base" "$root"

# The network of this machine: names, proxies, certificates.
cp -L /etc/resolv.conf "$root/etc/resolv.conf"
apt-config dump | grep -E '^Acquire::(https?::|Check-)' | grep -v '""' >"$root/etc/apt/apt.conf.d/90host" || true
if [ -e /etc/ssl/certs/ca-certificates.crt ]; then
  mkdir -p "$root/etc/ssl/certs"
  cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
fi
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"

inside() { chroot "$root" /usr/bin/env -i HOME=/root TERM=dumb PATH=/usr/sbin:/usr/bin:/sbin:/bin \
  ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} "$@"; }

# Rows of the table of steps, and whether one went wrong.
rows="" bad=0
# try NAME EXPECTED TEXT COMMAND...: EXPECTED is ok or fails. The command must print the text.
try() {
  local name=$1 expected=$2 text=$3 outcome=ok
  shift 3
  echo "== $name"
  TIMEFORMAT='%R %U %S'
  { time "$@" >"$logs/$name" 2>&1 </dev/null || outcome=fails; } 2>"$logs/times"
  [ "$outcome" = "$expected" ] && { [ -z "$text" ] || grep -qF "$text" "$logs/$name"; } || {
    bad=1
    outcome="$outcome, unexpectedly"
    tail -n 20 "$logs/$name"
  }
  [ "$outcome" != fails ] || outcome='fails, as it must'
  rows+=$(awk -v name="$name" -v outcome="$outcome" '{
    printf "| %s | %s | %.2f | %.2f |", name, outcome, $1 / 60, ($2 + $3) / 60 }' "$logs/times")$'\n'
}
