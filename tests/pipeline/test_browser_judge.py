"""What the judge in the browser is staged from: a pinned package, and modules that need nothing else."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from radeval_lib import explain, score
from radeval_lib.categories import CATEGORIES
from radeval_lib.data import guard, guarded_texts
from radeval_lib.metrics import by_rules
from radeval_lib.pipeline import book, browser_judge, staging, steps

PAIRS = [
    ("Small left effusion. No pneumothorax.", "Large right effusion. Pneumothorax."),
    ("The heart is enlarged.", "Heart size is normal. Large blarney in the left lung."),
    ("History: child with cough.\n\nFindings: mild edema, unchanged.", "Severe edema, worse."),
    ("", "Nodule of 4 mm in the right upper lobe."),
    ("Endotracheal tube 4 cm above the carina.", "Endotracheal tube 1 cm above the carina."),
]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of files as npm packs them, which is the pinned one."""
    path = tmp_path / "pyodide-1.0.0.tgz"
    with tarfile.open(path, "w:gz") as packed:
        for name in ("pyodide.asm.wasm", "console.html"):
            content = b"\0asm\xff" + name.encode()
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(content)
            packed.addfile(entry, io.BytesIO(content))
    digest = base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode()
    pin = {"package": "pyodide", "version": "1.0.0", "sha512": digest, "files": ["pyodide.asm.wasm"]}
    monkeypatch.setattr(browser_judge, "pinned", lambda: pin)
    monkeypatch.setattr(browser_judge, "BUILD", tmp_path)
    return path


def test_a_search_for_restricted_text_knows_its_files(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They cannot be read as text, so that a book on restricted texts would be refused for its own engine."""
    monkeypatch.setattr(
        guarded_texts, "restricted_texts", lambda _: {"own": ["A spiculated mass of the left upper lobe."]}
    )
    monkeypatch.setattr(guarded_texts, "public_texts", lambda _: [])
    monkeypatch.setattr(book, "own_texts", lambda _: [])
    file = tmp_path / "open" / "_build" / "html" / "judge" / "pyodide.asm.wasm"
    file.parent.mkdir(parents=True)
    file.write_bytes(browser_judge.runtime()["pyodide.asm.wasm"])
    book.search(tmp_path / "open", tmp_path)
    package.unlink()
    with pytest.raises(guard.LeakError, match="pyodide"):
        book.search(tmp_path / "open", tmp_path)


def test_the_wanted_files_are_taken_of_the_pinned_package_alone(package: Path) -> None:
    assert browser_judge.in_reach()
    assert steps.prose_digest(judge=True) != steps.prose_digest(judge=False)  # it is rendered again
    assert browser_judge.runtime() == {"pyodide.asm.wasm": b"\0asm\xffpyodide.asm.wasm"}
    package.write_bytes(package.read_bytes() + b"x")
    with pytest.raises(browser_judge.BrowserJudgeError, match="SHA-512"):
        browser_judge.runtime()
    package.unlink()
    assert not browser_judge.in_reach()
    with pytest.raises(browser_judge.BrowserJudgeError, match="npm pack pyodide"):
        browser_judge.runtime()


def test_its_modules_judge_alone_as_they_do_here(tmp_path: Path) -> None:
    """Without site-packages, so that a module that is missing, or needs more, cannot be imported."""
    content = browser_judge.archive()
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        assert not [name for name in packed.namelist() if not name.endswith((".py", ".yml"))]
        assert {name.split("/")[0] for name in packed.namelist()} == {"radeval_lib", "yaml"}
        packed.extractall(tmp_path)
    program = (
        f"import sys, json; sys.path.insert(0, {str(tmp_path)!r})\n"
        f"from {browser_judge.ENTRY} import shown_as_json\nimport yaml\n"
        "assert not hasattr(yaml, 'CSafeLoader')\n"
        "print(json.dumps([shown_as_json(*pair) for pair in json.load(sys.stdin)]))"
    )
    alone, pairs = [sys.executable, "-I", "-S", "-c", program], json.dumps(PAIRS)
    done = subprocess.run(alone, input=pairs, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout) == [by_rules.shown_as_json(*pair) for pair in PAIRS]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("pair", PAIRS)
def test_what_is_shown_is_what_the_library_explains(pair: tuple[str, str]) -> None:
    shown = by_rules.shown(*pair)
    metrics = ["green_rules", "green_rules_errors"]
    values = score([pair[0]], [pair[1]], metrics=metrics)
    assert shown["scores"] == {name: pytest.approx(values[name][0]) for name in metrics}
    reasons = explain([pair[0]], [pair[1]], metrics="green_rules").to_dict("records")
    errors = [row for row in reasons if row["kind"] == "error"]
    keys = ("category", "says", "rule", "significant", "weight")
    assert shown["errors"] == [{key: row[key] for key in keys} for row in errors]
    assert shown["matched"] == [row["finding"] for row in reasons if row["kind"] == "matched"]
    for side, text in zip(("reference", "candidate"), pair, strict=True):
        segments = shown["sides"][side]["segments"]
        assert "".join(part for part, _, _ in segments) == text
        ends = sorted(number for _, _, numbers in segments for number in numbers)
        assert ends == [n for n, row in enumerate(errors, start=1) if pd.notna(row[f"{side}_start"])]


def test_examples_have_the_errors_that_they_are_named_for() -> None:
    examples = browser_judge.examples()
    assert len({text for _, *texts in examples for text in texts}) == 2 * len(examples)
    for title, reference, candidate in examples:
        errors = by_rules.shown(reference, candidate)["errors"]
        planted = [] if title.endswith("misses") else browser_judge.EXAMPLES[title][1]
        listed = sorted((error["category"], error["significant"]) for error in errors)
        assert listed == sorted((CATEGORIES[letter], significant) for letter, significant in planted)


def test_the_page_has_the_judge_as_one_block_of_html_or_says_what_it_lacks(
    tmp_path: Path, package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browser_judge, "examples", lambda: [("a", '"><script>x</script>', "y\n\nz")])
    pages = []
    for judge in (False, True):
        staging.stage(tmp_path / "executed", tmp_path / "book", judge=judge)
        pages.append((tmp_path / "book" / "try_the_judge.md").read_text(encoding="utf-8"))
    without, with_it = pages
    assert "(left out)" in without
    assert browser_judge.specifier() in without
    form = browser_judge.staged()[1]
    assert form in with_it
    assert "\n\n" not in form
    assert form.count("<script") == 1  # its own: the texts of examples are escaped
    assert browser_judge.MARK not in without + with_it
