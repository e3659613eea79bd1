"""What is needed to publish the study: files that describe it, notebooks to launch, the site's steps."""

from __future__ import annotations

import json
import os
import re
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import nbformat
import pandas as pd
import pytest
import yaml
from bs4 import BeautifulSoup

from radeval_lib.labs import sources
from radeval_lib.paths import ROOT, notebooks
from radeval_lib.pipeline import exporting, launching, steps
from radeval_lib.study import cell_outputs, cells
from radeval_lib.study.profiles import names
from radeval_lib.tables import table_html
from workflow import describing
from workflow.check_site import words

CODEMETA = {
    "@context", "@type", "name", "description", "keywords", "version", "license", "programmingLanguage",
    "runtimePlatform", "author", "codeRepository", "issueTracker",
}  # fmt: skip
"""Those of the terms of CodeMeta 3.0 (its context codemeta.jsonld) that are used; no other would be read."""
_WORDS = {"type": "string", "minLength": 1}


def _object(required: list[str], properties: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object with these keys and no others."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": required,
        "properties": properties,
    }


ZENODO = _object(
    ["access_right", "creators", "description", "license", "title", "upload_type"],
    {
        "title": _WORDS,
        "description": _WORDS,
        "keywords": {"type": "array", "items": _WORDS, "uniqueItems": True},
        "upload_type": {"const": "software"},
        "access_right": {"enum": ["closed", "embargoed", "open", "restricted"]},
        "license": {"const": "MIT"},
        "creators": {
            "type": "array",
            "minItems": 1,
            "uniqueItems": True,
            "items": _object(["name"], {"name": _WORDS}),
        },
        "related_identifiers": {
            "type": "array",
            "items": _object(
                ["identifier", "relation"],
                {
                    "identifier": {"type": "string", "pattern": "^https://"},
                    "relation": {"const": "isSupplementTo"},
                    "scheme": {"const": "url"},
                },
            ),
        },
    },
)
"""What Zenodo's schema of deposits (zenodraft/metadata-schema-zenodo, 0.3.0) says of the keys that are used.
Its releases take the version and the date from the tag."""

_AUTHORS = {
    "type": "array",
    "minItems": 1,
    "uniqueItems": True,
    "items": {
        "type": "object",
        "additionalProperties": False,
        "properties": dict.fromkeys(("name", "family-names", "given-names", "name-particle"), _WORDS),
        "oneOf": [{"required": ["name"]}, {"required": ["family-names"]}],
    },
}
CITATION = _object(
    ["authors", "cff-version", "message", "title"],
    {
        **dict.fromkeys(("message", "title", "version"), _WORDS),
        "cff-version": {"const": "1.2.0"},
        "type": {"enum": ["dataset", "software"]},
        "license": {"const": "MIT"},
        "authors": _AUTHORS,
        "keywords": {"type": "array", "minItems": 1, "items": _WORDS, "uniqueItems": True},
        "repository-code": {"type": "string", "pattern": "^https://"},
        "references": {
            "type": "array",
            "items": _object(
                ["authors", "title", "type"],
                {
                    "authors": _AUTHORS,
                    "title": _WORDS,
                    "type": {"enum": ["article", "conference-paper"]},
                    "year": {"type": "integer"},
                },
            ),
        },
    },
)
"""What the schema of the Citation File Format (1.2.0, schema.json) says of the keys that are used, by which
`cffconvert --validate` judges."""

OF_A_BUILD = ("across/at_a_glance", "across/audit", "across/exhibits")
"""Pages of what all others recorded: where nothing was built, they have nothing to show."""


