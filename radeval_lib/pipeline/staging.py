"""Stage the book: prose pages, executed notebooks and static files, laid out as Jupyter Book wants them."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

import pandas as pd
import yaml
from jinja2 import Environment, FileSystemLoader
from sphinx_external_toc.parsing import parse_toc_yaml

from radeval_lib import checksums, own_yaml
from radeval_lib.errors import NotebookError
from radeval_lib.papers.exhibits import ledger
from radeval_lib.papers.printed_numbers import has_numbers, numbers_of
from radeval_lib.paths import BOOK, REFERENCES, ROOT, display_path, notebooks
from radeval_lib.pipeline import absent, browser_judge, citing, lab_pages
from radeval_lib.pipeline.page_forms import for_readers, with_claims
from radeval_lib.pipeline.page_search import search_script
from radeval_lib.study import profiles, recordings, results
from radeval_lib.study.display import ENDS_HERE
from radeval_lib.study.printed_tables import shown_numbers
from radeval_lib.study.results import Result
from radeval_lib.study.scorecards import scorecard

CONTENTS = "_toc.yml"
"""The table of contents, in the folder of prose and in the staged book."""
_MOVED = "moved.html.j2"
_MATHJAX = ("tex-chtml.js", "output/chtml/fonts/woff-v2/*.woff")


def settings(edition: str = "") -> str:
    """Return Jupyter Book's settings with a footer that names licences, the edition (a profile) and the last
    commit, with the commit's date; and the stored scores of the edition that the code would not give.

    The date is the commit's, so that the same state of the repository gives the same bytes.
    """
    content = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    footer = [f"Version {citing.about()['version']}."]
    footer += ["Code: MIT licence. Text, figures and tables: CC BY 4.0 (see LICENSE and LICENSE-TEXT.md)."]
    if commit := last_commit():
        footer.append(f"Last commit of the repository: {commit}.")
    if edition in profiles.names():
        footer.append(f"Edition: {edition}.")
        own = profiles.profile(edition)
        sets = recordings.of_edition(own.roles.values(), own.needs_data_root)
        stale = {name: metrics for name, metrics in sets.items() if recordings.out_of_date(name, metrics)}
        footer += recordings.sentences(stale)
    # Not under html: the options of the theme that stand under sphinx replace what is said there.
    content["sphinx"]["config"]["html_theme_options"]["extra_footer"] = f"<p>{' '.join(footer)}</p>"
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True)


def last_commit() -> str:
    """Return short name and date of the repository's last commit; empty outside a clone, or without git."""
    commit, day = citing.head()
    return f"{commit[:7]} of {day}" if commit else ""


def _downloads(output_dir: Path) -> Iterator[tuple[str, bytes]]:
    """Yield what pages link to or load: each result as JSON and what is shown of it as CSV, texts that a page
    leaves, what the papers print of each exhibit as CSV and JSON, the notebooks, and MathJax's own files,
    from the package that carries them: a hospital's network blocks other hosts.

    With them the style sheet of MyST-NB, which comes with that package only after the first pages were
    written: a page's link to it names its checksum, so the first render would differ from the next.
    """
    import mathjax
    import myst_nb

    style = Path(myst_nb.__file__).parent / "static" / "mystnb.css"
    yield f"_static/mystnb.{checksums.of_file(style)}.css", style.read_bytes()
    for path in sorted((output_dir / "results").glob("*/*/headline_*.json")):
        yield f"_extra/results/{path.name}", path.read_bytes()  # what a later edition is compared with
    for path in sorted((output_dir / "results").glob("*/*/*.txt")):
        yield f"_extra/results/{path.name}", path.read_bytes()
    for path in sorted((output_dir / "results").glob("*/*/*.*.*.json")):
        yield f"_extra/results/{path.name}", path.read_bytes()
        numbers = shown_numbers(results.read(path))
        yield f"_extra/results/{path.with_suffix('.csv').name}", _csv(numbers)
    for key in filter(has_numbers, ledger()):
        numbers = numbers_of(key)
        yield f"_extra/results/{key}.transcribed.csv", _csv(numbers)
        text = json.dumps(numbers.to_dict("records"), ensure_ascii=False, indent=1)
        yield f"_extra/results/{key}.transcribed.json", f"{text}\n".encode()
    for name, path in notebooks().items():
        yield f"_extra/sources/{name}.md", path.read_bytes()
    folder = Path(mathjax.__file__).parent / "static" / "mathjax" / "es5"
    for pattern in _MATHJAX:
        for path in sorted(folder.glob(pattern)):
            yield f"_extra/mathjax/{path.relative_to(folder).as_posix()}", path.read_bytes()


def _csv(frame: pd.DataFrame) -> bytes:
    text: str = frame.to_csv(index=False, lineterminator="\n")
    return text.encode()


