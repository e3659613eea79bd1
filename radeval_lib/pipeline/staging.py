"""Stage the book: prose pages, executed notebooks and static files, laid out as Jupyter Book wants them."""

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
from radeval_lib.papers.printed_numbers import table_path, transcribed
from radeval_lib.paths import BOOK, REFERENCES, ROOT, display_path, notebooks
from radeval_lib.pipeline import browser_judge, page_forms
from radeval_lib.study import citing, profiles, recordings, results
from radeval_lib.study.exhibit_html import shown_numbers
from radeval_lib.study.scorecards import address_of, scorecard
from radeval_lib.text_format import environment

CONTENTS = "_toc.yml"
"""The table of contents, in the folder of prose and in the staged book."""


def settings(edition: str = "") -> str:
    """Return Jupyter Book's settings with a footer: licences, the edition (a profile), the last commit with
    its date, and stored scores that the code would no longer give.

    The date is the commit's, so that the same state of the repository gives the same bytes.
    """
    content = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    footer = [f"Version {citing.citation_file()['version']}."]
    footer += ["Code: MIT licence. Text, figures and tables: CC BY 4.0 (see LICENSE and LICENSE-TEXT.md)."]
    commit, day = citing.checkout()
    if commit:
        footer.append(f"Last commit of the repository: {commit[:7]} of {day}.")
    if edition in profiles.names():
        footer.append(f"Edition: {edition}.")
        edition_profile = profiles.profile(edition)
        sets = recordings.sets_shown(edition_profile.roles.values(), edition_profile.needs_data_root)
        stale = {name: metrics for name, metrics in sets.items() if recordings.out_of_date(name, metrics)}
        footer += recordings.sentences(stale)
    # Not under `html`: the theme's options under `sphinx` replace those.
    content["sphinx"]["config"]["html_theme_options"]["extra_footer"] = f"<p>{' '.join(footer)}</p>"
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True)


