"""Getting and checking files, against a server on this machine; nothing else is asked for anything."""

from __future__ import annotations

import errno
import hashlib
import http.server
import io
import json
import os
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from radeval_lib.data import fetch, manifests
from radeval_lib.data.errors import ChecksumError, DataRootError, FetchError, ManifestError
from radeval_lib.data.manifests import DataFile, Manifest, load_manifest, names
from tests.robustness import archives

Pack = Callable[[dict[str, bytes]], bytes]
CONTENT = bytes(range(256)) * 400
DIGEST = hashlib.sha256(CONTENT).hexdigest()


class Server(http.server.ThreadingHTTPServer):
    """Serves CONTENT; can break off, refuse ranges or send something else."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.content = CONTENT
        self.break_after: int | None = None
        self.ranges = True
        self.status = 200
        self.requested: list[tuple[str, str]] = []

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hung up is part of the test."""


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def _head(self) -> bytes:
        wanted = self.headers.get("Range", "")
        self.server.requested.append((self.command, wanted))
        assert self.headers["Accept-Encoding"] == "identity"
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and self.server.ranges else 0
        body = self.server.content[start:]
        self.send_response(206 if start else self.server.status)
        self.send_header("Content-Length", str(len(body)))
        if self.server.ranges:
            self.send_header("Accept-Ranges", "bytes")
        self.end_headers()
        return body

    def do_HEAD(self) -> None:
        self._head()

    def do_GET(self) -> None:
        body = self._head()
        self.wfile.write(body[: self.server.break_after])

    def log_message(self, *_: object) -> None:
        """Quiet."""


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield running
    running.shutdown()
    running.server_close()


def _use(monkeypatch: pytest.MonkeyPatch, *files: DataFile, **changes: object) -> None:
    manifest = Manifest(**{**load_manifest("openi").__dict__, "name": "toy", "files": files, **changes})

    def load(name: str) -> Manifest:
        return manifest if name == "toy" else load_manifest(name)

    monkeypatch.setattr(fetch, "load_manifest", load)
    monkeypatch.setattr(fetch, "names", lambda: ["toy"])


@pytest.fixture
def toy(server: Server, monkeypatch: pytest.MonkeyPatch) -> DataFile:
    entry = DataFile("toy/a.bin", DIGEST, len(CONTENT), f"http://127.0.0.1:{server.server_port}/a.bin")
    _use(monkeypatch, entry)
    return entry


def _left(root: Path) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())


def test_fetch_and_again(toy: DataFile, server: Server, tmp_path: Path) -> None:
    said: list[str] = []
    (path,) = fetch.fetch("toy", tmp_path, progress=False, say=said.append)
    assert path.read_bytes() == CONTENT
    assert _left(tmp_path) == ["toy/a.bin"]
    asked = len(server.requested)
    fetch.fetch("toy", tmp_path, progress=False, say=said.append)
    assert len(server.requested) == asked
    assert said[-1] == "toy: every file is in place"
    assert fetch.status(tmp_path)[0].state == "verified"


