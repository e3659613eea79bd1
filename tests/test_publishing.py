"""What is needed to publish the study: files that describe it, and the site's steps."""

from __future__ import annotations

import re
import tomllib

import yaml
from bs4 import BeautifulSoup

from radeval_lib.paths import ROOT
from radeval_lib.study import citing
from workflow import notebook_style
from workflow.check_site import count_words


def test_files_that_describe_the_study_agree_and_are_of_their_formats() -> None:
    names = ("CITATION.cff", "codecheck.yml", "codemeta.json", ".zenodo.json")
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in names}
    citation, check, codemeta, zenodo = map(yaml.safe_load, texts.values())
    assert citation["title"] == codemeta["name"] == zenodo["title"] == check["paper"]["title"]
    assert citation["version"] == codemeta["version"]
    assert citation["keywords"] == codemeta["keywords"] == zenodo["keywords"]
    addresses = [citation.get("repository-code"), codemeta.get("codeRepository"), check.get("repository")]
    assert set(addresses) == {citing.source_url() or None}
    assert (citation["cff-version"], zenodo["license"]) == ("1.2.0", "MIT")
    # Of CODECHECK's rules: it begins a document, and names files of the repository and people.
    assert texts["codecheck.yml"].startswith("---\n")
    assert all(person["name"] for person in (*check["codechecker"], *check["paper"]["authors"]))
    for entry in check["manifest"][:-1]:  # each is recorded in every build
        page, exhibit, evidence = re.fullmatch(
            r"build/embedded/results/(.+)/(.+)\.(.+)\.json", entry["file"]
        ).groups()  # type: ignore[union-attr]
        source = (ROOT / "notebooks" / f"{page}.md").read_text(encoding="utf-8")
        assert f'run.exhibit("{exhibit}", "{evidence}"' in source.partition("only_with_data")[0]


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
    assert count_words(content) == len(["τb", "of", "(GPT-4),", "data_manifests", "1", "2", "end"])
    assert content.find("wbr")  # what is counted stays as it is


def test_a_list_that_begins_in_a_paragraph_is_found() -> None:
    page = "---\ntitle: a\n---\nA sum of\n- 2 and 3.\n\n- An item\n- another\n\n```\na\n- b\n```\n"
    (fault,) = notebook_style.find_accidental_lists(page, ROOT / "book" / "page.md")
    assert fault.startswith("book/page.md:5: ")
