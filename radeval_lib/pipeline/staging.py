"""Stage the book: prose pages, executed notebooks and static files, laid out as Jupyter Book wants them."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import nbformat
import pandas as pd
import yaml
from sphinx_external_toc.parsing import parse_toc_yaml

from radeval_lib import checksums
from radeval_lib.errors import NotebookError
from radeval_lib.papers.exhibits import PAPERS, ledger, of_notebook
from radeval_lib.papers.printed_numbers import has_numbers, numbers_of
from radeval_lib.papers.printed_numbers import paper as described
from radeval_lib.paths import BOOK, REFERENCES, ROOT, display_path, notebooks
from radeval_lib.pipeline import absent, browser_judge, citing, lab_pages, launching
from radeval_lib.pipeline.glossary import Linker
from radeval_lib.study import profiles, recordings, results
from radeval_lib.study.display import ENDS_HERE
from radeval_lib.study.pages import claims_table, exhibit_entries, not_rebuilt
from radeval_lib.study.printed_tables import shown_numbers
from radeval_lib.study.results import Result
from radeval_lib.study.scorecards import scorecard

_GREY = re.compile(r"(fill|stroke): #([0-9a-f]{2})\2\2\b")
_DARK_GROUND = "#121212"  # the page of sphinx-book-theme
_MATHJAX = ("tex-chtml.js", "output/chtml/fonts/woff-v2/*.woff")


_NO_JUDGE = """:::{note}
This copy of the book was rendered without the judge; `radbook render --browser-judge` puts it here.
:::"""

_CLAIMS = re.compile(r"^<!-- claims: (\w+) -->$", re.MULTILINE)
"""Where a prose page wants the claims of a paper: a comment with the paper's key in the ledger."""


def for_readers(
    executed: Path,
    card: pd.DataFrame,
    exercises: Mapping[str, str] | None = None,
    found: Sequence[Result] = (),
) -> str:
    """An executed notebook as the book shows it: parameters hidden (its provenance lists them), code folded
    unless it is tagged ``show-input``, its papers below the title, how to cite each result of ``found``
    beside it, exhibits that were not rebuilt at the end, words of the glossary linked."""
    notebook = nbformat.read(executed, as_version=4)
    commit = launching.built_from(notebook)
    first = next((cell for cell in notebook.cells if cell.cell_type == "markdown"), None)
    glossary = Linker()
    for place, cell in enumerate(notebook.cells):
        if any(output.get("metadata", {}).get(ENDS_HERE) for output in cell.get("outputs", [])):
            del notebook.cells[place + 1 :]  # the page has nothing more to show: study.only_with_data
        if cell.cell_type == "markdown":
            cell.source = glossary.linked(cell.source)
        if cell.cell_type != "code":
            continue
        tags = set(cell.metadata.get("tags", []))
        if tags & {"parameters", "injected-parameters"}:
            tags.add("remove-cell")
        elif "show-input" not in tags:
            tags.add("hide-input")
        for output in cell.outputs:
            if drawing := output.get("data", {}).get("image/svg+xml"):
                output["data"]["image/svg+xml"] = for_both_grounds("".join(drawing))
            if html := output.get("data", {}).get("text/html"):
                output["data"]["text/html"] = citing.with_citation("".join(html), found)
        cell.metadata["tags"] = sorted(tags)
    if first is not None:
        page = f"{executed.parent.name}/{executed.stem}"
        if listed := not_rebuilt(card, page):
            notebook.cells.append(nbformat.v4.new_markdown_cell(listed, id="exhibits"))
        source = citing.source_line(f"notebooks/{page}.md")
        label = re.match(r"\(([\w-]+)\)=", first.source)
        if label and (line := (exercises or {}).get(label[1])):
            notebook.cells.append(nbformat.v4.new_markdown_cell(line, id="exercise"))
        notebook.cells.append(nbformat.v4.new_markdown_cell(source, id="source"))
        first.source = _below_title(with_papers(first.source, page), launching.buttons(page, commit))
    return str(nbformat.writes(notebook))