@pytest.mark.parametrize("home", ["", "owner/study"])
def test_files_that_describe_the_study_are_of_their_formats(
    home: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if home:  # as in a fork that names it in _config.yml
        monkeypatch.setattr(launching, "home", lambda: home)
    else:
        assert {name: (ROOT / name).read_text(encoding="utf-8") for name in describing.files()} == (
            describing.files()
        ), "run python workflow/describing.py"
    found = describing.files()
    citation, check = (yaml.safe_load(found[name]) for name in ("CITATION.cff", "codecheck.yml"))
    codemeta, zenodo = (json.loads(found[name]) for name in ("codemeta.json", ".zenodo.json"))
    url = f"https://github.com/{home}" if home else None
    places = (citation.get("repository-code"), codemeta.get("codeRepository"), check.get("repository"))
    assert set(places) == {url}
    jsonschema.validate(zenodo, ZENODO)
    jsonschema.validate(citation, CITATION)
    # The rules of severity `error` for CODECHECK's configuration 1.0 (codecheckers/register, rules-1.0.yml),
    # by their numbers; 1, that it is YAML, was tried above, and 3 and 26 do not apply.
    assert found["codecheck.yml"].startswith("---\n")  # 2
    files = [entry["file"] for entry in check["manifest"]]  # 4, 5
    assert not any(file.startswith(("/", "~")) or ".." in file.split("/") for file in files)  # 6
    assert all(one["name"] for one in check["codechecker"])  # 8, 9
    assert check["report"]  # 11
    assert not re.search("FIXME|TODO|XXX", found["codecheck.yml"])  # 13, 23
    # Of those that only warn, all but ORCIDs: the study names no person.
    assert check["version"] == "https://codecheck.org.uk/spec/config/1.0/"  # 14, 15
    assert check["paper"].keys() == {"title", "authors", "reference"}  # 16 to 18, 21
    assert all(one["name"] for one in check["paper"]["authors"])  # 19
    assert not home or check["paper"]["reference"] == url
    for entry in check["manifest"][:-1]:  # each is recorded in every build
        page, exhibit, evidence = re.fullmatch(
            r"build/embedded/results/(.+)/(.+)\.(.+)\.json", entry["file"]
        ).groups()  # type: ignore[union-attr]
        source = (ROOT / "notebooks" / f"{page}.md").read_text(encoding="utf-8")
        assert f'run.exhibit("{exhibit}", "{evidence}"' in source.partition("only_with_data")[0]
    assert codemeta["@context"] == "https://w3id.org/codemeta/3.0"
    assert codemeta.keys() <= CODEMETA
    assert all(one["@type"] == "Organization" and one["name"] for one in codemeta["author"])
    assert citation["title"] == codemeta["name"] == zenodo["title"] == check["paper"]["title"]


def test_notebooks_to_launch_have_their_parameters_and_their_addresses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert launching.buttons("rales/nlu_scores", "HEAD") == ""  # no public home is named here
    monkeypatch.setattr(launching, "home", lambda: "owner/study")
    written = exporting.export(tmp_path / "build" / "launch", "owner/study", "abc123")
    assert len(written) == len(notebooks())
    for path in written:
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        set_up = notebook.cells[0].source
        assert "owner/study" in set_up
        assert "python workflow/install.py" in set_up
        assert "git checkout --quiet abc123" in set_up
        (given,) = (c for c in notebook.cells if "injected-parameters" in c.metadata.get("tags", []))
        assert re.search(r'profile = "(\w+)"', given.source)[1] in names()  # type: ignore[index]
        name = path.relative_to(tmp_path / "build" / "launch").with_suffix("").as_posix()
        assert bool(launching.cells_of(name)) == ("make_cells" in notebook.cells[1].source)
        links = re.findall(r'href="([^"]+)"', launching.buttons(name, "def456"))
        if launching.seconds_of(name) > launching.PATIENCE or name in OF_A_BUILD:
            assert not links
            continue
        assert "/owner/study/def456?" in links[0]
        assert (tmp_path / links[0].partition("urlpath=lab/tree/")[2]).is_file()  # as postBuild lays them out
        assert links[1].endswith(f"/owner/study/blob/{launching.BRANCH}/{name}.ipynb")


def test_a_page_is_opened_at_the_commit_that_its_provenance_names() -> None:
    rows = pd.DataFrame({"": ["commit"], "value": [f"{'ab' * 20} and changes"]})
    table = table_html(rows, index=False, raw=("value",))
    output = nbformat.v4.new_output("display_data", data={"text/html": table})
    page = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("x", outputs=[output])])
    assert launching.built_from(page) == "ab" * 20
    assert launching.built_from(nbformat.v4.new_notebook()) == "HEAD"


