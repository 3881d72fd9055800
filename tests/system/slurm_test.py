#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tessera sweep submit` on a Slurm of its own: one machine, two nodes, all of it on loopback. A node is
killed in mid-shard; in the end there is one result a point, equal to a run without Slurm.

usage: slurm_test.py TESSERA

It takes root and Debian's slurmctld, slurmd, slurm-client and munge; without them it ends with 77.
"""
import json
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
POINTS = {"schema_version": 1, "machine": "tiny", "mode": "functional",
          "workload": ["tiny_matmul", "tiny_spmm_b1"], "set": {"workload.n": 512},
          "axes": [{"path": "tile.workers", "values": [2, 3, 4, 6]},
                   {"path": "exchange.lane_bytes", "log2": [4, 8]},
                   {"path": "sync.internal_cycles", "range": [10, 200, 10]}]}
COUNT = 2 * 4 * 2 * 20


def skip(why):
    print("skipped:", why)
    sys.exit(SKIPPED)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def waits_for(what, condition, seconds=120):
    end = time.time() + seconds
    while not condition():
        if time.time() > end:
            raise SystemExit(f"FAILED: no {what} after {seconds} s")
        time.sleep(0.2)


class Cluster:
    """Daemons in the foreground, so that each is a child whose number is known."""

    def __init__(self, folder):
        self.folder = folder
        self.daemons = {}
        munge = pwd.getpwnam("munge")
        for name in ("munge", "state", "n1", "n2"):
            (folder / name).mkdir()
        os.chmod(folder, 0o755)
        key = folder / "munge/key"
        key.write_bytes(os.urandom(128))
        for path in (folder / "munge", key):
            os.chown(path, munge.pw_uid, munge.pw_gid)
        os.chmod(folder / "munge", 0o755)
        os.chmod(key, 0o400)
        self.socket = folder / "munge/socket"
        self.start("munged", "runuser", "-u", "munge", "--", "/usr/sbin/munged", "--foreground",
                   f"--socket={self.socket}", f"--key-file={key}",
                   f"--pid-file={folder}/munge/pid", f"--log-file={folder}/munge/log",
                   f"--seed-file={folder}/munge/seed")
        waits_for("munge", self.socket.exists)
        host = socket.gethostname()
        ports = [free_port() for _ in range(3)]
        self.conf = folder / "slurm.conf"
        self.conf.write_text(f"""ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={self.socket}
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
MailProg=/bin/true
ReturnToService=2
SlurmdTimeout=10
SlurmctldTimeout=10
InactiveLimit=0
KillWait=5
MinJobAge=300
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
SlurmdSpoolDir={folder}/%n
SlurmdParameters=config_overrides
MaxArraySize=100001
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=2 State=UNKNOWN
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=2 State=UNKNOWN
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=60 State=UP
""")
        self.environment = os.environ | {"SLURM_CONF": str(self.conf)}
        self.start("slurmctld", "/usr/sbin/slurmctld", "-D", "-f", str(self.conf))
        for node in ("n1", "n2"):
            self.start(node, "/usr/sbin/slurmd", "-D", "-N", node, "-f", str(self.conf))
        waits_for("two idle nodes", lambda: self.nodes() == ["idle", "idle"])

    def start(self, name, *command):
        log = open(self.folder / f"{name}.out", "w")
        self.daemons[name] = subprocess.Popen(
            command, stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
            env=getattr(self, "environment", os.environ))

    def run(self, *command, **options):
        return subprocess.run(command, env=self.environment, capture_output=True, text=True,
                              **options)

    def nodes(self):
        return self.run("sinfo", "-h", "-N", "-o", "%T").stdout.split()

    def jobs(self):
        return self.run("squeue", "-h", "-r", "-o", "%i %T %N").stdout.splitlines()

    def kill_node(self, node):
        """The node's daemon and all that it has started, at once, as when the power goes."""
        stopped = set()
        while True:  # nobody tells of another's end, and nobody new comes
            processes = {self.daemons[node].pid, *descendants(self.daemons[node].pid),
                         *steps_of(self.folder / node)} - stopped
            if not processes:
                break
            signal_all(signal.SIGSTOP, processes)
            stopped |= processes
        signal_all(signal.SIGKILL, stopped)

    def stop(self):
        self.run("scancel", "--user=root")
        for node in ("n1", "n2"):
            self.kill_node(node)
        for name in ("slurmctld", "munged"):
            for process in [*descendants(self.daemons[name].pid), self.daemons[name].pid]:
                try:
                    os.kill(process, signal.SIGKILL)
                except ProcessLookupError:
                    pass
        for daemon in self.daemons.values():
            daemon.wait()


