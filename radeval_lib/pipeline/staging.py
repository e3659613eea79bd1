"""Staging of the book: all pages and static files in a folder, as Jupyter Book reads them."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

import nbformat
import pandas as pd
import yaml
from sphinx_external_toc.parsing import parse_toc_yaml

from radeval_lib import own_yaml
from radeval_lib.errors import NotebookError
from radeval_lib.papers.exhibits import ledger
from radeval_lib.papers.printed_numbers import find_table, has_table
from radeval_lib.paths import BIBLIOGRAPHY, BOOK, ROOT, display_path, notebooks
from radeval_lib.pipeline import browser_judge, page_forms
from radeval_lib.study import citing, profiles, recordings, results
from radeval_lib.study.exhibit_html import table_to_download
from radeval_lib.study.scorecards import scorecard, url_of
from radeval_lib.text_format import environment

CONTENTS = "_toc.yml"
"""Name of the table of contents, in ``book/`` and in the staged book."""


def make_settings(edition: str = "") -> str:
    """Return Jupyter Book's settings in YAML, with the footer of the pages.

    The footer names the version, the licences, and the last commit with its date. If ``edition`` is the name
    of a profile, the footer also names the edition and any stored scores that the current code would not
    reproduce. There is no date of the build, so that the same state of the repository gives the same bytes.
    """
    content = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    footer = [f"Version {citing.citation_file()['version']}."]
    footer += ["Code: MIT licence. Text, figures and tables: CC BY 4.0 (see LICENSE and LICENSE-TEXT.md)."]
    commit, day = citing.checkout()
    if commit:
        footer.append(f"Last commit of the repository: {commit[:7]} of {day}.")
    if edition in profiles.profile_names():
        footer.append(f"Edition: {edition}.")
        edition_profile = profiles.profile(edition)
        all_sets = recordings.sets_shown(edition_profile.roles.values(), edition_profile.needs_data_root)
        stale = {name: metrics for name, metrics in all_sets.items() if recordings.out_of_date(name, metrics)}
        footer += recordings.sentences(stale)
    # The footer must be set here, since the theme's options under `sphinx` replace those under `html`.
    content["sphinx"]["config"]["html_theme_options"]["extra_footer"] = f"<p>{' '.join(footer)}</p>"
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True)


def _yield_downloads(output_dir: Path) -> Iterator[tuple[str, bytes]]:
    """Yield (path in the staged book, content) of each file that pages link to or load.

    The files are each result as JSON and its numbers as CSV, text files that pages save, transcribed tables,
    the sources of notebooks, and MathJax. MathJax is in the book because hospitals' networks may block other
    hosts.
    """
    import mathjax

    # Headlines are included so that a later edition can be compared with this one.
    for pattern in ("headline_*.json", "*.txt", "*.*.*.json"):
        for path in sorted((output_dir / "results").glob(f"*/*/{pattern}")):
            yield f"_extra/results/{path.name}", path.read_bytes()
            if pattern == "*.*.*.json":
                table = table_to_download(results.read(path)).to_csv(index=False, lineterminator="\n")
                yield f"_extra/results/{path.stem}.csv", table.encode()
    for exhibit_id in filter(has_table, ledger()):
        yield f"_extra/results/{exhibit_id}.transcribed.csv", find_table(exhibit_id).read_bytes()
    for name, path in notebooks().items():
        yield f"_extra/sources/{name}.md", path.read_bytes()
    folder = Path(mathjax.__file__).parent / "static" / "mathjax" / "es5"
    for pattern in ("tex-chtml.js", "output/chtml/fonts/woff-v2/*.woff"):
        for path in sorted(folder.glob(pattern)):
            yield f"_extra/mathjax/{path.relative_to(folder).as_posix()}", path.read_bytes()


def list_pages(toc: Path) -> list[str]:
    """Return the paths of all pages in a table of contents, without file endings; the appendix comes last."""
    contents = parse_toc_yaml(toc)
    return [*contents, *chain.from_iterable((contents.meta or {}).get("appendix", {}).values())]


def read_appendix(edition: str) -> dict[str, list[str]]:
    """Return a mapping from the page of each paper to its pages in the appendix, which the sidebar omits.

    The appendix of the edition ``full`` is empty: its pages use the paper's data and models, so they are in
    the sidebar below the page of their paper.
    """
    meta = parse_toc_yaml(BOOK / CONTENTS).meta or {}
    return {} if edition == "full" else meta.get("appendix", {})


# Matches a heading or label in Markdown, or in a line of a notebook's JSON, which may be damaged.
_SHARED_LINES = re.compile(rb'^ *"?(?:#+ |\([\w-]+\)=).*$', re.MULTILINE)


def extract_shared(name: str, content: bytes | None) -> object:
    """Return the part of a staged file that other pages show or need.

    For a page, the part is the list of its lines with headings and labels; for any other file, the whole
    content; for a missing file (``content`` is None) or a download (below ``_extra/``), None.
    """
    if content is None or name.startswith("_extra/"):
        return None
    return _SHARED_LINES.findall(content) if name.endswith((".md", ".ipynb")) else content


def stage(executed_dir: Path, target: Path, *, judge: bool = False) -> bool:
    """Write the staged book to ``target``, and return whether all pages must be rendered.

    Only files that changed are written, since Sphinx renders only pages whose source changed. All pages must
    be rendered if a file was removed, or if a part changed that other pages show, such as a title
    (:func:`extract_shared`).

    Parameters
    ----------
    executed_dir : folder of executed notebooks; its parent is the folder of the build.
    target : folder of the staged book.
    judge : whether to include the page on which readers run the rule-based judge in their browser.

    Raises
    ------
    NotebookError
        If the table of contents names a page that does not exist.
    ResultError
        If a stored result is incomplete, has changed or is from another version.
    DataError
        If a table of stored scores is missing or has changed.
    BrowserJudgeError
        If ``judge`` is True, but the judge's package is missing or has a wrong checksum.
    """
    output_dir = executed_dir.parent
    card, pages = scorecard(results.read_all(output_dir)), list_pages(BOOK / CONTENTS)
    files, form = browser_judge.make_page_files() if judge else ({}, "")
    staged = {f"_extra/{name}": content for name, content in files.items()}
    staged |= _make_prose_pages(card, form)
    staged["_config.yml"] = make_settings(output_dir.name).encode()
    contents = yaml.safe_load((BOOK / CONTENTS).read_text(encoding="utf-8"))
    if not read_appendix(output_dir.name):  # the pages of the appendix are below their paper
        pages_of = contents.pop("meta", {}).get("appendix", {})
        for chapter in (page for part in contents.get("parts", []) for page in part["chapters"]):
            if sections := [{"file": page} for page in pages_of.get(chapter["file"], ())]:
                chapter.setdefault("sections", []).extend(sections)
    staged[CONTENTS] = yaml.safe_dump(contents, sort_keys=False).encode()
    staged[BIBLIOGRAPHY.name] = BIBLIOGRAPHY.read_bytes()
    staged |= _yield_downloads(output_dir)
    redirect = environment(Path(__file__).parent).get_template("moved.html.j2")
    redirects = BOOK / "redirects.yml"
    for old, new in (own_yaml.read(redirects) if redirects.is_file() else {}).items():
        staged[f"_extra/{old}.html"] = redirect.render(address=f"{'../' * old.count('/')}{new}").encode()
    staged |= {name: text.encode() for name, text in page_forms.build_labs()}
    executed = [page for page in pages if not staged.keys() & {f"{page}.md", f"{page}.ipynb"}]
    staged |= _make_notebook_pages(executed_dir, executed, card)
    staged |= _insert_figures(staged)
    staged["_extra/page_texts.js"] = make_search_script(pages, staged, card)
    return _write(target, staged)


def _make_prose_pages(card: pd.DataFrame, form: str) -> dict[str, bytes]:
    """Return a mapping from the path of each file in ``book/`` to its content.

    The tables of claims, the citation of the book and the judge are inserted in pages.

    Parameters
    ----------
    card : the table of exhibits, from :func:`radeval_lib.study.scorecards.scorecard`.
    form : the HTML of the judge. If it is empty, the page of the judge is replaced by one that gives the
        reason.
    """
    staged = dict[str, bytes]()
    for path in sorted(BOOK.rglob("*")):
        name = path.relative_to(BOOK).as_posix()
        if path.suffix == ".md":
            prose = page_forms.add_claims(path.read_text(encoding="utf-8"), card)
            prose = prose.replace(citing.BOOK_MARK, f"```bibtex\n{citing.bibtex()}\n```")
            if browser_judge.MARKER in prose and not form:
                remedy = f"Download it with {browser_judge.download_command()}, then run `radbook render`"
                reason = f"its judge needs Pyodide (Python for the browser). {remedy}"
                prose = page_forms.make_substitute(prose, reason)
            prose = prose.replace(browser_judge.MARKER, form)
            staged[name] = f"{prose}\n\n{citing.source_line(f'book/{name}')}\n".encode()
        elif path.is_file():
            staged[name] = path.read_bytes()
    return staged


def _make_notebook_pages(executed_dir: Path, pages: Sequence[str], card: pd.DataFrame) -> dict[str, bytes]:
    """Return a mapping from the path of each notebook page in the staged book to its content.

    A page that has not run yet, or that is left out, is replaced by a short page with a notice.

    Parameters
    ----------
    executed_dir : folder of executed notebooks; its parent is the folder of the build.
    pages : paths of the pages in the table of contents, such as ``notebooks/rales/datasets``.
    card : the table of exhibits.

    Raises
    ------
    NotebookError
        If a page is not a notebook of the study.
    """
    at_toy_scale = set(chain.from_iterable(read_appendix(executed_dir.parent.name).values()))
    staged = dict[str, bytes]()
    for page in pages:
        name = page.removeprefix("notebooks/")
        if page == name or name not in notebooks():
            contents_path, remedy = display_path(BOOK / CONTENTS), "Correct or remove this entry."
            raise NotebookError(f"page {page!r} does not exist", contents_path, remedy)
        source, executed = notebooks()[name].read_text(encoding="utf-8"), executed_dir / f"{name}.ipynb"
        reason = page_forms.find_omission_reason(executed) if executed.is_file() else ""
        if reason or not executed.is_file():
            text = page_forms.make_substitute(source, reason)
            staged[f"{page}.md"] = f"{text}\n\n{citing.source_line(f'{page}.md')}\n".encode()
        else:
            notebook = page_forms.to_page(executed, card, source=source, at_toy_scale=page in at_toy_scale)
            staged[f"{page}.ipynb"] = notebook.encode()
    return staged


# In the page of a paper, the comment ``<!-- figure: PAGE NAME -->`` is replaced by a figure of another page.
_FIGURE_MARKER = re.compile(r"^<!-- figure: (\S+) ([\w-]+) -->$", re.MULTILINE)


def _insert_figures(staged: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return a mapping from path to content of papers' pages with inserted figures, and of these figures.

    The figures are SVG drawings from other pages. ``staged`` maps the paths of all staged files to contents.
    A figure is left out if its page has not run or lacks it.
    """
    changed = dict[str, bytes]()

    def figure_markdown(marker: re.Match[str]) -> str:
        executed = staged.get(f"notebooks/{marker[1]}.ipynb")
        if executed is None or (figure := page_forms.find_figure(executed.decode(), marker[2])) is None:
            return ""
        changed[f"papers/{marker[2]}.svg"] = figure[0].encode()
        alt, caption = figure[1]["image"]["alt"], figure[1]["figure"]["caption"]
        return f"```{{figure}} {marker[2]}.svg\n:alt: {alt}\n\n{caption}\n```"

    for paper in [name for name in staged if name.startswith("papers/")]:
        changed[paper] = _FIGURE_MARKER.sub(figure_markdown, staged[paper].decode()).encode()
    return changed