def pages_of(toc: Path) -> list[str]:
    """Return every page that a table of contents names, without endings, in its order, the appendix last."""
    contents = parse_toc_yaml(toc)
    return [*contents, *chain.from_iterable((contents.meta or {}).get("appendix", {}).values())]


def appendix(edition: str) -> dict[str, list[str]]:
    """Return the pages outside the sidebar by the page of their paper; none in the edition ``full``, whose
    data and models make them pages of their paper."""
    meta = parse_toc_yaml(BOOK / CONTENTS).meta or {}
    return {} if edition == "full" else meta.get("appendix", {})


def _contents(edition: str, left_out: Collection[str]) -> bytes:
    """Return the staged table of contents: without pages left out, and with the appendix among the pages of
    each paper where this edition has none."""
    contents = yaml.safe_load((BOOK / CONTENTS).read_text(encoding="utf-8"))
    meta = contents.pop("meta", {})
    if not appendix(edition):
        papers = (page for part in contents.get("parts", []) for page in part["chapters"])
        for paper in papers:
            own = meta.get("appendix", {}).get(paper["file"], [])
            paper.setdefault("sections", []).extend({"file": page} for page in own)
            if not paper["sections"]:
                del paper["sections"]
        meta = {}
    contents = absent.contents_without(contents, left_out)
    for pages in meta.get("appendix", {}).values():
        pages[:] = [page for page in pages if page not in left_out]
    return yaml.safe_dump({**contents, "meta": meta} if meta else contents, sort_keys=False).encode()


def _redirects() -> Iterator[tuple[str, bytes]]:
    """Yield a page for each old address in ``redirects.yml``, which sends readers on to the new one."""
    path = BOOK / "redirects.yml"
    moved = Environment(loader=FileSystemLoader(Path(__file__).parent), autoescape=True).get_template(_MOVED)
    for old, new in (own_yaml.read(path) if path.is_file() else {}).items():
        yield f"_extra/{old}.html", moved.render(address=f"{'../' * old.count('/')}{new}").encode()


_REPEATED = re.compile(rb'^ *"?(?:#+ |\([\w-]+\)=).*$', re.MULTILINE)
"""A heading or a label, in Markdown or in the lines of a notebook's file, which may be a damaged one."""


def repeated(name: str, content: bytes | None) -> object:
    """Return what other pages repeat of a staged file, None of a missing one: a page's headings and labels
    (in contents, links and previews), nothing of a download, any other file whole."""
    if content is None or name.startswith("_extra/"):
        return None
    if not name.endswith((".md", ".ipynb")):
        return content
    return _REPEATED.findall(content)


def _placeholder(name: str, source: str, lack: str = "") -> bytes:
    """Return what stands for a page that this build does not have, by its notebook's name and source."""
    return f"{absent.placeholder(source, lack)}\n\n{citing.source_line(f'notebooks/{name}.md')}\n".encode()


def stage(executed_dir: Path, target: Path, *, judge: bool = False) -> bool:
    """Bring ``target`` to what the book needs, touching only files that changed; with ``judge``, also the
    judge for a reader's browser, without which its page is left out.

    Whether something changed that other pages repeat, see :func:`repeated`: Sphinx writes only the pages
    whose own source changed, and the others would go on naming an old title, or missing a new page.

    Raises
    ------
    NotebookError
        If the table of contents names a page that does not exist.
    """
    output_dir = executed_dir.parent
    recorded = results.read_all(output_dir)
    card, pages = scorecard(recorded), pages_of(BOOK / CONTENTS)
    files, form = browser_judge.staged() if judge else ({}, "")
    wanted = {"_config.yml": settings(output_dir.name).encode(), REFERENCES.name: REFERENCES.read_bytes()}
    wanted |= {f"_extra/{name}": content for name, content in files.items()}
    prose, unjudged = _prose_pages(card, recorded, form)
    wanted |= prose
    wanted |= _downloads(output_dir)
    wanted |= _redirects()
    wanted |= {name: text.encode() for name, text in lab_pages.staged()}
    at_toy_scale = set(chain.from_iterable(appendix(output_dir.name).values()))
    executed, left_out, reasons = _executed_pages(executed_dir, pages, at_toy_scale, card, recorded)
    wanted |= executed
    reasons |= dict.fromkeys(unjudged, browser_judge.lack())
    left_out |= {label: title for page in unjudged for label, title in absent.labels(_source(page)).items()}
    pages = [page for page in pages if page not in reasons]
    wanted[CONTENTS] = _contents(output_dir.name, reasons)
    _leave_out(wanted, reasons)
    to_come, missing = _pages_to_come(pages, wanted)
    wanted |= to_come
    for name in wanted:
        if name.endswith((".md", ".ipynb")) and not name.startswith("_extra/"):
            is_notebook = name.endswith(".ipynb")
            wanted[name] = absent.unlink_in_file(wanted[name], missing, notebook=is_notebook)
            wanted[name] = absent.unlink_in_file(wanted[name], left_out, "left out", notebook=is_notebook)
    wanted["_extra/page_texts.js"] = search_script(pages, wanted, card)
    return _write(target, wanted)