def _downloads(output_dir: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files that pages link to or load: each result as JSON and its shown numbers as CSV, texts
    that a page leaves, printed tables, the notebooks, and MathJax's own files, since a hospital's network
    blocks other hosts."""
    import mathjax

    # Headlines, too, by which a later edition is compared.
    for pattern in ("headline_*.json", "*.txt", "*.*.*.json"):
        for path in sorted((output_dir / "results").glob(f"*/*/{pattern}")):
            yield f"_extra/results/{path.name}", path.read_bytes()
            if pattern == "*.*.*.json":
                table = shown_numbers(results.read(path)).to_csv(index=False, lineterminator="\n")
                yield f"_extra/results/{path.stem}.csv", table.encode()
    for exhibit_id in filter(transcribed, ledger()):
        yield f"_extra/results/{exhibit_id}.transcribed.csv", table_path(exhibit_id).read_bytes()
    for name, path in notebooks().items():
        yield f"_extra/sources/{name}.md", path.read_bytes()
    folder = Path(mathjax.__file__).parent / "static" / "mathjax" / "es5"
    for pattern in ("tex-chtml.js", "output/chtml/fonts/woff-v2/*.woff"):
        for path in sorted(folder.glob(pattern)):
            yield f"_extra/mathjax/{path.relative_to(folder).as_posix()}", path.read_bytes()


def pages_of(toc: Path) -> list[str]:
    """Return every page in a table of contents, without endings, in its order; the appendix is last."""
    contents = parse_toc_yaml(toc)
    return [*contents, *chain.from_iterable((contents.meta or {}).get("appendix", {}).values())]


def appendix(edition: str) -> dict[str, list[str]]:
    """Return the pages outside the sidebar, by their paper's page. The edition ``full`` has none: its data
    and models make them pages of their paper."""
    meta = parse_toc_yaml(BOOK / CONTENTS).meta or {}
    return {} if edition == "full" else meta.get("appendix", {})


# A heading or a label, in Markdown or in the lines of a notebook's file, which may be damaged.
_REPEATED = re.compile(rb'^ *"?(?:#+ |\([\w-]+\)=).*$', re.MULTILINE)


def repeated_part(name: str, content: bytes | None) -> object:
    """Return the part of a staged file that other pages repeat: a page's headings and labels, nothing of a
    download, any other file whole. None for a missing file."""
    if content is None or name.startswith("_extra/"):
        return None
    return _REPEATED.findall(content) if name.endswith((".md", ".ipynb")) else content


def stage(executed_dir: Path, target: Path, *, judge: bool = False) -> bool:
    """Bring ``target`` up to date for the book, and return whether a :func:`repeated_part` changed.

    Only changed files are touched. Sphinx renders only the pages whose own source changed; if a repeated part
    changed, the others would keep an old title, or miss a new page. ``judge`` adds the judge for browsers;
    without it, its page is left out.

    Raises
    ------
    NotebookError
        If the table of contents names a page that does not exist.
    """
    output_dir = executed_dir.parent
    card, pages = scorecard(results.read_all(output_dir)), pages_of(BOOK / CONTENTS)
    files, form = browser_judge.page_files() if judge else ({}, "")
    wanted = {f"_extra/{name}": content for name, content in files.items()}
    wanted |= _prose_pages(card, form)
    wanted["_config.yml"] = settings(output_dir.name).encode()
    contents = yaml.safe_load((BOOK / CONTENTS).read_text(encoding="utf-8"))
    if not appendix(output_dir.name):  # its pages are then among those of each paper
        moved = contents.pop("meta", {}).get("appendix", {})
        for chapter in (page for part in contents.get("parts", []) for page in part["chapters"]):
            if chapter["file"] in moved:
                chapter.setdefault("sections", []).extend({"file": page} for page in moved[chapter["file"]])
    wanted[CONTENTS] = yaml.safe_dump(contents, sort_keys=False).encode()
    wanted[REFERENCES.name] = REFERENCES.read_bytes()
    wanted |= _downloads(output_dir)
    redirect = environment(Path(__file__).parent).get_template("moved.html.j2")
    redirects = BOOK / "redirects.yml"
    for old, new in (own_yaml.read(redirects) if redirects.is_file() else {}).items():
        wanted[f"_extra/{old}.html"] = redirect.render(address=f"{'../' * old.count('/')}{new}").encode()
    wanted |= {name: text.encode() for name, text in page_forms.labs()}
    executed = [page for page in pages if not wanted.keys() & {f"{page}.md", f"{page}.ipynb"}]
    wanted |= _notebook_pages(executed_dir, executed, card)
    wanted |= _with_figures(wanted)
    wanted["_extra/page_texts.js"] = search_script(pages, wanted, card)
    return _write(target, wanted)


def _prose_pages(card: pd.DataFrame, form: str) -> dict[str, bytes]:
    """Return every file of the folder ``book``, its pages with claims, citation and the judge's ``form``; the
    page that wants the form is left out if it is empty."""
    wanted = dict[str, bytes]()
    for path in sorted(BOOK.rglob("*")):
        name = path.relative_to(BOOK).as_posix()
        if path.suffix == ".md":
            prose = page_forms.with_claims(path.read_text(encoding="utf-8"), card)
            prose = prose.replace(citing.BOOK_MARK, f"```bibtex\n{citing.bibtex()}\n```")
            if browser_judge.MARK in prose and not form:
                fetching = f"Fetch it with {browser_judge.command()}, then run `radbook render`"
                lack = f"its judge runs in Pyodide (Python for browsers). {fetching}"
                prose = page_forms.placeholder(prose, lack)
            prose = prose.replace(browser_judge.MARK, form)
            wanted[name] = f"{prose}\n\n{citing.source_line(f'book/{name}')}\n".encode()
        elif path.is_file():
            wanted[name] = path.read_bytes()
    return wanted


def _notebook_pages(executed_dir: Path, pages: Sequence[str], card: pd.DataFrame) -> dict[str, bytes]:
    """Return the executed notebooks, and substitutes for those that have not run yet or lack data."""
    at_toy_scale = set(chain.from_iterable(appendix(executed_dir.parent.name).values()))
    wanted = dict[str, bytes]()
    for page in pages:
        name = page.removeprefix("notebooks/")
        if page == name or name not in notebooks():
            where, remedy = display_path(BOOK / CONTENTS), "Correct the entry."
            raise NotebookError(f"page {page!r} does not exist", where, remedy)
        source, executed = notebooks()[name].read_text(encoding="utf-8"), executed_dir / f"{name}.ipynb"
        lack = page_forms.omission_reason(executed) if executed.is_file() else ""
        if lack or not executed.is_file():
            text = page_forms.placeholder(source, lack)
            wanted[f"{page}.md"] = f"{text}\n\n{citing.source_line(f'{page}.md')}\n".encode()
        else:
            shown = page_forms.for_readers(executed, card, source=source, at_toy_scale=page in at_toy_scale)
            wanted[f"{page}.ipynb"] = shown.encode()
    return wanted


# Where a paper's page wants a figure of another page: a comment with that page and the figure's name.
_FIGURE = re.compile(r"^<!-- figure: (\S+) ([\w-]+) -->$", re.MULTILINE)


def _with_figures(staged: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the staged pages of papers with the figures that they ask for, and the drawings of these.

    A figure whose page was not made is left out.
    """
    changed = dict[str, bytes]()

    def put(asked: re.Match[str]) -> str:
        executed = staged.get(f"notebooks/{asked[1]}.ipynb")
        if executed is None or (drawn := page_forms.drawing(executed.decode(), asked[2])) is None:
            return ""
        changed[f"papers/{asked[2]}.svg"] = drawn[0].encode()
        alt, caption = drawn[1]["image"]["alt"], drawn[1]["figure"]["caption"]
        return f"```{{figure}} {asked[2]}.svg\n:alt: {alt}\n\n{caption}\n```"

    for paper in [name for name in staged if name.startswith("papers/")]:
        changed[paper] = _FIGURE.sub(put, staged[paper].decode()).encode()
    return changed


_FRONT_MATTER = re.compile(r"\A---\n.*?^---\n", re.MULTILINE | re.DOTALL)
_GLUED = re.compile(r"\{glue:text\}`([\w-]+)`")  # {glue:text}`name`
# A heading with the first label before it, as ``(how-to-cite)=`` and ``# How to cite``.
_HEADING = re.compile(r"(?:^\(([\w-]+)\)=\n)?(?:^\([\w-]+\)=\n)*^#{1,6} (.+)$", re.MULTILINE)
# Citations, tags, labels, fences, options, and of roles and emphasis all but the words.
_MARKUP = re.compile(
    r"\{cite[:a-z]*\}`[^`]*`|<[^>]+>|^\([\w-]+\)=$|^(?:```|:::)[^\n]*$|^:[\w-]+:[^\n]*$"
    r"|\{[a-z:]+\}(?=`)| <[\w-]+>(?=`)|[`*#$]",
    re.MULTILINE,
)


def _prose(page: bytes, *, notebook: bool) -> str:
    """Return the Markdown of a staged page, with the texts that its code put into it."""
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


def searchable_text(page: bytes, *, notebook: bool) -> tuple[str, list[tuple[str, str]]]:
    """Return a staged page's content for the search: its running text with numbers and without markup, and
    its headings, title first, each with the label before it (empty if there is none)."""
    prose = _prose(page, notebook=notebook)
    headings = _HEADING.findall(page_forms.FENCED.sub("", prose))

    def plain(markdown: str) -> str:
        return " ".join(_MARKUP.sub(" ", markdown).split())

    return plain(prose), [(plain(words), label) for label, words in headings]


def search_script(pages: Sequence[str], staged: Mapping[str, bytes], card: pd.DataFrame) -> bytes:
    """Return the search index: exhibits by paper and number, and headings and texts of pages.

    A script, not data: browsers refuse to fetch anything for a page that was opened from a folder.
    """
    names = {page: f"{page}.ipynb" if f"{page}.ipynb" in staged else f"{page}.md" for page in pages}
    read = {
        page: searchable_text(staged[name], notebook=name != f"{page}.md") for page, name in names.items()
    }
    listed = {
        "pageTexts": {page: text for page, (text, _) in read.items()},
        "pageHeadings": {page: headings for page, (_, headings) in read.items()},
        "exhibits": [
            {
                "name": f"{row.paper}, {row.label}",
                "title": row.title,
                "verdict": row.verdict,
                "address": f"notebooks/{address_of(row)}",
            }
            for row in card.itertuples()
        ],
    }
    texts = {key: json.dumps(value, ensure_ascii=False, indent=0) for key, value in listed.items()}
    return "".join(f"window.{key} = {text};\n" for key, text in texts.items()).encode()


def _write(target: Path, wanted: Mapping[str, bytes]) -> bool:
    """Make a folder hold these files alone, and return whether a :func:`repeated_part` changed."""
    shared = False
    for path in sorted(target.rglob("*"), reverse=True):
        if path.is_file() and path.relative_to(target).as_posix() not in wanted:
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
            shared |= repeated_part(name, before) != repeated_part(name, content)
        if b"```{glossary}" in content:
            path.touch()  # Sphinx 7's search forgets the entries of a page that it does not write again
    return shared