_FRONT_MATTER = re.compile(r"\A---\n.*?^---\n", re.MULTILINE | re.DOTALL)
_GLUED = re.compile(r"\{glue:text\}`([\w-]+)`")  # matches {glue:text}`name`
# Matches a heading with the first of the MyST targets directly before it, as ``(how-to-cite)=`` and
# ``# How to cite``.
_HEADING = re.compile(r"(?:^\(([\w-]+)\)=\n)?(?:^\([\w-]+\)=\n)*^#{1,6} (.+)$", re.MULTILINE)
# Matches all that is not text: citations, tags, labels, fences, options, roles and emphasis.
_MARKUP = re.compile(
    r"\{cite[:a-z]*\}`[^`]*`|<[^>]+>|^\([\w-]+\)=$|^(?:```|:::)[^\n]*$|^:[\w-]+:[^\n]*$"
    r"|\{[a-z:]+\}(?=`)| <[\w-]+>(?=`)|[`*#$]",
    re.MULTILINE,
)


def _read_markdown(page: bytes, *, notebook: bool) -> str:
    """Return the Markdown of a staged page, with glued values inserted and without front matter.

    ``page`` is a JSON notebook if ``notebook`` is True, otherwise Markdown.
    """
    if not notebook:
        return _FRONT_MATTER.sub("", page.decode())
    cells = nbformat.reads(page.decode(), as_version=4).cells
    values = {
        output.metadata.scrapbook.name: text
        for cell in cells
        for output in cell.get("outputs", [])
        if "scrapbook" in output.get("metadata", {})
        for text in output.data.values()
    }
    source = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    return _GLUED.sub(lambda glue: str(ast.literal_eval(values.get(glue[1], "''"))), source)