def for_both_grounds(svg: str) -> str:
    """An SVG drawing that turns its greys round where its page is dark; colours stay as they are.

    A picture in a page asks for the colour scheme of its place there (CSS Color Adjustment 1, section 2.2),
    so that one file serves both.
    """
    rules = []
    for paint, level in sorted(set(_GREY.findall(svg))):
        value, grey = int(level, 16), level * 3
        lightness = f"{round(0xF0 - value * (0xF0 - 0x18) / 255):02x}" * 3
        dark = _DARK_GROUND if grey == "ffffff" else f"#{lightness}"
        # White text stands on cells of heat maps, whose colours stay; black text names no colour.
        kept = ":not(text)" if (paint, grey) == ("fill", "ffffff") else ""
        rules.append(f'[style*="{paint}: #{grey}"]{kept}{{{paint}:{dark}!important}}')
    if not rules:
        return svg
    style = f"<style>@media (prefers-color-scheme: dark){{{''.join(rules)}}}</style>"
    return re.sub(r"<svg\b[^>]*>", lambda head: head.group() + style, svg, count=1)


def with_papers(source: str, notebook: str) -> str:
    """Markdown with the papers whose exhibits the notebook rebuilds named in a line below its title."""
    papers = sorted({entry.paper for entry in of_notebook(notebook)}, key=list(PAPERS).index)
    named = " · ".join(f"{{cite}}`{described(paper)['citation']}`" for paper in papers)
    return _below_title(source, f"Paper: {named}" if named else "")


def _below_title(source: str, text: str) -> str:
    """Markdown with a paragraph below its first title; as it is where there is nothing to say."""
    if not text:
        return source
    return re.sub(r"(?m)^# .*$", lambda title: f"{title.group()}\n\n{text}", source, count=1)


def settings(edition: str = "") -> str:
    """Jupyter Book's settings with a footer that names licences, the edition (a profile) and the last commit,
    with the commit's date; and the recorded scores of the edition that the code would not give.

    The date is the commit's, so that the same state of the repository gives the same bytes.
    """
    content = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    footer = [f"{citing.authors()}. Version {citing.about()['version']}."]
    footer += ["Code: MIT licence. Text, figures and tables: CC BY 4.0 (see LICENSE and LICENSE-TEXT.md)."]
    if commit := last_commit():
        footer.append(f"Last commit of the repository: {commit}.")
    if edition in profiles.names():
        footer.append(f"Edition: {edition}.")
        own = profiles.profile(edition)
        sets = recordings.of_edition(own.roles.values(), own.needs_data_root)
        stale = {name: of for name, of in sets.items() if recordings.out_of_date(name, of)}
        footer += recordings.sentences(stale)
    # Not under html: the options of the theme that stand under sphinx replace what is said there.
    content["sphinx"]["config"]["html_theme_options"]["extra_footer"] = f"<p>{' '.join(footer)}</p>"
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True)


def last_commit() -> str:
    """Short name and date of the repository's last commit; empty outside a clone, or without git."""
    commit, day = citing.head()
    return f"{commit[:7]} of {day}" if commit else ""


def with_claims(source: str, card: pd.DataFrame) -> str:
    """A prose page with each ``<!-- claims: PAPER -->`` replaced by the table of that paper's claims."""

    def filled(wanted: re.Match[str]) -> str:
        if (key := wanted[1]) not in PAPERS:
            listed = f"Papers: {', '.join(PAPERS)}."
            raise NotebookError(f"a page asks for the claims of no paper {key!r}", remedy=listed)
        return claims_table(card, PAPERS[key], up="../notebooks/")

    return _CLAIMS.sub(filled, source)


def with_judge(source: str, form: str) -> str:
    """A prose page with :data:`browser_judge.MARK` replaced by the judge's form; where that is empty, by one
    line on how to get it."""
    return source.replace(browser_judge.MARK, form or _NO_JUDGE)


def _downloads(output_dir: Path) -> Iterator[tuple[str, bytes]]:
    """What pages link to or load: each result as JSON and what is shown of it as CSV, what the papers print
    of each exhibit as both, the notebooks, and MathJax's own files, from the package that carries them: a
    hospital's network blocks other hosts.

    With them the style sheet of MyST-NB, which comes with that package only after the first pages were
    written: a page's link to it names its checksum, so the first render would differ from the next.
    """
    import mathjax
    import myst_nb

    style = Path(myst_nb.__file__).parent / "static" / "mystnb.css"
    yield f"_static/mystnb.{checksums.of_file(style)}.css", style.read_bytes()
    for path in sorted((output_dir / "results").glob("*/*/headline_*.json")):
        yield f"_extra/results/{path.name}", path.read_bytes()  # what a later edition is compared with
    for path in sorted((output_dir / "results").glob("*/*/*.*.*.json")):
        yield f"_extra/results/{path.name}", path.read_bytes()
        numbers = shown_numbers(results.read(path))
        yield f"_extra/results/{path.with_suffix('.csv').name}", _csv(numbers)
    for key in filter(has_numbers, ledger()):
        numbers = numbers_of(key)
        yield f"_extra/results/{key}.printed.csv", _csv(numbers)
        text = json.dumps(numbers.to_dict("records"), ensure_ascii=False, indent=1)
        yield f"_extra/results/{key}.printed.json", f"{text}\n".encode()
    for name, path in notebooks().items():
        yield f"_extra/sources/{name}.md", path.read_bytes()
    folder = Path(mathjax.__file__).parent / "static" / "mathjax" / "es5"
    for pattern in _MATHJAX:
        for path in sorted(folder.glob(pattern)):
            yield f"_extra/mathjax/{path.relative_to(folder).as_posix()}", path.read_bytes()