def _source(page: str) -> str:
    """Return the source of a page by its name in the table of contents."""
    return ((ROOT if page.startswith("notebooks/") else BOOK) / f"{page}.md").read_text(encoding="utf-8")


def _prose_pages(
    card: pd.DataFrame, recorded: Sequence[Result], form: str
) -> tuple[dict[str, bytes], list[str]]:
    """Return every file of the folder ``book``, its pages with claims, citations and the judge's ``form``;
    and the pages that are left out because they want that form and it is empty."""
    wanted, unjudged = dict[str, bytes](), list[str]()
    for path in sorted(BOOK.rglob("*")):
        name = path.relative_to(BOOK).as_posix()
        if path.suffix == ".md":
            prose = path.read_text(encoding="utf-8")
            prose = citing.with_examples(with_claims(prose, card), recorded)
            if browser_judge.MARK in prose and not form:
                prose = absent.placeholder(prose, browser_judge.lack())
                unjudged.append(name.removesuffix(".md"))
            prose = prose.replace(browser_judge.MARK, form)
            wanted[name] = f"{prose}\n\n{citing.source_line(f'book/{name}')}\n".encode()
        elif path.is_file():
            wanted[name] = path.read_bytes()
    return wanted, unjudged


def _executed_pages(
    executed_dir: Path,
    pages: Sequence[str],
    at_toy_scale: Collection[str],
    card: pd.DataFrame,
    recorded: Sequence[Result],
) -> tuple[dict[str, bytes], dict[str, str], dict[str, str]]:
    """Return notebooks that were run, or what stands for those that lack data; the labels that are left out;
    and the pages that are left out whole, with the reason."""
    wanted, left_out, reasons = dict[str, bytes](), dict[str, str](), dict[str, str]()
    exercises = lab_pages.exercises()
    for path in sorted(executed_dir.glob("*/[!.]*.ipynb")):
        name = path.relative_to(executed_dir).with_suffix("").as_posix()
        if f"notebooks/{name}" not in pages:  # a cell such as one training is run but is not a page
            continue
        source = _source(f"notebooks/{name}")
        if lack := absent.omission_reason(path):
            wanted[f"notebooks/{name}.md"] = _placeholder(name, source, lack)
            left_out |= absent.labels(source)
            reasons[f"notebooks/{name}"] = lack
            continue
        shown = for_readers(path, card, exercises, recorded, at_toy_scale=f"notebooks/{name}" in at_toy_scale)
        wanted[f"notebooks/{name}.ipynb"] = shown.encode()
        if ENDS_HERE in shown:
            left_out |= absent.cut_labels(source, shown)
    return wanted, left_out, reasons


def _leave_out(wanted: dict[str, bytes], reasons: Mapping[str, str]) -> None:
    """Take pages that are left out from the lists of pages in prose."""
    if not reasons:
        return
    apart = {
        label: f"{title} ({lack[:1].upper()}{lack[1:]}.)"
        for page, lack in reasons.items()
        for label, title in absent.labels(_source(page)).items()
    }
    for name in wanted:
        if name.endswith(".md") and not name.startswith("_extra/"):
            wanted[name] = absent.listed_apart(wanted[name].decode(), apart).encode()


def _pages_to_come(pages: Sequence[str], staged: Collection[str]) -> tuple[dict[str, bytes], dict[str, str]]:
    """Return what stands for notebooks that were not run yet, and the labels that are missing with them."""
    wanted, missing = dict[str, bytes](), dict[str, str]()
    for page in pages:
        if any(f"{page}{ending}" in staged for ending in (".md", ".ipynb")):
            continue
        path = ROOT / f"{page}.md"
        if not (page.startswith("notebooks/") and path.is_file()):
            where, remedy = display_path(BOOK / CONTENTS), "Correct the entry or run the notebook."
            raise NotebookError(f"page {page!r} does not exist", where, remedy)
        source = path.read_text(encoding="utf-8")
        wanted[f"{page}.md"] = _placeholder(page.removeprefix("notebooks/"), source)
        missing |= absent.labels(source)
    return wanted, missing


def _write(target: Path, wanted: Mapping[str, bytes]) -> bool:
    """Make a folder hold these files alone; whether something changed that other pages repeat."""
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
            shared |= repeated(name, before) != repeated(name, content)
        if b"```{glossary}" in content:
            path.touch()  # Sphinx 7's search forgets the entries of a page that it does not write again
    return shared