def extract_text(page: bytes, *, notebook: bool) -> tuple[str, list[tuple[str, str]]]:
    """Return a staged page's text without markup, and its headings as (heading, label) pairs in order, for
    the search index.

    The label is the first of the MyST targets directly before the heading, or empty. ``page`` is a JSON
    notebook if ``notebook`` is True, otherwise Markdown.
    """
    prose = _read_markdown(page, notebook=notebook)
    headings = _HEADING.findall(page_forms.FENCED.sub("", prose))

    def remove_markup(markdown: str) -> str:
        return " ".join(_MARKUP.sub(" ", markdown).split())

    return remove_markup(prose), [(remove_markup(heading), label) for label, heading in headings]


def make_search_script(pages: Sequence[str], staged: Mapping[str, bytes], card: pd.DataFrame) -> bytes:
    """Return the search index as JavaScript that sets the variables pageTexts, pageHeadings and exhibits.

    It is a script because browsers do not fetch data for a page that is opened from a folder.

    Parameters
    ----------
    pages : paths of the pages in the table of contents.
    staged : a mapping from the path of each staged file to its content.
    card : the table of exhibits.
    """
    names = {page: f"{page}.ipynb" if f"{page}.ipynb" in staged else f"{page}.md" for page in pages}
    contents = {
        page: extract_text(staged[name], notebook=name != f"{page}.md") for page, name in names.items()
    }
    variables = {
        "pageTexts": {page: text for page, (text, _) in contents.items()},
        "pageHeadings": {page: headings for page, (_, headings) in contents.items()},
        "exhibits": [
            {
                "name": f"{row.paper}, {row.label}",
                "title": row.title,
                "verdict": row.verdict,
                "address": f"notebooks/{url_of(row)}",
            }
            for row in card.itertuples()
        ],
    }
    texts = {key: json.dumps(value, ensure_ascii=False, indent=0) for key, value in variables.items()}
    return "".join(f"window.{key} = {text};\n" for key, text in texts.items()).encode()


def _write(target: Path, staged: Mapping[str, bytes]) -> bool:
    """Write the staged files that differ from those in ``target``, and remove files that are not staged.

    Return whether a file was removed or a shared part (:func:`extract_shared`) changed. ``staged``
    maps paths to contents.
    """
    shared_changed = False
    for path in sorted(target.rglob("*"), reverse=True):
        if path.is_file() and path.relative_to(target).as_posix() not in staged:
            path.unlink()
            shared_changed = True
        elif path.is_dir() and not any(path.iterdir()):
            path.rmdir()
    for name, content in staged.items():
        path = target / name
        previous = path.read_bytes() if path.is_file() else None
        if previous != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            shared_changed |= extract_shared(name, previous) != extract_shared(name, content)
        if b"```{glossary}" in content:
            path.touch()  # Sphinx 7 drops the search entries of a glossary that it does not write again
    return shared_changed