def _csv(frame: pd.DataFrame) -> bytes:
    text: str = frame.to_csv(index=False, lineterminator="\n")
    return text.encode()


_FRONT_MATTER = re.compile(r"\A---\n.*?^---\n", re.MULTILINE | re.DOTALL)
_GLUED = re.compile(r"\{glue:text\}`([\w-]+)`")
_FENCED = re.compile(r"^(`{3,}).*?^\1`*$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"(?:^\(([\w-]+)\)=\n)?(?:^\([\w-]+\)=\n)*^#{1,6} (.+)$", re.MULTILINE)
_MARKUP = re.compile(
    r"\{cite[:a-z]*\}`[^`]*`|<[^>]+>|^\([\w-]+\)=$|^(?:```|:::)[^\n]*$|^:[\w-]+:[^\n]*$"
    r"|\{[a-z:]+\}(?=`)| <[\w-]+>(?=`)|[`*#$]",
    re.MULTILINE,
)


def _prose(page: bytes, *, notebook: bool) -> str:
    """The Markdown of a staged page, with the texts that its code put into it."""
    if not notebook:
        return _FRONT_MATTER.sub("", page.decode())
    read = nbformat.reads(page.decode(), as_version=4)
    values = {
        output.metadata.scrapbook.name: text
        for cell in read.cells
        for output in cell.get("outputs", [])
        if "scrapbook" in output.get("metadata", {})
        for text in output.data.values()
    }
    source = "\n\n".join(cell.source for cell in read.cells if cell.cell_type == "markdown")
    return _GLUED.sub(lambda used: str(ast.literal_eval(values.get(used[1], "''"))), source)


def searched_text(page: bytes, *, notebook: bool) -> str:
    """The running text of a staged page, without markup and with its numbers: what search shows of where a
    word was found."""
    return " ".join(_MARKUP.sub(" ", _prose(page, notebook=notebook)).split())


def headings_of(page: bytes, *, notebook: bool) -> list[tuple[str, str]]:
    """The headings of a staged page, its title first, each with the label before it (empty where there is
    none): what search looks at before it looks at texts."""
    found = _HEADING.findall(_FENCED.sub("", _prose(page, notebook=notebook)))
    return [(" ".join(_MARKUP.sub(" ", words).split()), label) for label, words in found]


def pages_of(toc: Path) -> list[str]:
    """Every page that a table of contents names, without endings, in its order."""
    return list(parse_toc_yaml(toc))


_REPEATED = re.compile(rb'^ *"?(?:#+ |\([\w-]+\)=).*$', re.MULTILINE)
"""A heading or a label, in Markdown or in the lines of a notebook's file, which may be a damaged one."""


def repeated(name: str, content: bytes | None) -> object:
    """What other pages repeat of a staged file, None of a missing one: a page's headings and labels (in
    contents, links and previews), nothing of a download, any other file whole."""
    if content is None or name.startswith("_extra/"):
        return None
    if not name.endswith((".md", ".ipynb")):
        return content
    return _REPEATED.findall(content)


def _placeholder(name: str, source: str, lack: str = "") -> bytes:
    """What stands for a page that this build does not have, by its notebook's name and source."""
    return f"{absent.placeholder(source, lack)}\n\n{citing.source_line(f'notebooks/{name}.md')}\n".encode()


def stage(executed_dir: Path, target: Path, *, judge: bool = False) -> bool:
    """Bring ``target`` to what the book needs, touching only files that changed; with ``judge``, also the
    judge for a reader's browser.

    Whether something changed that other pages repeat, see :func:`repeated`: Sphinx writes only the pages
    whose own source changed, and the others would go on naming an old title, or missing a new page.
    """
    found = results.read_all(executed_dir.parent)
    card = scorecard(found)
    wanted = {"_config.yml": settings(executed_dir.parent.name).encode()}
    files, form = browser_judge.staged() if judge else ({}, "")
    wanted |= {f"_extra/{name}": content for name, content in files.items()}
    wanted[REFERENCES.name] = REFERENCES.read_bytes()
    for path in sorted(BOOK.rglob("*")):
        if path.suffix == ".md":
            prose = path.read_text(encoding="utf-8")
            if path.stem != "glossary":
                prose = Linker().linked(prose)  # the table of claims is HTML, without roles
            name = path.relative_to(BOOK).as_posix()
            prose = with_judge(citing.with_examples(with_claims(prose, card), found), form)
            wanted[name] = f"{prose}\n\n{citing.source_line(f'book/{name}')}\n".encode()
        elif path.is_file():
            wanted[path.relative_to(BOOK).as_posix()] = path.read_bytes()
    wanted |= _downloads(executed_dir.parent)
    wanted |= {name: text.encode() for name, text in lab_pages.staged()}
    pages, exercises = pages_of(BOOK / "_toc.yml"), lab_pages.exercises()
    missing: dict[str, str] = {}
    left_out: dict[str, str] = {}
    for path in sorted(executed_dir.glob("*/[!.]*.ipynb")):
        name = path.relative_to(executed_dir).with_suffix("").as_posix()
        if f"notebooks/{name}" in pages and (lack := absent.omission_reason(path)):
            source = (ROOT / "notebooks" / f"{name}.md").read_text(encoding="utf-8")
            wanted[f"notebooks/{name}.md"] = _placeholder(name, source, lack)
            left_out |= absent.labels(source)
        elif f"notebooks/{name}" in pages:  # a cell such as one training is run but is not a page
            shown = for_readers(path, card, exercises, found)
            wanted[f"notebooks/{name}.ipynb"] = shown.encode()
            if ENDS_HERE in shown:
                source = (ROOT / "notebooks" / f"{name}.md").read_text(encoding="utf-8")
                left_out |= absent.cut_labels(source, shown)
    for page in pages:
        path = ROOT / f"{page}.md"
        made = {f"{page}.md", f"{page}.ipynb"} & wanted.keys()
        if page.startswith("notebooks/") and not made and path.is_file():
            source = path.read_text(encoding="utf-8")
            wanted[f"{page}.md"] = _placeholder(page.removeprefix("notebooks/"), source)
            missing |= absent.labels(source)
        if not any(f"{page}{ending}" in wanted for ending in (".md", ".ipynb")):
            raise NotebookError(
                f"page {page!r} does not exist",
                display_path(BOOK / "_toc.yml"),
                "Correct the entry or run the notebook.",
            )
    for name in wanted:
        if name.endswith((".md", ".ipynb")) and not name.startswith("_extra/"):
            is_notebook = name.endswith(".ipynb")
            wanted[name] = absent.unlink_in_file(wanted[name], missing, notebook=is_notebook)
            wanted[name] = absent.unlink_in_file(wanted[name], left_out, "left out", notebook=is_notebook)
    contents = [
        (page, wanted[name], name.endswith(".ipynb"))
        for page in pages
        for name in (f"{page}.md", f"{page}.ipynb")
        if name in wanted
    ]
    searched = {
        "pageTexts": {page: searched_text(content, notebook=is_one) for page, content, is_one in contents},
        "pageHeadings": {page: headings_of(content, notebook=is_one) for page, content, is_one in contents},
        "exhibits": exhibit_entries(card),
    }
    # A script, not data: browsers refuse to fetch anything for a page that was opened from a folder.
    script = [
        f"window.{key} = {json.dumps(one, ensure_ascii=False, indent=0)};\n" for key, one in searched.items()
    ]
    wanted["_extra/page_texts.js"] = "".join(script).encode()
    shared = False
    for path in sorted(target.rglob("*"), reverse=True):
        if path.is_file() and (name := path.relative_to(target).as_posix()) not in wanted:
            path.unlink()
            shared = True
        elif path.is_dir() and not any(path.iterdir()):
            path.rmdir()
    for name, content in wanted.items():
        path = target / name
        before = path.read_bytes() if path.is_file() else None
        if before != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            shared |= repeated(name, before) != repeated(name, content)
        if b"```{glossary}" in content:
            path.touch()  # Sphinx 7's search forgets the entries of a page that it does not write again
    return shared
