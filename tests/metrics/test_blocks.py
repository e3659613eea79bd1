"""Scoring by several processes: the same files, whatever is killed."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pandas as pd
import psutil
import pytest

from radeval_lib.metrics import MetricError, blocks, create, parquet_files, score_file, score_files
from radeval_lib.metrics.blocks import Block, ScoredBlock
from radeval_lib.rules.generator.generator import generate

METRICS = ["bleu", "green_rules_errors"]  # they begin fast
OUTPUTS = ("out.csv", "out.csv.about.json", "out.csv.explained.jsonl", "page.html")


def _write(folder: Path, rows: int) -> Path:
    texts = [report.findings.text for report in generate(rows + 1, min_findings=2)]
    pairs = [
        {"reference": one, "candidate": other, "group": "ab"[len(one) % 2]} for one, other in pairwise(texts)
    ]
    pd.DataFrame(pairs).to_csv(folder / "in.csv", index=False)
    return folder / "in.csv"


def _score(folder: Path, **settings) -> score_files.ScoredFile:
    files_of_run = folder / "in.csv", folder / "out.csv"
    return score_file(METRICS, *files_of_run, explain=True, report=folder / "page.html", **settings)


def _outputs(folder: Path) -> list[bytes]:
    return [(folder / name).read_bytes() for name in OUTPUTS]


def test_workers_and_blocks_change_nothing(tmp_path, monkeypatch) -> None:
    _write(tmp_path, 60)
    _score(tmp_path)
    whole = _outputs(tmp_path)
    for chunk, workers in ((7, 1), (9, 2)):
        monkeypatch.setattr(score_files, "CHUNK", chunk)
        done: list[tuple[int, int]] = []
        _score(tmp_path, workers=workers, progress=lambda *rows, done=done: done.append(rows))
        assert _outputs(tmp_path) == whole
        assert done == [(min(rows, 60), 60) for rows in range(chunk, 60 + chunk, chunk)]
    assert not list(tmp_path.glob(".*"))


def test_parquet_is_read_and_written_in_parts(tmp_path, monkeypatch) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = pd.read_csv(_write(tmp_path, 60))
    rows.to_parquet(tmp_path / "in.parquet")
    monkeypatch.setattr(score_files, "CHUNK", 7)
    monkeypatch.setattr(parquet_files, "_GROUP_ROWS", 25)
    for workers in (1, 2):
        score_file(METRICS, tmp_path / "in.parquet", tmp_path / f"{workers}.parquet", workers=workers)
    assert (tmp_path / "1.parquet").read_bytes() == (tmp_path / "2.parquet").read_bytes()
    assert parquet.read_metadata(tmp_path / "1.parquet").num_row_groups == 3
    _score(tmp_path)
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "1.parquet"), pd.read_csv(tmp_path / "out.csv"))


def _children() -> list[psutil.Process]:
    """The workers, without what Python itself has beside them."""
    return [one for one in psutil.Process().children() if "spawn_main" in " ".join(one.cmdline())]


def test_a_worker_that_is_killed_is_reported_and_what_was_scored_is_kept(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(score_files, "CHUNK", 5)
    _write(tmp_path, 60)
    _score(tmp_path)
    whole = _outputs(tmp_path)
    (tmp_path / OUTPUTS[0]).unlink()

    def kill(done: int, rows: int) -> None:
        if done == 15:
            _children()[0].kill()

    said = r"a process that scores was ended from outside.* smaller number. What was scored is kept"
    with pytest.raises(MetricError, match=said):
        _score(tmp_path, workers=2, progress=kill)
    assert not (tmp_path / OUTPUTS[0]).exists()
    assert not _children()
    assert _score(tmp_path, workers=2).kept >= 15
    assert _outputs(tmp_path) == whole


class _KilledInAResult:
    """Stands for a scorer whose process is killed when it has sent the beginning of a result."""

    def __call__(self, block: Block) -> ScoredBlock:
        frame = sys._getframe()
        while "result_queue" not in frame.f_locals:
            assert frame.f_back is not None
            frame = frame.f_back
        results = frame.f_locals["result_queue"]
        if block.first:
            return ScoredBlock()
        results._wlock.acquire()
        os.write(results._writer.fileno(), struct.pack("!i", 1_000))
        os.kill(os.getpid(), signal.SIGKILL)
        return ScoredBlock()


def test_a_worker_that_is_killed_in_the_middle_of_a_result_is_reported(monkeypatch) -> None:
    monkeypatch.setattr(blocks, "_PATIENCE", 0.2)
    sent = [(number, Block(number, [], ())) for number in range(6)]
    with pytest.raises(MetricError, match="a process that scores was ended from outside"):
        list(blocks.in_order(sent, _KilledInAResult(), 2))
    assert not _children()


def test_an_error_of_a_worker_is_reported_in_its_own_words(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(score_files, "CHUNK", 5)
    source = _write(tmp_path, 20)
    graphs = tmp_path / "graphs.json"  # of no text that is scored
    graphs.write_text("{}")
    wanted = {"bleu": {}, "f1_radgraph": {"graph_model": str(graphs)}}
    scored = score_file(wanted, source, tmp_path / "out.csv", workers=2)
    assert list(scored.chosen.metrics) == ["bleu"]
    assert "no annotation of text 0" in scored.chosen.left_out["f1_radgraph"]
    with pytest.raises(MetricError, match=r"f1_radgraph, graphs.json: no annotation of text 0"):
        score_file({"f1_radgraph": wanted["f1_radgraph"]}, source, tmp_path / "other.csv", workers=2)


def test_how_many_processes_are_worth_it(monkeypatch) -> None:
    monkeypatch.setattr(score_files, "cores", lambda: 4)

    def default(name: str, rows: int, device: str = "cpu", **settings: str) -> int:
        return score_files.default_workers({name: create(name, **settings)}, {name: device}, rows)

    assert [default("bleu", rows) for rows in (0, 5_000, 10_000, 10**6)] == [1, 1, 2, 4]
    assert [default("bertscore", rows) for rows in (0, 999, 2_000, 10**6)] == [1, 1, 2, 4]
    assert default("bertscore", 10**6, "some GPU") == 1
    assert default("green", 10**6, judge="http://localhost:1") == 1
    assert default("green", 10**6, judge="rules") == 4


RUN = """
import signal, sys
from radeval_lib.metrics import score_file, score_files
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
score_files.CHUNK = 10
if __name__ == "__main__":
    settings = dict(explain=True, report="page.html", workers=int(sys.argv[1]))
    settings["progress"] = lambda done, rows: print(done, flush=True)
    score_file(sys.argv[2:], "in.csv", "out.csv", **settings)
