#!/bin/sh
# A Slurm of one machine on loopback, in a separate folder, for tests.
#   slurm.sh start DIR   prints nothing; the caller sets SLURM_CONF=DIR/slurm.conf
#   slurm.sh stop DIR
# Exits with status 77 and the reason if that is not possible.
set -eu
dir=$2
skip() { echo "skipped: $1"; exit 77; }

stop() {
  for daemon in slurmd slurmctld munged; do
    [ -s "$dir/$daemon.pid" ] || continue
    pid=$(cat "$dir/$daemon.pid")
    kill "$pid" 2>/dev/null || true
    for _ in $(seq 100); do
      kill -0 "$pid" 2>/dev/null || break
      sleep 0.05
    done
  done
}

if [ "$1" = stop ]; then stop; exit 0; fi

PATH=$PATH:/usr/sbin:/sbin
for program in sbatch slurmctld slurmd munged; do
  command -v $program >/dev/null || skip "there is no $program (Debian: slurm-wlm, munge)"
done
mkdir -p "$dir/state" "$dir/spool"
chmod 755 "$dir"
dd if=/dev/urandom bs=1 count=1024 of="$dir/munge.key" 2>/dev/null
chmod 400 "$dir/munge.key"
# Forced, because it prefers a socket in a folder that only root can write.
munged --force --key-file="$dir/munge.key" --socket="$dir/munge.socket" --pid-file="$dir/munged.pid" \
  --log-file="$dir/munged.log" --seed-file="$dir/munge.seed" >/dev/null 2>&1 || skip "munged does not start: $(tail -1 "$dir/munged.log")"
host=$(hostname -s)
port=$((20000 + $$ % 20000))
cat >"$dir/slurm.conf" <<C
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$dir/munge.socket
CredType=cred/munge
SlurmctldPort=$port
SlurmdPort=$((port + 1))
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SchedulerType=sched/backfill
SchedulerParameters=sched_min_interval=100000,batch_sched_delay=0,bf_interval=1
MinJobAge=2
KillWait=2
MaxArraySize=4
NodeName=$host NodeAddr=127.0.0.1 CPUs=2 RealMemory=500 State=UNKNOWN
PartitionName=main Nodes=$host Default=YES MaxTime=INFINITE State=UP
C
# Without a given version it searches for one, and fails if no such file system is mounted.
echo 'CgroupPlugin=cgroup/v1' >"$dir/cgroup.conf"
SLURM_CONF=$dir/slurm.conf
export SLURM_CONF
slurmctld -i >/dev/null 2>&1 || { stop; skip "slurmctld does not start: $(tail -1 "$dir/slurmctld.log")"; }
slurmd >/dev/null 2>&1 || { stop; skip "slurmd does not start: $(tail -1 "$dir/slurmd.log")"; }
for _ in $(seq 150); do
  [ "$(sinfo -h -o %T 2>/dev/null)" = idle ] && exit 0
  sleep 0.1
done
stop
skip "the node does not become idle: $(tail -1 "$dir/slurmd.log")"
