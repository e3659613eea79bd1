"""A SLURM of one node on this machine, with all of its state in one folder, and the study's graph as its
jobs, called as the book's page on reproducing says.

It needs munged, slurmctld and slurmd (Debian: munge, slurmctld, slurmd, slurm-client), and root, as slurmd
does. The node claims more processors, memory and GPUs than there are, so that several jobs run at once; no
job is held to its share, and no job that asks for a GPU gets one.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

from tests.pipeline.conftest import TinyRepository

UP = ("idle", "mixed", "allocated")
PLUGIN = "snakemake_executor_plugin_slurm"
# Without slurmdbd there is no sacct. Everything else is the profile's own; only the tests look sooner.
SETTINGS = (
    "--workflow-profile", "workflow/profiles/slurm", "--slurm-status-command", "squeue",
    "--slurm-init-seconds-before-status-checks", "4", "--latency-wait", "5",
)  # fmt: skip
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun")
_CONF = """ClusterName=radbook
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket,cred_expire=5
CredType=cred/munge
StateSaveLocation={folder}/controller
SlurmdSpoolDir={folder}/node
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc={folder}/jobs.txt
JobAcctGatherType=jobacct_gather/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
MailProg=/bin/true
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
GresTypes=gpu
ReturnToService=2
JobRequeue=1
KillWait=5
OverTimeLimit=0
SlurmdTimeout=20
MinJobAge=3600
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=256000 Gres=gpu:{workers}
PartitionName=work Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def missing() -> str:
    """Return why no job can be run here, in words; empty where it can."""
    absent = [name for name in PROGRAMS if shutil.which(name) is None]
    absent += [] if importlib.util.find_spec(PLUGIN) else [PLUGIN]
    if absent:
        return f"not installed: {', '.join(absent)}"
    return "" if os.geteuid() == 0 else "slurmd runs as root alone"


needs_slurm = pytest.mark.skipif(bool(missing()), reason=missing() or "SLURM is here")


def free_ports(number: int) -> list[int]:
    """Ports that nobody listens on."""
    sockets = [socket.socket() for _ in range(number)]
    try:
        for bound in sockets:
            bound.bind(("127.0.0.1", 0))
        return [bound.getsockname()[1] for bound in sockets]
    finally:
        for bound in sockets:
            bound.close()


def wait(reached: Callable[[], object], problem: str, seconds: float = 60) -> None:
    """Until it is so; a TimeoutError that names the ``problem`` if it takes longer."""
    limit = time.monotonic() + seconds
    while not reached():
        if time.monotonic() > limit:
            raise TimeoutError(problem)
        time.sleep(0.2)


