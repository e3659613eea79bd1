"""What goes wrong on a cluster: cells are whole or absent, none is made twice at once, and the next call
makes what is missing and no more."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from radeval_lib.study.jobs import Job, read
from tests.pipeline.conftest import tiny_repository
from tests.slurm import cluster

pytestmark = [pytest.mark.nightly, cluster.needs_slurm]

LONGEST = 600  # seconds that a call may take

# It says when it begins and ends, and waits between for leave to go on.
BODY = """import os, time
from pathlib import Path
import pandas as pd

gate = Path(os.environ["GATE"])
with (gate / f"{number}.begun").open("a") as stream:
    stream.write(f"{os.environ['SLURM_JOB_ID']} {os.getpid()}\\n")
while not (gate / f"{number}.go").exists():
    time.sleep(0.1)
run.save({"squares": pd.DataFrame({"n": [number], "power": [number**2]})})
with (gate / f"{number}.ended").open("a") as stream:
    stream.write("ended\\n")"""


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[cluster.Cluster]:
    with cluster.running(tmp_path_factory.mktemp("slurm") / "cluster", workers=8) as started:
        yield started


class Cells:
    """A study of cells 0 to 9, of which each waits for leave to end."""

    def __init__(self, folder: Path, slurm: cluster.Cluster) -> None:
        self.gate = folder / "gate"
        self.gate.mkdir()
        (folder / "repository").mkdir()
        tiny = tiny_repository(folder / "repository")
        tiny.plan_jobs(range(10))
        self.tiny, self.slurm, self.study = tiny, slurm, cluster.Study(tiny, slurm)
        self.write(BODY)

    def write(self, body: str) -> None:
        self.tiny.write("facts/cell", body, parameters={"number": 0}, begin="number=number")

    def start(self, *numbers: int, options: tuple[str, ...] = ()) -> subprocess.Popen[str]:
        self.engine = self.study.start(*(f"facts/cell/{number}" for number in numbers), options=options)
        return self.engine

    def clear(self) -> None:
        """End what a failed test left at work."""
        self.engine.kill()
        self.slurm.call("scancel", "--user=root")
        cluster.wait(lambda: not self.slurm.call("squeue", "--noheader"), "jobs do not end")

    def noted(self, number: int, event: str) -> list[str]:
        path = self.gate / f"{number}.{event}"
        return path.read_text().splitlines() if path.exists() else []

    def begun(self, *numbers: int, times: int = 1) -> None:
        """Wait until each of them has begun so often."""
        for number in numbers:
            problem = f"cell {number} does not begin; see {self.study.output}"
            cluster.wait(lambda n=number: len(self.noted(n, "begun")) >= times, problem, 300)

    def job(self, number: int) -> str:
        return self.noted(number, "begun")[-1].split()[0]

    def go(self, *numbers: int) -> None:
        for number in numbers:
            (self.gate / f"{number}.go").touch()

    def whole(self) -> set[int]:
        """Return cells that are there, with both of their outputs; another state of a cell is a failure."""
        numbers = set()
        for number in range(10):
            cell = Job.of("facts/cell", number=number)
            folder = self.study.build / "jobs" / "facts" / "cell" / str(number)
            executed = (self.study.build / "executed_jobs" / "facts" / "cell" / f"{number}.ipynb").exists()
            assert executed == (folder / "facts.json").exists(), f"half of cell {number}"
            if executed:
                table = read(folder, cell, "embedded").tables["squares"]
                numbers.add(int(table["n"].iloc[0]))
        return numbers

    def finish(self, *numbers: int) -> None:
        """A further call makes what is missing, and the one after it nothing."""
        self.go(*numbers)
        before = {number: len(self.noted(number, "ended")) for number in self.whole()}
        assert self.start(*numbers).wait(LONGEST) == 0, self.study.output.read_text()
        assert self.whole() == set(numbers)
        for number in numbers:
            assert number not in before or len(self.noted(number, "ended")) == before[number], "made again"
        assert self.start(*numbers).wait(LONGEST) == 0
        assert "Nothing to be done" in self.study.output.read_text()
        assert not list(self.study.build.rglob("*.part-*"))


@pytest.fixture
def cells(tmp_path: Path, slurm: cluster.Cluster, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cells]:
    made = Cells(tmp_path, slurm)
    monkeypatch.setenv("GATE", str(made.gate))
    yield made
    made.clear()


def test_cancelled_killed_and_late_jobs_leave_nothing_and_are_made_later(cells: Cells) -> None:
    at_work = cells.start(0, 1, 2, 3)
    cells.begun(0, 1, 2, 3)
    cells.slurm.call("scancel", cells.job(0))
    os.kill(int(cells.noted(1, "begun")[0].split()[1]), signal.SIGKILL)  # its kernel, as for want of memory
    cells.slurm.call("scontrol", "update", f"JobId={cells.job(2)}", "TimeLimit=1")
    cells.go(3)
    assert at_work.wait(LONGEST) != 0
    states = cells.slurm.states()
    ends = [states[cells.job(number)] for number in range(4)]
    assert ends == ["CANCELLED", "FAILED", "TIMEOUT", "COMPLETED"]
    assert cells.whole() == {3}
    cells.finish(0, 1, 2, 3)
    assert [len(cells.noted(number, "ended")) for number in range(4)] == [1, 1, 1, 1]


def test_a_requeued_job_is_waited_for_and_made_once(cells: Cells) -> None:
    at_work = cells.start(0, 1)
    cells.begun(0, 1)
    cells.slurm.call("scontrol", "requeue", cells.job(0))
    cells.begun(0, times=2)
    assert not psutil.pid_exists(int(cells.noted(0, "begun")[0].split()[1]))
    cells.go(0, 1)
    assert at_work.wait(LONGEST) == 0, cells.study.output.read_text()
    assert cells.whole() == {0, 1}
    assert [len(cells.noted(number, "ended")) for number in (0, 1)] == [1, 1]
    cells.finish(0, 1)


def test_a_node_that_is_given_up_makes_nothing_twice_at_once(cells: Cells) -> None:
    at_work = cells.start(0)
    cells.begun(0)
    job = cells.job(0)
    cells.slurm.kill("slurmd")
    cluster.wait(lambda: cells.slurm.states()[job] != "RUNNING", "the node is not given up", 120)
    cells.slurm.start("slurmd")
    cells.go(0)
    at_work.wait(LONGEST)
    assert cells.whole() <= {0}
    cells.finish(0)
    assert len(cells.noted(0, "ended")) <= 1


@pytest.mark.parametrize("options", [(), ("--keep-incomplete",)])
def test_a_job_that_failed_after_its_cell_was_whole(cells: Cells, options: tuple[str, ...]) -> None:
    at_work = cells.start(0, options=options)
    cells.begun(0)
    cells.go(0)
    executed = cells.study.build / "executed_jobs" / "facts" / "cell" / "0.ipynb"
    cluster.wait(executed.exists, "no cell")
    cells.slurm.call("scancel", cells.job(0))
    assert at_work.wait(LONGEST) != 0
    assert cells.whole() == ({0} if options else set())
    cells.finish(0)


def test_an_old_cell_does_not_pass_for_a_new_one_that_failed(cells: Cells) -> None:
    cells.finish(0)
    cells.write(BODY.replace("number**2", "number**3 + 5"))
    cells.slurm.call("scontrol", "update", f"NodeName={cells.slurm.node}", "State=DRAIN", "Reason=test")
    at_work = cells.start(0, options=("--keep-incomplete",))
    cluster.wait(lambda: "PENDING" in cells.slurm.states().values(), "no job waits", 120)
    waiting = [job for job, state in cells.slurm.states().items() if state == "PENDING"]
    cells.slurm.call("scancel", *waiting)
    assert at_work.wait(LONGEST) != 0
    cells.slurm.call("scontrol", "update", f"NodeName={cells.slurm.node}", "State=RESUME")
    assert cells.start(0).wait(LONGEST) == 0
    folder = cells.study.build / "jobs" / "facts" / "cell" / "0"
    cell = Job.of("facts/cell", number=0)
    assert read(folder, cell, "embedded").tables["squares"]["power"].tolist() == [5]