def test_cells_that_a_page_reads_are_made_in_order_and_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launching, "BUILD", tmp_path)
    (made := launching.cells_of("ratescore/ner_ablations"))
    place = {(cell.notebook, cell.slug): at for at, cell in enumerate(made)}
    for cell in made:
        before = steps.graph("embedded").cells_before(cell.notebook)
        assert all(place[tuple(one.rsplit("/", 1))] < place[cell.notebook, cell.slug] for one in before)  # type: ignore[index]
    ran: list[list[str]] = []
    monkeypatch.setattr(launching.subprocess, "run", lambda command, check: ran.append(command))
    (there := cells.folder(tmp_path / "embedded", made[0])).mkdir(parents=True)
    (there / cell_outputs.FACTS).write_text("{}")
    launching.make_cells("ratescore/ner_ablations")
    assert len(ran) == len(made) - 1


def test_labs_to_launch_need_the_wheel_alone(tmp_path: Path) -> None:
    pytest.importorskip("otter")
    wheel = tmp_path / "radeval_lib-0.1.0-py3-none-any.whl"
    wheel.write_bytes(b"wheel")
    written = exporting.export_labs(tmp_path / "launch", "owner/study", wheel)
    assert len(written) == len(sources.labs())
    needed = (tmp_path / "launch" / "requirements.txt").read_text(encoding="utf-8")
    (place,) = re.findall(r"^\./(.*)\[labs,models\]$", needed, re.MULTILINE)
    assert (tmp_path / "launch" / place).read_bytes() == b"wheel"  # what Binder installs
    for path in written:
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        set_up = notebook.cells[1].source
        assert f"https://github.com/owner/study/raw/{launching.BRANCH}/{place}" in set_up
        links = launching.lab_links("owner/study", path.stem)
        assert (tmp_path / "launch" / links["Binder"].partition("urlpath=lab/tree/")[2]) == path
        assert links["Colab"].endswith(f"/owner/study/blob/{launching.BRANCH}/labs/{path.name}")
        assert "git clone" not in set_up
        checks = {
            name: name for name in re.findall(r'grader\.check\("(\w+)"\)', "".join(map(str, notebook.cells)))
        }
        assert all(f"'{name}': 'from otter.test_files" in notebook.cells[2].source for name in checks)


def test_binder_and_the_site_run_what_is_there() -> None:
    after = (ROOT / "postBuild").read_text(encoding="utf-8")
    assert f"radeval_lib.pipeline.exporting {launching.FOLDER}" in after
    site = (ROOT / "workflow" / "site").read_text(encoding="utf-8")
    assert os.access(ROOT / "workflow" / "site", os.X_OK)
    for script in re.findall(r"workflow/\w+\.py", site):
        assert (ROOT / script).is_file()
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "site.yml").read_text(encoding="utf-8"))
    told = [step.get("run", "") for step in workflow["jobs"]["build"]["steps"]]
    assert any("workflow/site" in one for one in told)
    assert any("radeval_lib.pipeline.exporting" in one for one in told)


def test_one_version_stands_everywhere_and_heads_the_changelog() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["version"]
    with (ROOT / "pyproject.toml").open("rb") as stream:
        assert tomllib.load(stream)["project"]["version"] == cited
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"(?m)^## (\S+) - \d{4}-\d\d-\d\d$", changelog)
    assert versions[0] == cited
    assert versions == sorted(versions, reverse=True)
    newest = changelog.partition(f"## {versions[0]} ")[2].partition("\n## ")[0]
    assert "### What you must do\n" in newest


def test_words_of_a_page_are_those_that_a_reader_sees() -> None:
    """Cells of a table and paragraphs part words; a lowered letter and a name that may break do not."""
    page = "<p>τ<sub>b</sub> of (<span class='whole'>GPT-4</span>), data_<wbr>manifests</p>"
    page += "<table><tr><td>1</td><td>2</td></tr></table><p>end</p>"
    content = BeautifulSoup(page, "html.parser")
    assert words(content) == len(["τb", "of", "(GPT-4),", "data_manifests", "1", "2", "end"])
    assert content.find("wbr")  # what is counted stays as it is