def test_fetch_shows_progress(toy: DataFile, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fetch.fetch("toy", tmp_path)
    captured = capsys.readouterr()
    assert "fetching toy/a.bin from http://127.0.0.1" in captured.out
    assert "100%" in captured.err


def test_interrupted_download_goes_on(toy: DataFile, server: Server, tmp_path: Path) -> None:
    server.break_after = 40_000
    with pytest.raises(FetchError, match="again to go on"):
        fetch.fetch("toy", tmp_path, progress=False)
    assert not (tmp_path / "toy").exists()
    server.break_after = None
    fetch.fetch("toy", tmp_path, progress=False)
    ranges = [wanted for command, wanted in server.requested if command == "GET"]
    assert ranges[0] == ""
    assert int(ranges[1].removeprefix("bytes=").rstrip("-")) > 0
    assert (tmp_path / "toy/a.bin").read_bytes() == CONTENT
    assert _left(tmp_path) == ["toy/a.bin"]


def test_interrupted_download_starts_anew_without_ranges(
    toy: DataFile, server: Server, tmp_path: Path
) -> None:
    server.ranges, server.break_after = False, 40_000
    with pytest.raises(FetchError):
        fetch.fetch("toy", tmp_path, progress=False)
    server.break_after = None
    fetch.fetch("toy", tmp_path, progress=False)
    assert (tmp_path / "toy/a.bin").read_bytes() == CONTENT


def test_mismatch_leaves_nothing(toy: DataFile, server: Server, tmp_path: Path) -> None:
    server.content = CONTENT[:-1] + b"!"
    with pytest.raises(ChecksumError, match=r"toy/a\.bin: sha256"):
        fetch.fetch("toy", tmp_path, progress=False)
    assert _left(tmp_path) == []
    server.content = CONTENT
    fetch.fetch("toy", tmp_path, progress=False)
    assert _left(tmp_path) == ["toy/a.bin"]


def test_mismatch_keeps_the_file_that_is_there(toy: DataFile, server: Server, tmp_path: Path) -> None:
    """Until something better came, what the user had stays."""
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy/a.bin").write_bytes(b"mine")
    server.content = b"other"
    with pytest.raises(ChecksumError):
        fetch.fetch("toy", tmp_path, progress=False)
    assert (tmp_path / "toy/a.bin").read_bytes() == b"mine"


def test_http_error(toy: DataFile, server: Server, tmp_path: Path) -> None:
    server.status = 404
    with pytest.raises(FetchError, match=r"toy/a\.bin failed \(404 Not Found\)\. .*radbook data add toy"):
        fetch.fetch("toy", tmp_path, progress=False)
    assert not (tmp_path / "toy").exists()


def test_no_server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _use(monkeypatch, DataFile("toy/a.bin", DIGEST, 1, "http://127.0.0.1:9/a.bin"))
    with pytest.raises(FetchError, match=r"failed \(no connection\)"):
        fetch.fetch("toy", tmp_path, progress=False)


def test_file_without_checksum_is_recorded_once(
    server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _use(monkeypatch, DataFile("toy/a.bin", url=f"http://127.0.0.1:{server.server_port}/a.bin"))
    fetch.fetch("toy", tmp_path, progress=False)
    assert json.loads((tmp_path / fetch.RECORD).read_text()) == {"toy/a.bin": DIGEST}
    assert fetch.status(tmp_path)[0].state == "recorded"
    (tmp_path / "toy/a.bin").unlink()
    server.content = b"changed"
    with pytest.raises(ChecksumError):
        fetch.fetch("toy", tmp_path, progress=False)
    assert fetch.status(tmp_path)[0].state == "missing"


def _zip(files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def _tar(*members: tarfile.TarInfo, content: bytes = b"") -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for member in members:
            member.size = len(content) if member.isfile() else 0
            archive.addfile(member, io.BytesIO(content))
    return stream.getvalue()


def _member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


def test_fetch_file_of_an_archive(server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    url = f"http://127.0.0.1:{server.server_port}/a.zip"
    server.content = _zip({"in/a.bin": CONTENT, "other": b"x"})
    _use(monkeypatch, DataFile("toy/a.bin", DIGEST, len(CONTENT), url, member="in/a.bin"))
    fetch.fetch("toy", tmp_path, progress=False)
    assert _left(tmp_path) == ["toy/a.bin"]
    _use(monkeypatch, DataFile("toy/b.bin", url=url, member="in/b.bin"))
    with pytest.raises(FetchError, match=r"holds no 'in/b\.bin'"):
        fetch.fetch("toy", tmp_path, progress=False)
    assert _left(tmp_path) == ["toy/a.bin"]


def _linked_zip() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        info = zipfile.ZipInfo("link")
        info.external_attr = 0o120777 << 16
        archive.writestr(info, "/etc")
    return stream.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        _zip({"good": b"x", "../evil": b"x"}),
        _zip({"/evil": b"x"}),
        _zip({"a/../../evil": b"x"}),
        _zip({"..\\evil": b"x"}),
        _zip({"C:/evil": b"x"}),
        _linked_zip(),
        _tar(_member("good"), _member("../evil")),
        _tar(_member("/evil")),
        _tar(_member("link", tarfile.SYMTYPE, "/etc/passwd")),
        _tar(_member("link", tarfile.LNKTYPE, "good")),
        _tar(_member("device", tarfile.CHRTYPE)),
    ],
)
def test_archive_cannot_write_outside_its_folder(content: bytes, tmp_path: Path) -> None:
    inside = tmp_path / "a" / "b"
    inside.mkdir(parents=True)
    archive = inside / "archive"
    archive.write_bytes(content)
    with pytest.raises(FetchError, match=r"archive: holds a (path outside|link or special)"):
        fetch.extract(archive, inside / "out")
    assert _left(tmp_path) == ["a/b/archive"]


def test_archives_that_unpack_to_too_much(tmp_path: Path) -> None:
    """No member is larger than 2 MiB but all together, or what a header states."""
    for kind, content in archives.bombs():
        assert len(content) < 90_000, kind
        (tmp_path / "archive").write_bytes(content)
        with pytest.raises(FetchError, match=r"archive: unpacks to more than [67]\d,\d{3},\d{3} bytes"):
            fetch.extract(tmp_path / "archive", tmp_path / "out")
        assert _left(tmp_path) == ["archive"], kind
    with pytest.raises(FetchError, match=r"unpacks to more than 67,108,869 bytes"):
        fetch.extract(tmp_path / "archive", tmp_path / "out", stated=5)


def test_archive_that_unpacks_to_what_the_manifest_states(tmp_path: Path) -> None:
    (tmp_path / "archive").write_bytes(archives.zipped({"zeros": bytes(80_000_000)}))
    fetch.extract(tmp_path / "archive", tmp_path / "out", stated=80_000_000)
    assert (tmp_path / "out" / "zeros").stat().st_size == 80_000_000


@pytest.mark.parametrize("pack", [archives.zipped, archives.taped])
@pytest.mark.parametrize("name", archives.NAMES)
def test_names_of_members_that_do_no_good(name: str, pack: Pack, tmp_path: Path) -> None:
    (tmp_path / "archive").write_bytes(pack({"good": b"x", name: b"x"}))
    with pytest.raises(FetchError, match=r"holds a name that (does not print|is too long)") as caught:
        fetch.extract(tmp_path / "archive", tmp_path / "out")
    assert str(caught.value).isprintable()
    assert _left(tmp_path) == ["archive"]


@pytest.mark.parametrize("pack", [archives.zipped, archives.taped])
@pytest.mark.parametrize("names", [("a", "a/b"), ("a/b", "a")])
def test_a_file_and_a_folder_of_one_name(names: tuple[str, str], pack: Pack, tmp_path: Path) -> None:
    (tmp_path / "archive").write_bytes(pack(dict.fromkeys(names, b"x")))
    with pytest.raises(FetchError, match="damaged archive"):
        fetch.extract(tmp_path / "archive", tmp_path / "out")
    assert _left(tmp_path) == ["archive"]


@pytest.mark.parametrize(
    "content", [_zip({"d/x": b"x", "y": b"y"}), _tar(_member("d/x"), _member("y"), content=b"x")]
)
def test_extract(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "archive").write_bytes(content)
    fetch.extract(tmp_path / "archive", tmp_path / "out")
    assert _left(tmp_path / "out") == ["d/x", "y"]
    with pytest.raises(FetchError, match="exists already"):
        fetch.extract(tmp_path / "archive", tmp_path / "out")


@pytest.mark.parametrize(
    "content", [b"no archive", _zip({"x": CONTENT})[:-30], _tar(_member("x"), content=CONTENT)[:-60]]
)
def test_damaged_archive(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "archive").write_bytes(content)
    with pytest.raises(FetchError, match="archive"):
        fetch.extract(tmp_path / "archive", tmp_path / "out")
    assert _left(tmp_path) == ["archive"]


def test_a_full_disk_is_no_damaged_archive(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "archive").write_bytes(_zip({"x": CONTENT}))

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("zipfile.ZipFile.extractall", full)
    with pytest.raises(OSError, match="No space left"):
        fetch.extract(tmp_path / "archive", tmp_path / "out")
    assert _left(tmp_path) == ["archive"]


def test_credentialed_set_names_its_steps(tmp_path: Path) -> None:
    with pytest.raises(
        FetchError, match=r"radgraph: radgraph/train.json is not for download.*\(1\) Create an account"
    ):
        fetch.fetch("radgraph", tmp_path, progress=False)


def test_hub_set_without_revision_is_not_fetched(tmp_path: Path) -> None:
    with pytest.raises(FetchError, match="note the revision"):
        fetch.fetch("rate_eval", tmp_path, progress=False)


def test_hub_fetch_is_pinned(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import huggingface_hub

    asked: list[tuple[str, str, str]] = []

    def download(repo: str, name: str, *, repo_type: str, revision: str, local_dir: Path) -> str:
        asked.append((repo, name, revision))
        path = local_dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(CONTENT)
        return str(path)

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", download)
    revision = "0" * 40
    _use(monkeypatch, DataFile("toy/d/a.bin", DIGEST), access="hub", hub="who/toy", revision=revision)
    fetch.fetch("toy", tmp_path)
    assert asked == [("who/toy", "d/a.bin", revision)]
    assert _left(tmp_path) == ["toy/d/a.bin"]


def test_hub_refusal_tells_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import huggingface_hub

    def refuse(*_: object, **__: object) -> str:
        raise OSError("401 Client Error.\nAccess is restricted")

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", refuse)
    _use(monkeypatch, DataFile("toy/a.bin", DIGEST), access="hub", hub="who/toy", revision="0" * 40)
    with pytest.raises(
        FetchError, match=r"toy: the hub gave no 'a.bin' of who/toy \(401 .*\)\. Log in with the hub's own"
    ):
        fetch.fetch("toy", tmp_path)
    assert _left(tmp_path) == []


def test_add(toy: DataFile, tmp_path: Path) -> None:
    root, own = tmp_path / "root", tmp_path / "downloads" / "a.bin"
    root.mkdir()
    own.parent.mkdir()
    own.write_bytes(CONTENT)
    said: list[str] = []
    assert fetch.add("toy", [own], root, said.append) == [root / "toy/a.bin"]
    assert own.read_bytes() == CONTENT
    assert said == ["added      toy/a.bin"]
    own.write_bytes(b"other")
    with pytest.raises(ChecksumError):
        fetch.add("toy", [own], root, said.append)
    assert (root / "toy/a.bin").read_bytes() == CONTENT
    assert _left(root) == ["toy/a.bin"]


def test_add_tells_files_of_one_name_apart(tmp_path: Path) -> None:
    root, own = tmp_path / "root", tmp_path / "MIMIC_IV"
    root.mkdir()
    own.mkdir()
    for folder in (own, tmp_path):
        (folder / "dev_IOB.json").write_bytes(b"[]")
    (added,) = fetch.add("rate_ner", [own / "dev_IOB.json"], root)
    assert added == root / "rate_ner/MIMIC_IV/dev_IOB.json"
    with pytest.raises(FetchError, match=r"may be any of .*Radiopaedia/dev_IOB\.json"):
        fetch.add("rate_ner", [tmp_path / "dev_IOB.json"], root)
    (tmp_path / "x.json").touch()
    with pytest.raises(FetchError, match="no file of 'rate_ner'"):
        fetch.add("rate_ner", [tmp_path / "x.json"], root)
    with pytest.raises(FetchError, match="does not exist"):
        fetch.add("rate_ner", [tmp_path / "none.json"], root)


def test_verify(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _use(monkeypatch, DataFile("toy/a", DIGEST), DataFile("toy/b"), DataFile("toy/c"))
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy/a").write_bytes(CONTENT)
    (tmp_path / "toy/b").write_bytes(b"b")
    assert [one.state for one in fetch.status(tmp_path)] == ["verified", "unrecorded", "missing"]
    said: list[str] = []
    assert [one.state for one in fetch.verify(tmp_path, say=said.append)] == [
        "verified",
        "recorded",
        "missing",
    ]
    assert said == ["verified   toy/a", "unrecorded toy/b"]
    (tmp_path / "toy/b").write_bytes(b"B")
    with pytest.raises(ChecksumError, match=r"1 file\(s\) do not match: toy/b"):
        fetch.verify(tmp_path, "toy", said.append)
    assert (tmp_path / "toy/b").read_bytes() == b"B"


def test_damaged_record_of_checksums(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _use(monkeypatch, DataFile("toy/b"))
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy/b").write_bytes(b"b")
    (tmp_path / fetch.RECORD).write_text('{"toy/b": ')
    with pytest.raises(FetchError, match="not a record of checksums"):
        fetch.status(tmp_path)


def test_no_data_root_and_unknown_set(tmp_path: Path) -> None:
    for call in (
        lambda: fetch.verify(None),
        lambda: fetch.fetch("openi", None),
        lambda: fetch.add("openi", [], None),
    ):
        with pytest.raises(DataRootError, match=r"no data root.*RADEVAL_DATA_ROOT"):
            call()
    with pytest.raises(ManifestError, match="unknown data set 'x'"):
        fetch.status(tmp_path, "x")


def test_every_open_set_is_asked_for_though_some_fail(monkeypatch, tmp_path: Path) -> None:
    asked, said = [], []

    def failing(name: str, root: Path, **_: object) -> list[Path]:
        asked.append(name)
        if name == "openi":
            raise FetchError("no answer in time", name, "Try again.")
        return []

    monkeypatch.setattr(fetch, "fetch", failing)
    failed = fetch.fetch_open(tmp_path, say=said.append)
    every = [name for name in names() if load_manifest(name).access == "open"]
    assert asked == every
    assert list(failed) == ["openi"]
    assert all(any(load_manifest(name).licence in line for line in said) for name in every)


def test_the_repositorys_own_folder_is_the_data_root_where_it_is_there(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.delenv("RADEVAL_DATA_ROOT", raising=False)
    monkeypatch.setattr(manifests, "DATA", tmp_path / "data")
    assert manifests.data_root() is None
    (tmp_path / "data").mkdir()
    assert manifests.data_root() == tmp_path / "data"
    (tmp_path / "other").mkdir()
    assert manifests.data_root(tmp_path / "other") == tmp_path / "other"
    monkeypatch.chdir(tmp_path)
    assert manifests.data_root("other") == tmp_path / "other"
