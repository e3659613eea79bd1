"""The study's graph as jobs of a cluster, called as the book's page on reproducing says."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.pipeline.conftest import TinyRepository
from tests.slurm import cluster

PLUGIN = "snakemake_executor_plugin_slurm"
# Without slurmdbd there is no sacct. Everything else is the profile's own; only the tests look sooner.
SETTINGS = (
    "--workflow-profile", "workflow/profiles/slurm", "--slurm-status-command", "squeue",
    "--slurm-init-seconds-before-status-checks", "4", "--latency-wait", "5",
)  # fmt: skip


def missing() -> str:
    """Return why no job can be run here, in words; empty where it can."""
    return cluster.missing() or ("" if importlib.util.find_spec(PLUGIN) else f"{PLUGIN} is not installed")


@dataclass(frozen=True)
class Study:
    """A copy of the repository, and the cluster on which it runs."""

    repository: TinyRepository
    cluster: cluster.Cluster
    profile: str = "embedded"

    @property
    def build(self) -> Path:
        return self.repository.path / "build" / self.profile

    def start(self, *cells: str, options: tuple[str, ...] = (), config: str = "") -> subprocess.Popen[str]:
        """Return Snakemake at work on cells; what it prints goes to a file beside the repository."""
        paths = [str(self.repository.path), *filter(None, [os.environ.get("PYTHONPATH")])]
        targets = [f"build/{self.profile}/executed_cells/{cell}.ipynb" for cell in cells]
        environment = self.cluster.environment | {"PYTHONPATH": os.pathsep.join(paths)}
        with self.output.open("w") as stream:
            return subprocess.Popen(
                [
                    sys.executable, "-m", "snakemake", *targets, *SETTINGS, *options,
                    "--config", f"profile={self.profile}", *config.split(),
                ],
                cwd=self.repository.path, env=environment, stdout=stream, stderr=subprocess.STDOUT, text=True,
            )  # fmt: skip

    @property
    def output(self) -> Path:
        return self.repository.path.with_suffix(".txt")

    def run(self, *cells: str, options: tuple[str, ...] = (), config: str = "", seconds: float = 300) -> int:
        """Its exit status."""
        return self.start(*cells, options=options, config=config).wait(seconds)