def signal_all(number, processes):
    for process in processes:
        try:
            os.kill(process, number)
        except ProcessLookupError:
            pass


def descendants(process):
    found = []
    try:
        children = pathlib.Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:
        return found
    for child in map(int, children):
        found += descendants(child) + [child]
    return found


def steps_of(spool):
    """The job steps of a node, which leave its daemon: what has its name in the environment, and
    the managers above that, whose title may stand where their environment was."""
    found = set()
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes()
            environment = (process / "environ").read_bytes()
        except OSError:
            continue
        mine = f"SLURMD_NODENAME={spool.name}\0".encode() in environment and \
            f"SLURM_CONF={spool.parent}/slurm.conf\0".encode() in environment
        if mine or str(spool).encode() in command:
            found.add(int(process.name))
    for process in list(found):
        while process := parent_of(process, "slurmstepd"):
            found.add(process)
    return found


def parent_of(process, name):
    """The parent, if it is called so; else nothing."""
    try:
        parent = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(") ", 1)[1].split()[1]
        called = pathlib.Path(f"/proc/{parent}/comm").read_text().strip()
    except OSError:
        return None
    return int(parent) if called == name else None


def results(store):
    found = {}
    for file in store.glob("*.jsonl"):
        for line in file.read_text().split("\n")[:-1]:
            point = json.loads(line)
            found.setdefault(point["key"], []).append(point)
    return found


def plain(point):
    return {name: value for name, value in point.items()
            if name not in ("host", "machine", "workload")}


def test(tessera, folder):
    sweep = folder / "sweep.json"
    sweep.write_text(json.dumps(POINTS))
    subprocess.run([tessera, "sweep", "run", sweep, "--store", folder / "calm", "-q"], check=True)
    expected = results(folder / "calm")
    assert len(expected) == COUNT, len(expected)
    cluster = Cluster(folder / "slurm")
    try:
        store = folder / "store"
        done = cluster.run(tessera, "sweep", "submit", str(sweep), "--store", str(store), "--shards",
                           "2", "--", "--time=10", "-c", "2")
        print(done.stdout + done.stderr, end="")
        assert done.returncode == 0
        job = done.stdout.split()[-1]
        of_n2 = lambda: [line.split()[0] for line in cluster.jobs() if line.endswith(" n2")]
        waits_for("job on n2 with results",
                  lambda: of_n2() and len(results(store)) > COUNT // 10)
        task = of_n2()[0]
        cluster.kill_node("n2")
        before = len(results(store))
        assert before < COUNT, "all was done before a node was killed"
        print(f"n2 killed with task {task}, {before} of {COUNT} points known")
        cluster.run("scontrol", "update", "NodeName=n2", "State=DOWN", "Reason=test")

        def again():
            # a task that is queued again waits for two minutes, unless it is told not to
            cluster.run("scontrol", "update", f"JobId={task}", "StartTime=now")
            return not cluster.jobs()
        waits_for("end of the array", again, 300)
        found = results(store)
        for key, points in found.items():
            assert len(points) == 1, f"{key}: {len(points)} records"
        assert {key: plain(points[0]) for key, points in found.items()} == \
               {key: plain(points[0]) for key, points in expected.items()}
        tasks = {line.split("=", 1)[1] for line in
                 cluster.run("scontrol", "show", "job", job).stdout.split()
                 if line.startswith("Restarts=")}
        assert tasks == {"0", "1"}, tasks
        print(f"{len(found)} points, each once, as without Slurm; one task was started again")
    except BaseException:
        for log in (folder / "slurm").glob("*.log"):
            print(f"== {log.name}\n" + "\n".join(log.read_text().splitlines()[-15:]))
        raise
    finally:
        cluster.stop()


def main():
    if os.geteuid() != 0:
        skip("not root")
    for program in ("munged", "slurmctld", "slurmd", "sbatch"):
        if not shutil.which(program, path="/usr/sbin:/usr/bin:/sbin:/bin"):
            skip(f"no {program}: apt-get install slurmctld slurmd slurm-client munge")
    folder = pathlib.Path(tempfile.mkdtemp())
    try:
        (folder / "slurm").mkdir()
        os.chmod(folder, 0o755)
        test(str(pathlib.Path(sys.argv[1]).resolve()), folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