@dataclass
class Cluster:
    """Daemons by name, and how clients reach them: ``environment``."""

    folder: Path
    workers: int
    daemons: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        path = f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
        return {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf"), "PATH": path}

    @property
    def node(self) -> str:
        return socket.gethostname().partition(".")[0]

    def call(self, *command: str, check: bool = True) -> str:
        """Return what a client says, as ``scontrol``."""
        return subprocess.run(
            command, env=self.environment, capture_output=True, text=True, check=check, timeout=60
        ).stdout

    def states(self) -> dict[str, str]:
        """State of every job that the controller remembers, by number."""
        words = self.call("squeue", "--states=all", "--noheader", "--format=%i %T").split()
        return dict(zip(words[::2], words[1::2], strict=True))

    def start(self, daemon: str) -> None:
        """Start a daemon, and wait until it answers."""
        folder = self.folder / "munge"
        commands = {
            "munged": [
                "munged", "--foreground", "--force", f"--socket={folder}/socket",
                *(f"--{name}-file={folder}/{name}" for name in ("key", "pid", "log", "seed")),
            ],
            "slurmctld": ["slurmctld", "-D"],
            "slurmd": ["slurmd", "-D"],
        }  # fmt: skip
        answers = {
            "munged": lambda: (folder / "socket").is_socket(),
            "slurmctld": lambda: "is UP" in self.call("scontrol", "ping", check=False),
            "slurmd": lambda: self.call("sinfo", "-h", "-o", "%T", check=False).strip() in UP,
        }  # fmt: skip
        log = (self.folder / f"{daemon}.out").open("ab")
        self.daemons[daemon] = subprocess.Popen(
            commands[daemon], env=self.environment, stdout=log, stderr=log, start_new_session=True
        )
        wait(answers[daemon], f"{daemon} does not answer; see {log.name}")

    def kill(self, daemon: str) -> None:
        """End a daemon as a crash would; jobs go on."""
        self.daemons[daemon].kill()
        self.daemons.pop(daemon).wait()

    def stop(self) -> None:
        """End every job, every daemon, and whatever a job left running."""
        with suppress(subprocess.SubprocessError):
            self.call("scancel", "--user=root", check=False)
            wait(lambda: not self.call("squeue", "--noheader", check=False), "jobs do not end", 30)
        for daemon in reversed(list(self.daemons)):
            self.kill(daemon)
        mine = str(self.folder / "slurm.conf")
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if process.pid != os.getpid() and process.environ().get("SLURM_CONF") == mine:
                    process.kill()


@contextmanager
def running(folder: Path, workers: int = 2, cpus: int = 16) -> Iterator[Cluster]:
    """Yield a cluster while this lasts: ``cpus`` processors, and a GPU for each of ``workers`` cells at
    once."""
    for name in ("munge", "controller", "node", "bin"):
        (folder / name).mkdir(parents=True)
    folder.chmod(0o755)  # munged trusts no socket below a folder that others may not enter
    key = folder / "munge" / "key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o400)
    cluster = Cluster(folder, workers)
    text = _CONF.format(host=cluster.node, folder=folder, ports=free_ports(2), workers=workers, cpus=cpus)
    (folder / "slurm.conf").write_text(text, encoding="ascii")
    # Files that are surely there stand for devices: SLURM counts them, and opens none.
    (folder / "gres.conf").write_text(f"Name=gpu File=/dev/tty[1-{workers}]\n", encoding="ascii")
    # Snakemake's executor hides SLURM_CONF from srun, which then looks for the machine's own cluster.
    srun = folder / "bin" / "srun"
    srun.write_text(f'#!/bin/sh\nSLURM_CONF={folder}/slurm.conf exec {shutil.which("srun")} "$@"\n')
    srun.chmod(0o755)
    try:
        for daemon in ("munged", "slurmctld", "slurmd"):
            cluster.start(daemon)
        yield cluster
    finally:
        cluster.stop()


@dataclass(frozen=True)
class Study:
    """A copy of the repository, and the cluster on which it runs."""

    repository: TinyRepository
    cluster: Cluster
    profile: str = "embedded"

    @property
    def build(self) -> Path:
        return self.repository.path / "build" / self.profile

    def start(self, *cells: str, options: tuple[str, ...] = (), config: str = "") -> subprocess.Popen[str]:
        """Return Snakemake at work on cells; what it prints goes to a file beside the repository."""
        paths = [str(self.repository.path), *filter(None, [os.environ.get("PYTHONPATH")])]
        targets = [f"build/{self.profile}/executed_jobs/{cell}.ipynb" for cell in cells]
        command = [sys.executable, "-m", "snakemake", *targets, *SETTINGS, *options]
        command += ["--config", f"profile={self.profile}", *config.split()]
        env = self.cluster.environment | {"PYTHONPATH": os.pathsep.join(paths)}
        with self.output.open("w") as stream:
            return subprocess.Popen(
                command, cwd=self.repository.path, env=env, stdout=stream, stderr=subprocess.STDOUT, text=True
            )

    @property
    def output(self) -> Path:
        return self.repository.path.with_suffix(".txt")

    def run(self, *cells: str, options: tuple[str, ...] = (), config: str = "", seconds: float = 300) -> int:
        """Its exit status."""
        return self.start(*cells, options=options, config=config).wait(seconds)
