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
from click.testing import CliRunner

from radeval_lib import explain, score
from radeval_lib.categories import CATEGORIES
from radeval_lib.cli import main
from radeval_lib.data import guard, guarded_texts
from radeval_lib.metrics import by_rules
from radeval_lib.paths import BOOK, BUILD
from radeval_lib.pipeline import book, book_sources, browser_judge, staging
from workflow.check_site import judge_faults

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


def test_the_wanted_files_of_the_pinned_package_are_taken(package: Path) -> None:
    assert browser_judge.runtime() == {"pyodide.asm.wasm": b"\0asm\xffpyodide.asm.wasm"}


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


def test_a_missing_or_another_package_is_one_line_with_its_remedy(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def told() -> str:
        done = CliRunner().invoke(main, ["render", "--profile", "smoke", "--browser-judge"])
        assert done.exit_code == 2
        assert done.stderr.count("\n") == 1
        return done.stderr

    monkeypatch.setattr(browser_judge, "BUILD", package.parent)
    monkeypatch.setattr("radeval_lib.cli.building.BUILD", package.parent)
    monkeypatch.setattr(staging, "settings", lambda _: "")
    package.write_bytes(package.read_bytes() + b"x")
    assert "its SHA-512 is not the one that is pinned. Remove it and run `npm pack pyodide@1.0.0" in told()
    package.unlink()
    assert "no package pyodide@1.0.0. Run `npm pack pyodide@1.0.0 --pack-destination" in told()


def test_the_pin_is_whole() -> None:
    pin = browser_judge.pinned()
    assert len(base64.b64decode(pin["sha512"])) == 64
    assert browser_judge.package() == BUILD / f"pyodide-{pin['version']}.tgz"
    page = (BOOK / "reproduce.md").read_text(encoding="utf-8")
    assert f"npm pack {browser_judge.specifier()} --pack-destination build\n" in page


def test_its_modules_judge_alone_as_they_do_here(tmp_path: Path) -> None:
    """Without site-packages, so that a module that is missing, or needs more, cannot be imported."""
    content = browser_judge.archive()
    assert content == browser_judge.archive()
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
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program],
        input=json.dumps(PAIRS),
        capture_output=True,
        text=True,
        check=False,
    )
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
    errors = [one for one in reasons if one["kind"] == "error"]
    keys = ("category", "says", "rule", "significant", "weight")
    assert shown["errors"] == [{key: one[key] for key in keys} for one in errors]
    assert shown["matched"] == [one["finding"] for one in reasons if one["kind"] == "matched"]
    for side, text in zip(("reference", "candidate"), pair, strict=True):
        segments = shown["sides"][side]["segments"]
        assert "".join(part for part, _, _ in segments) == text
        ends = sorted(number for _, _, numbers in segments for number in numbers)
        assert ends == [n for n, one in enumerate(errors, start=1) if pd.notna(one[f"{side}_start"])]


def test_what_is_not_read_is_marked_and_listed() -> None:
    candidate = "Large blarney. Small zzyzx left effusion."
    side = by_rules.shown("Lungs are clear.", candidate)["sides"]["candidate"]
    assert side["unread"] == ["Large blarney"]
    assert [words for one in side["in_part"] for words in one["words"]] == [["zzyzx", "word"]]
    assert [part for part, kinds, _ in side["segments"] if "unread" in kinds] == ["Large blarney", "zzyzx"]
    assert side["share"] < 1


def test_examples_have_the_errors_that_they_are_named_for() -> None:
    examples = browser_judge.examples()
    assert len({text for _, *texts in examples for text in texts}) == 2 * len(examples)
    for title, reference, candidate in examples:
        found = by_rules.shown(reference, candidate)["errors"]
        planted = [] if title.endswith("misses") else browser_judge.EXAMPLES[title][1]
        told = sorted((one["category"], one["significant"]) for one in found)
        assert told == sorted((CATEGORIES[letter], significant) for letter, significant in planted)


def test_the_page_of_the_judge_is_left_out_without_it(tmp_path: Path, package: Path) -> None:
    source = (BOOK / "try_the_judge.md").read_text(encoding="utf-8")
    assert source.count(browser_judge.MARK) == 1
    target = tmp_path / "book"

    def staged(judge: bool) -> tuple[str, str, list[str]]:
        staging.stage(tmp_path / "executed", target, judge=judge)
        pages = [target / name for name in ("try_the_judge.md", "reproduce.md")]
        page, other = (one.read_text(encoding="utf-8") for one in pages)
        return page, other, staging.pages_of(target / staging.CONTENTS)

    page, other, contents = staged(judge=False)
    assert "# Try the judge (left out)\n\nThis build leaves the page out: its judge runs in" in page
    assert f"`npm pack {browser_judge.specifier()} --pack-destination" in page
    assert "Try the judge (left out) needs a Python for browsers" in other
    assert "try_the_judge" not in contents
    assert '"try_the_judge"' not in (target / "_extra" / "page_texts.js").read_text(encoding="utf-8")
    page, other, contents = staged(judge=True)
    assert "Paste a report" in page
    assert '<div id="judge"' in page
    assert browser_judge.MARK not in page
    assert "{ref}`try-the-judge` needs" in other
    assert "try_the_judge" in contents


def test_a_book_has_the_judge_where_its_package_is_in_reach(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert browser_judge.in_reach()
    there = book_sources.prose_digest()
    package.unlink()
    assert not browser_judge.in_reach()
    assert book_sources.prose_digest() != there  # so that the book is rendered again


def test_a_book_that_lacks_a_file_of_its_judge_is_not_published(tmp_path: Path, package: Path) -> None:
    files, form = browser_judge.staged()
    page = tmp_path / "try_the_judge.html"
    page.write_text("<p>none</p>")
    assert judge_faults(tmp_path) == []
    assert judge_faults(tmp_path, wanted=True) == ["try_the_judge: no judge: render with --browser-judge"]
    page.write_text(form)
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    assert judge_faults(tmp_path, wanted=True) == []
    (tmp_path / "judge" / "worker.js").write_text("spoiled")
    (tmp_path / "judge" / "pyodide-1.0.0" / "pyodide.asm.wasm").unlink()
    assert judge_faults(tmp_path) == [
        "try_the_judge: pyodide-1.0.0/pyodide.asm.wasm is missing or changed",
        "try_the_judge: worker.js is missing or changed",
    ]
    (tmp_path / "judge" / browser_judge.LIST).unlink()
    assert len(judge_faults(tmp_path)) == 1


def test_the_form_is_one_block_of_html_in_markdown_and_its_texts_are_escaped(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browser_judge, "examples", lambda: [("a", '"><script>x</script>', "y\n\nz")])
    _, form = browser_judge.staged()
    assert "\n\n" not in form
    assert form.count("<script") == 1  # its own
