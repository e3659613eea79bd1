"""The guard finds planted leaks of a restricted corpus in pages and results, and nothing else."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import re
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from random import Random

import mathjax
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from radeval_lib import checksums, green_analysis
from radeval_lib.data import RestrictedText, guard, leak_readings, leak_sequences
from radeval_lib.data.guard import LeakError, remove_leaks, scan

SECRET = (
    "There is a faint nodular opacity beneath the seventh left rib. It was not seen in March and may be "
    "a vessel. Old clips lie near the spleen."
)
SHORT = "Faint opacity beneath seventh rib."  # five words, which count whole
CORPORA = {"mimic3_rrs": [RestrictedText(SECRET, "mimic3_rrs"), RestrictedText(SHORT, "mimic3_rrs")]}
PUBLIC_PAGE = "<html><body><p>The score is 0.54. There is a faint hope that opacity fades.</p></body></html>"


@pytest.fixture
def build(tmp_path: Path) -> Path:
    (tmp_path / "rales").mkdir()
    (tmp_path / "index.html").write_text(PUBLIC_PAGE)
    (tmp_path / "rales" / "scores.html").write_text(PUBLIC_PAGE)
    (tmp_path / "results.json").write_text(json.dumps({"value": 0.5, "note": "faint opacity"}))
    return tmp_path


def test_a_build_without_a_leak_passes(build: Path) -> None:
    """Numbers, hashes, weights, and single words of the corpus in files, names and records."""
    rng = Random(0)
    rows = [{"id": number, "bytes": 62_465_680 + number, "score": rng.random()} for number in range(999)]
    (build / "table.json").write_text(json.dumps({"seed": 20230704, "table": rows}))
    (build / "sums.txt").write_text(f"{rng.getrandbits(256):064x} 2026-11-22 10:00:00 0.50123456789\n" * 99)
    (build / "model.safetensors").write_bytes(rng.randbytes(1 << 20))
    words = SECRET.lower().replace(".", "").split()
    cells = [{"outputs": [{"text": [rng.choice(words)]}], "source": ["show()"]} for _ in range(60)]
    (build / "a.ipynb").write_text(json.dumps({"cells": cells, "data": {"image/svg+xml": "<svg></svg>"}}))
    for number in range(60):
        (build / f"{number}-{rng.choice(words)}.txt").write_text(" ".join(rng.choices(words, k=3)))
    remove_leaks(build, scan(build, CORPORA))


def test_a_leak_is_named_without_its_words(build: Path) -> None:
    page = build / "rales" / "scores.html"
    page.write_text(PUBLIC_PAGE.replace("</body>", f"<p>{SECRET}</p></body>"))
    with pytest.raises(LeakError) as caught:
        remove_leaks(build, scan(build, CORPORA))
    message = str(caught.value)
    assert "rales/scores.html" in message
    assert "mimic3_rrs" in message
    assert "index.html" not in message
    for word in ("nodular", "March", "seventh"):
        assert word not in message


@pytest.mark.parametrize(
    "content",
    [
        "<p>IT WAS -- not seen (in March), and may</p>",
        "<p>It was not seen in&nbsp;March &#97;nd may</p>",
        f"<p>{SHORT}</p>",  # a short text, whole
        json.dumps({SECRET: 1}),
        json.dumps({"lines": ["It was not", "seen in March and may be"]}),
        '{"text": "' + SECRET,  # cut short
        "[" * 900 + json.dumps(SECRET) + "]" * 900,
    ],
)
def test_leaks_in_unusual_forms(build: Path, content: str) -> None:
    (build / "results.json").write_text(content)
    assert [(leak.file, leak.corpus) for leak in scan(build, CORPORA)] == [("results.json", "mimic3_rrs")]


def test_seven_words_are_a_leak_where_they_are_rare(build: Path) -> None:
    (build / "index.html").write_text("<p>It was not seen in March and</p>")
    assert scan(build, CORPORA)
    often = [f"{SECRET} Number {word}." for word in ("one", "two", "three")]
    assert not scan(build, {"mimic3_rrs": often})
    (build / "index.html").write_text("<p>It was not seen in March and may</p>")
    assert scan(build, {"mimic3_rrs": often})


@pytest.mark.parametrize(
    ("phrase", "leaks"),
    [
        ("beneath the seventh left", True),
        ("a faint nodular opacity", True),
        ("beneath the <b>seventh</b> left", True),
        ("beneath the old seventh left", False),  # the words do not adjoin
        ("the seventh left", False),  # three words
        ("seventh left rib. It was", False),  # the end of a sentence within
        ("nodular opacity beneath the", False),  # a function word last
        ("may be a vessel", False),  # two words of three letters and more
    ],
)
def test_phrases_that_are_rare(build: Path, phrase: str, leaks: bool) -> None:
    (build / "index.html").write_text(f"<p>So {phrase} x</p>")
    assert bool(scan(build, CORPORA)) is leaks
    assert not scan(build, {"mimic3_rrs": [f"{SECRET} {word}" for word in ("One", "Two", "Three")]})
    assert not scan(build, CORPORA, own_texts=[f"Of our own: {re.sub('<.*?>', '', phrase)}."])


def test_own_text_allows_no_sentence(build: Path) -> None:
    (build / "index.html").write_text(f"<p>{SECRET} 50414267</p>")
    assert scan(build, CORPORA, own_texts=[SECRET])
    assert scan(build, {"x": ["seen in 50414267"]}, own_texts=["50414267"])


def test_the_studys_own_texts_are_read_until_they_say_all(build: Path) -> None:
    """Most of them are generated, which takes longer than all else that the guard does."""

    def own(*texts: str) -> Iterator[str]:
        yield from texts
        pytest.fail("nothing was left to look for")

    assert not scan(build, CORPORA, own_texts=own())
    (build / "index.html").write_text("<p>So beneath the seventh left x</p>")
    assert scan(build, CORPORA)
    assert not scan(build, CORPORA, own_texts=own("Something else.", "It is beneath the seventh left one."))


@pytest.mark.parametrize(
    ("text", "leaks"),
    [
        ('{"subject_id": 10416}', True),
        ("SUBJECT_ID,score\n99999,1\n10416,2\n", True),
        ("<table><tr><th>subject_id</th><th>f1</th></tr><tr><td>10416</td><td>1</td></tr></table>", True),
        ("read patient 10416, row 3", True),
        ("10416 pairs", False),
        ("accession CR19-0045123", True),
        ("CR190045123.json", True),
        ("#CR190045124", False),
        ("subject_id: 10416.0", True),
        ("dicom 02aa804e-bde0afdd-afc0b34e-7bc16942-84770384.jpg", True),
        ("174413ec-4ec4c1f7-34ea26b7-c5f994f8-79ef1962", False),
    ],
)
def test_identifiers_of_few_signs(build: Path, text: str, leaks: bool) -> None:
    (build / "results.json").write_text(text)
    picture = "02aa804e-bde0afdd-afc0b34e-7bc16942-84770384"
    corpus = {"x": ["id 10416", "id CR19-0045123", picture, "a text of a few words more"]}
    assert bool(scan(build, corpus)) is leaks
    assert not scan(build, corpus, public=[f"id 10416, CR19-0045123, {picture}"])


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(["lung", "clear", "mass", "left", "no"]), min_size=5, max_size=20), st.data())
def test_every_sequence_of_a_corpus_is_found(tokens: list[str], draw: st.DataObject) -> None:
    length = min(leak_sequences.LEAK_RUN, len(tokens))
    start = draw.draw(st.integers(0, len(tokens) - length))
    page = leak_sequences.hash_text(" ".join(tokens[start : start + length]), frozenset(tokens))
    assert len(guard.find_sequences([" ".join(tokens)], leak_sequences.merge([page])))


def test_public_texts_hold_what_the_papers_print_and_open_sets_say(tmp_path: Path) -> None:
    """GREEN prints a report of its appendix A.2, which a restricted set may hold too."""
    printed = "faint infiltrates in the upper middle right field and doubtful retrocardiac"
    (tmp_path / "openi").mkdir()
    (tmp_path / "a.html").write_text(f"<p>{printed}</p>")
    assert scan(tmp_path, {"green_training": [printed]})
    assert not scan(tmp_path, {"green_training": [printed]}, guard.read_public_texts(None))


def test_the_layout_of_an_analysis_is_no_leak_but_what_it_lists_is(tmp_path: Path) -> None:
    text = "a small pleural effusion on the left that is older than the line"
    analysis = green_analysis.render([[text], *[0] * 5], [0] * 6, 2)
    (tmp_path / "root" / "green_training").mkdir(parents=True)
    turns = [{"from": "human", "value": "Reference: \nCandidate: "}, {"from": "gpt", "value": analysis}]
    (tmp_path / "root" / "green_training" / "train.json").write_text(json.dumps([{"conversations": turns}]))
    corpora = guard.list_restricted_texts(tmp_path / "root")
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "a.html").write_text(green_analysis.render([0] * 6, [0] * 6, 1))
    assert not scan(tmp_path / "pages", corpora)
    (tmp_path / "pages" / "a.html").write_text(text)
    assert scan(tmp_path / "pages", corpora)


PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(64)


def test_pictures_are_refused_unless_they_are_trusted(build: Path) -> None:
    (build / "_images").mkdir()
    for name, content in {"a.png": PICTURE, "b.pdf": b"%PDF-1.7", "c.png": PICTURE + b"ours"}.items():
        (build / "_images" / name).write_bytes(content)
    (build / "_static").mkdir()
    (build / "_static" / "theme.png").write_bytes(PICTURE)
    (build / "page.html").write_text("<img alt='x' src='data:image/png;base64,iVBORw0KGgo='>")
    (build / "run.ipynb").write_text(json.dumps({"cells": [{"data": {"image/png": "iVBORw0KGgo="}}]}))
    (build / "figure.svg").write_text("<svg><image href='data:image/png;base64,iVBORw0KGgo='/></svg>")
    (build / "drawing.html").write_text("data:image/svg+xml;utf8,<svg/> data:image/png;base64,{picture}")
    (build / "state.pt").write_bytes(pickle.dumps([0.5]))  # what no person reads
    trusted = [checksums.of_bytes(PICTURE + b"ours")]
    files = {leak.file for leak in scan(build, CORPORA, trusted=trusted)}
    assert files == {"_images/a.png", "_images/b.pdf", "page.html", "run.ipynb", "figure.svg"}
    assert not scan(build, {})


def test_fonts_of_formulas_are_not_refused(build: Path) -> None:
    font = next(Path(mathjax.__file__).parent.rglob("*.woff")).read_bytes()
    for name in ("book/_extra/mathjax/a.woff", "_build/html/mathjax/fonts/a.woff"):
        (build / name).parent.mkdir(parents=True, exist_ok=True)
        (build / name).write_bytes(font)
    remove_leaks(build, scan(build, CORPORA))
    (build / "a.woff").write_bytes(font)
    assert [leak.file for leak in scan(build, CORPORA)] == ["a.woff"]


def test_a_copy_of_a_file_that_no_person_reads_is_searched(build: Path) -> None:
    for name in (".doctrees/a.txt", "b.txt"):
        (build / name).parent.mkdir(exist_ok=True)
        (build / name).write_text(SECRET)
    assert [leak.file for leak in scan(build, CORPORA)] == ["b.txt"]


def test_a_file_in_which_too_much_is_packed_is_refused(build: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leak_readings, "MAX_UNPACKED_BYTES", 1000)
    (build / "a.gz").write_bytes(gzip.compress(b" " * 900))
    assert not scan(build, CORPORA)
    (build / "b.gz").write_bytes(gzip.compress(b" " * 2000 + SECRET.encode()))
    assert [(leak.file, leak.corpus) for leak in scan(build, CORPORA)] == [("b.gz", "")]


def _zipped(members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def _tarred(name: str, content: bytes, link_to: str = "") -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as bundle:
        member = tarfile.TarInfo(name)
        member.size, member.linkname = len(content), link_to
        member.type = tarfile.SYMTYPE if link_to else tarfile.REGTYPE
        bundle.addfile(member, io.BytesIO(content))
    return stream.getvalue()


ARCHIVES = {
    "tar": _tarred("a.txt", SECRET.encode()),
    "name in a tar.gz": gzip.compress(_tarred(SECRET.replace(" ", "-")[:90], b"nothing")),
    "zip in a gzip": gzip.compress(_zipped({"a.txt": b"nothing", "b.txt": SECRET.encode()})),
}


@pytest.mark.parametrize("kind", ARCHIVES)
def test_archives_are_searched(build: Path, kind: str) -> None:
    (build / "archive").write_bytes(ARCHIVES[kind])
    assert [(leak.file, leak.corpus) for leak in scan(build, CORPORA)] == [("archive", "mimic3_rrs")]


OTHER_KINDS = {
    "PDF": b"%PDF-1.7",
    "pickle in an archive": _zipped({"a.pickle": pickle.dumps([SECRET])}),
    "cut gzip": gzip.compress(SECRET.encode())[:-9],
    "cut zip": _zipped({"b.txt": SECRET.encode()})[:-9],
    "cut tar": _tarred("a.txt", SECRET.encode())[:600],
    "tar with a link to a missing file": _tarred("a.txt", b"", link_to="b.txt"),
}


@pytest.mark.parametrize("kind", OTHER_KINDS)
def test_every_other_kind_of_file_is_refused(build: Path, kind: str) -> None:
    (build / "a.bin").write_bytes(OTHER_KINDS[kind])
    assert [(leak.file, leak.corpus) for leak in scan(build, CORPORA)] == [("a.bin", "")]


def test_what_cannot_be_removed_is_counted_and_the_leak_reported(
    build: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(*_: object, **__: object) -> None:
        raise PermissionError

    for name in ("a.txt", "b.txt"):
        (build / name).write_text(SECRET, encoding="utf-8")
    monkeypatch.setattr(Path, "unlink", denied)
    with pytest.raises(LeakError) as caught:
        remove_leaks(build, scan(build, CORPORA))
    assert "2 files or folders could NOT" in caught.value.remedy


@pytest.mark.parametrize("name", [f"a/{SECRET}", f"{SECRET}/a/b.txt", SECRET.replace(" ", "/")])
def test_names_are_read_and_not_repeated(build: Path, name: str) -> None:
    (build / name).parent.mkdir(parents=True, exist_ok=True)
    (build / name).write_text("1")
    with pytest.raises(LeakError) as caught:
        remove_leaks(build, scan(build, CORPORA))
    assert not {"nodular", "March", "seventh", "rib"} & set(re.findall(r"\w+", str(caught.value)))
    assert not scan(build, CORPORA)
    assert {path.name for path in build.rglob("*")} == {"index.html", "rales", "scores.html", "results.json"}


@pytest.mark.parametrize(
    ("text", "leaks"),
    [
        ("see 50414267", True),
        ("p10/s50414267/a", True),
        ("0.50414267", False),
        ("50414267.5", False),
        ("150414267", False),
        ("a50414267f", False),
        ("5041426", False),
        ("p10000032s50414267.jpg", True),
        ("50414267.0", True),
        ("<td>50,414,267</td>", True),
        ("00041204", True),
        ("150,414,267", False),
        ("2131_05_02", True),
        ("on 2131-05-02", True),
        ("on 2131/5/2", True),
        ("21310502", True),
        ("on 2131-05-03", False),
        ("on 2019-05-02", False),
    ],
)
def test_numbers_and_days_that_the_corpus_names(build: Path, text: str, leaks: bool) -> None:
    corpus = {"x": ["50414267", "5041426", "00041204", "Seen on [**2131-5-2**], not on 2019-05-02.", "1204"]}
    (build / "index.html").write_text(f"{text} 1204")
    assert bool(scan(build, corpus)) is leaks
    assert not scan(build, corpus, public=["50414267 2131-05-02 00041204"])


def test_nothing_that_holds_the_text_stays(build: Path) -> None:
    kept = ["executed/r/b.ipynb", "results/r/b/c.json", "jobs/r/a/other/facts.json"]
    gone = ["build.log", "executed/r/a.ipynb", "book/a.md"]
    whole = ["jobs/r/a/slug/model/notes.txt", "jobs/r/a/slug/facts.json", "_build/html/clean.html"]
    for name in [*kept, *gone, *whole]:
        (build / name).parent.mkdir(parents=True, exist_ok=True)
        (build / name).write_text(SECRET if name in gone or name == whole[0] else "clean")
    with pytest.raises(LeakError):
        remove_leaks(build, scan(build, CORPORA))
    assert all((build / name).exists() for name in kept)
    assert not any((build / name).exists() for name in [*gone, *whole])
    remove_leaks(build, scan(build, CORPORA))