"""


def _run(folder: Path, workers: int) -> subprocess.Popen[str]:
    (folder / "run.py").write_text(RUN)
    command = [sys.executable, "run.py", str(workers), *METRICS]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)


@pytest.fixture
def began() -> Iterator[list[psutil.Process]]:
    """Processes to end where a test fails."""
    found: list[psutil.Process] = []
    yield found
    for one in found:
        if one.is_running():
            one.kill()


@pytest.mark.parametrize(("how", "workers"), [(signal.SIGKILL, 1), (signal.SIGKILL, 2), (signal.SIGINT, 2)])
def test_a_run_that_is_killed_leaves_no_process_and_goes_on(
    tmp_path, monkeypatch, began, how, workers
) -> None:
    _write(tmp_path, 200)
    monkeypatch.setattr(score_files, "CHUNK", 10)
    _score(tmp_path)
    whole = _outputs(tmp_path)
    for name in OUTPUTS:
        (tmp_path / name).unlink()
    first = _run(tmp_path, workers)
    assert first.stdout is not None
    assert [first.stdout.readline() for _ in range(3)] == ["10\n", "20\n", "30\n"]
    began += psutil.Process(first.pid).children(recursive=True)
    os.kill(first.pid, how)
    first.communicate(timeout=60)
    gone, alive = psutil.wait_procs(began, timeout=60)
    assert not alive, gone
    assert not [name for name in OUTPUTS if (tmp_path / name).exists()]
    second = _run(tmp_path, workers)
    assert second.communicate(timeout=120)[0].split()[-1] == "200"
    assert not second.returncode
    assert _outputs(tmp_path) == whole


PEAK = """
import resource, sys
from radeval_lib.metrics import score_file
name, *settings = sys.argv[1].split()
wanted = {name: dict(one.split("=") for one in settings)}
score_file(wanted, "in.csv", "out.csv", explain=True, report="page.html")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("metric", "rows"),
    [("green_rules_errors", 4_000), ("bertscore encoder=packaged-minilm-1 layer=none", 1_000)],
)
def test_memory_does_not_grow_with_the_file(tmp_path, metric, rows) -> None:
    peaks = []
    few = pd.read_csv(_write(tmp_path, 501))  # other blocks each time, of the same words
    for times in (1, 4):
        pd.concat([few] * (times * rows // 501)).to_csv(tmp_path / "in.csv", index=False)
        done = subprocess.run(
            [sys.executable, "-c", PEAK, metric], cwd=tmp_path, stdout=subprocess.PIPE, text=True, check=True
        )
        peaks.append(float(done.stdout))
    assert peaks[1] < 1.1 * peaks[0] + 10, peaks
