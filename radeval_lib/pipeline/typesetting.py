"""A Sphinx extension that sets numbers and symbols of the rendered book: a minus sign before a negative
number, no sign before zero, an apostrophe that is no straight quote, no space before a percent sign, no line
break within an interval, a name with a hyphen or an option of a command, the subscript of Kendall's τ_b, and
author and year as labels of the bibliography.

Sources and results keep the plain characters, which programs read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from html import unescape
from pathlib import Path
from string import ascii_lowercase
from typing import Any

from docutils import nodes
from matplotlib.font_manager import FontProperties, fontManager
from matplotlib.textpath import text_to_path
from pybtex.plugin import register_plugin
from pybtex.style.labels import BaseLabelStyle
from sphinx.application import Sphinx
from sphinx.config import Config

from radeval_lib.interactive import as_data
from radeval_lib.pipeline.absent import is_outside_contents

_MINUS = re.compile(r"(?<![\w.:/−-])-(?=\.?\d)")
_SIGNED_ZERO = re.compile(r"(?<![\w.:/+−-])[-+−](?=0(?:\.0+)?(?![\w]|\.\d))")
_STRAIGHT = r"(?:'|&#x27;|&#39;)"
_APOSTROPHE = re.compile(
    rf"(?<=[^\W\d_]){_STRAIGHT}(?=[^\W\d_])|(?<=\d){_STRAIGHT}(?=s\b)|(?<=s){_STRAIGHT}(?=[\s,.;:)])"
)
_QUOTED = {
    "“”": re.compile(r'(?<![^\s(])(?:"|&quot;|&#34;)(?=\w|\()([^"&<>]+)(?:"|&quot;|&#34;)(?!\w)'),
    "‘’": re.compile(
        rf"(?<![^\s(“]){_STRAIGHT}(?=\w|\()((?:[^'&<>]|(?<=\w){_STRAIGHT}(?=\w))+){_STRAIGHT}(?!\w)"
    ),
}
"""Quotation marks in pairs, by the signs to set; none is within what they quote but apostrophes of words."""
_PERCENT = re.compile(r"(?<=\d) %(?!\w)")
_INTERVAL = re.compile(r"(?<=\[)([-+−]?[\d.,]+%?(?:,| to)) (?=[-+−]?[\d.,]+%?\])")
_BOUND = re.compile(r"((?:(?<!\w)p )?(?:[<>≤≥]|&lt;|&gt;)) (?=[-+−]?\.?\d)")
_PLACE = re.compile(
    r"\b(Sections?|Sec\.?|bullet|Appendix|App\.?|Tables?|Figures?|Figs?\.|Equations?|Experts?|Labs?|Tasks?) "
    r"(?=\d|[A-I](?:\.\d|\b(?! \w)))"
)
_COUNT = re.compile(r"(?:\b([nkKpαρτ]|τ_b)|^) ([=−-]) (?=\.?\d)")  # at the beginning after a subscript
_SPREAD = re.compile(r"(?<=\d)\s(±|to|v)\s(?=[-+−]?\d)")
_POINTS = re.compile(r"(?<=\d) (?=points?\))")
_CODE = r"<(script|style|code|pre|math|textarea|title)\b.*?</\1\s*>"
_NAME_WITH_HYPHEN = re.compile(
    r"(?<![\w.:/;&-])(?:(?:"
    r"[A-Za-z]\w{0,11}-(?:[^\W_]{1,3}|\d{4})(?:_[^\W_]{1,6})?"  # ROUGE-L, DeBERTa-V3_base, BioNLP-2023
    r"|(?:F1?|[A-Z]+[a-z]?[A-Z]+\w{0,6})(?:-[A-Z]\w{0,10})+"  # F1-RadGraph, CC-BY-ND, NON-ABNORMALITY
    r"|\d{4}-\d\d-\d\d|F-scores?|n-grams?|X-rays?)(?![\w/-]|[.:]\w)"
    r"|(?=[\w./-]{5,28}(?![\w/-]|[.:]\w))[A-Za-z]\w*/[\w.]*\w(?:-[\w.]*\w)+)"  # microsoft/phi-2
)
"""Names and dates that no line breaks."""
_CODE_IN_TEXT = re.compile(r"<code>([^<]*)</code>")
_WORD_OF_CODE = re.compile(r"\S*[/-][^\W\d]\S*")
_LONGEST_WHOLE = 28
"""Characters of a word of code that fits a line of a phone, so that nothing breaks it."""
_COMMANDS = re.compile(r'(<div class="highlight-(?:bash|default|text) .*?<pre>)(.*?)(?=</pre>)', re.DOTALL)
_OPTION = re.compile(r"(?<![\w/.-])--?[A-Za-z][\w-]*")
_NAME = re.compile(r"[\w./:]{25,}")
_BREAK = re.compile(r"(?<=[/:])(?=\w)|(?<=\.)(?=\w{6})|(?<=\w{24}_)(?=\w)")
"""Where a long name may break: after a sign, not before a file's ending, nor within a word of one line."""
_TAU = "τ_b"
_AS_IS = re.compile(rf"{_CODE}|<[^>]*>", re.DOTALL)
"""What of HTML or SVG is no running text: tags, and elements that hold code or what a program reads."""
_NO_SPANS = re.compile(
    rf'<span class="whole">[^<]*</span>|<(option|svg)\b.*?</\1\s*>|{_CODE.replace("1", "2")}|<[^>]*>',
    re.DOTALL,
)
"""What of HTML is no running text, may hold no element, or is whole."""
_ROWS = re.compile(
    r'(<div class="search-table">.*?)<script type="application/json">(.*?)</script>', re.DOTALL
)
_LINE = re.compile(
    r'<text style="(?P<style>font-size: (?P<size>[\d.]+)px;[^"]*)" '
    r'transform="translate\((?P<x>[-\d.]+) (?P<y>[-\d.]+)\)">(?P<text>[^<]*)</text>'
)
_LINES = re.compile(  # a text may have a box
    r'<g id="text_\d+">\s*(?:<g id="patch_\d+">\s*<path[^>]*/>\s*</g>\s*)?'
    r'(?:<text [^>]*"translate\([^)]*\)">[^<]*</text>\s*){2,}</g>'
)
_FAMILY = re.compile("'([^']+)'")
_ANCHORS = {0.0: "start", 0.5: "middle", 1.0: "end"}
"""By the share of a line's width that lies left of where it meets the others."""


def characters(text: str) -> str:
    """Text with U+2212 in place of a hyphen that stands for a minus sign, a zero without a sign, U+2019 for a
    straight apostrophe, ``95%`` for ``95 %``, and intervals and bounds (``< 0.001``) held together by a
    no-break space."""
    signed = _MINUS.sub("\N{MINUS SIGN}", _SIGNED_ZERO.sub("", text))
    whole = _BOUND.sub("\\1\N{NO-BREAK SPACE}", _APOSTROPHE.sub("\N{RIGHT SINGLE QUOTATION MARK}", signed))
    return _INTERVAL.sub("\\1\N{NO-BREAK SPACE}", _PERCENT.sub("%", whole))


def held(text: str) -> str:
    """Text whose places (``Section 5``), counts (``n − 1``, ``n = 5``, ``2 points``) and ranges (``1 ± 2``,
    ``1 to 2``) are held together by a no-break space."""
    text = _POINTS.sub("\N{NO-BREAK SPACE}", _PLACE.sub("\\1\N{NO-BREAK SPACE}", text))
    text = _SPREAD.sub("\N{NO-BREAK SPACE}\\1\N{NO-BREAK SPACE}", text)
    return _COUNT.sub("\\1\N{NO-BREAK SPACE}\\2\N{NO-BREAK SPACE}", text)


def _whole(found: re.Match[str]) -> str:
    """HTML of words that no line breaks."""
    return f'<span class="whole">{found[0]}</span>'


def symbols(html: str) -> str:
    """HTML with the signs, subscripts and quotation marks of its text set, outside tags and code."""

    def written(text: str) -> str:
        for marks, pair in _QUOTED.items():
            text = pair.sub(rf"{marks[0]}\1{marks[1]}", text)
        return characters(text).replace(_TAU, "τ<sub>b</sub>")

    return _outside_tags(html, written)


def markup(html: str) -> str:
    """HTML as :func:`symbols` sets it, in which long names of code may break after a sign, and names such as
    ROUGE-L and short words of code not at all."""

    def broken(text: str) -> str:
        return _NAME.sub(lambda name: _BREAK.sub("<wbr>", name[0]), held(text))

    def of_code(code: re.Match[str]) -> str:
        def short(word: re.Match[str]) -> str:
            return _whole(word) if len(word[0]) <= _LONGEST_WHOLE else word[0]

        return f"<code>{_WORD_OF_CODE.sub(short, code[1])}</code>"

    whole = _outside_tags(
        _outside_tags(symbols(html), broken), lambda text: _NAME_WITH_HYPHEN.sub(_whole, text), _NO_SPANS
    )
    whole = _CODE_IN_TEXT.sub(of_code, whole)
    return _ROWS.sub(lambda table: table[1] + as_data(_set_rows(json.loads(table[2]))), whole)


def _set_rows(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """The rows of a table to search, HTML cell by cell, each cell as :func:`markup` sets it."""
    return [[markup(cell) for cell in row] for row in rows]


def commands(html: str) -> str:
    """HTML of a page whose blocks of commands break no option, such as ``--metric``, after its hyphens."""
    return _COMMANDS.sub(
        lambda block: block[1] + _outside_tags(block[2], lambda text: _OPTION.sub(_whole, text)), html
    )


def drawing(svg: str) -> str:
    """An SVG drawing with its text set; what follows a subscript is raised to the line again, and the lines
    of a text keep to their common edge or middle."""
    svg = _LINES.sub(lambda lines: _anchored(lines[0]), svg)
    lowered = r'τ<tspan font-size="75%" dy="0.24em">b</tspan><tspan dy="-0.18em">\1</tspan>'
    return _outside_tags(svg, lambda text: re.sub(rf"{_TAU}([^<]*)", lowered, characters(text)))


def _anchored(lines: str) -> str:
    """The lines of a text, placed by matplotlib by the widths that they have in its font, anchored where they
    meet: a browser may draw them in another font."""
    placed = [(float(one["x"]), _width(one)) for one in _LINE.finditer(lines)]
    meets = {share: [x + share * width for x, width in placed] for share in _ANCHORS}
    share = min(meets, key=lambda one: max(meets[one]) - min(meets[one]))
    anchor, place = _ANCHORS[share], iter(meets[share])
    return _LINE.sub(
        lambda one: (
            f'<text style="text-anchor: {anchor}; {one["style"]}" '
            f'transform="translate({next(place):.6f} {one["y"]})">{one["text"]}</text>'
        ),
        lines,
    )


def _width(line: re.Match[str]) -> float:
    """The width of a line of text in the font that matplotlib took, in the units of the drawing."""
    named = [name for name in _FAMILY.findall(line["style"]) if name in fontManager.get_font_names()]
    font = FontProperties(family=named or ["DejaVu Sans"], size=float(line["size"]))
    width, _, _ = text_to_path.get_text_width_height_descent(unescape(line["text"]), font, ismath=False)
    return float(width)


def _outside_tags(source: str, write: Callable[[str], str], as_is: re.Pattern[str] = _AS_IS) -> str:
    parts, last = list[str](), 0
    for match in as_is.finditer(source):
        parts += [write(source[last : match.start()]), match[0]]
        last = match.end()
    return "".join([*parts, write(source[last:])])


def _inline(text: str) -> Iterator[nodes.Node]:
    """Text as docutils' nodes, the subscript and names with a hyphen as their own."""
    *before, last = held(characters(text)).split(_TAU)
    for part in before:
        yield from _whole_names(f"{part}τ")
        yield nodes.subscript("", "b")
    yield from _whole_names(last)


def _whole_names(text: str) -> Iterator[nodes.Node]:
    """Text as docutils' nodes, in which names such as ROUGE-L are not broken after their hyphen."""
    last = 0
    for name in _NAME_WITH_HYPHEN.finditer(text):
        if name.start() > last:
            yield nodes.Text(text[last : name.start()])
        yield nodes.inline("", name[0], classes=["whole"])
        last = name.end()
    if text[last:]:
        yield nodes.Text(text[last:])


def set_page(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Set the text of a page, but for code, formulas and alternative texts."""
    for raw in doctree.findall(nodes.raw):
        if "html" in raw.get("format", ""):
            raw[:] = [nodes.Text(markup(raw.astext()))]
    for literal in doctree.findall(nodes.literal):
        if max(map(len, literal.astext().split()), default=0) <= _LONGEST_WHOLE:
            literal["classes"].append("short")
    for text in list(doctree.findall(nodes.Text)):
        # A citation names two authors, of whom BibTeX may call the second "others".
        if isinstance(text.parent, nodes.reference) and " and others" in text:
            whole = nodes.Text(text.replace(" and others", " et al."))
            text.parent.replace(text, whole)
            text = whole
        if _is_code(text):
            continue
        written = list(_inline(text.astext()))
        if written != [text]:
            text.parent.replace(text, written)


def set_commands(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Set the blocks of commands of a page, which only its HTML has in colours."""
    if "body" in context:
        context["body"] = commands(context["body"])


def _is_code(node: nodes.Node | None) -> bool:
    """Whether a node is in what stays as it is written: code, formulas, and HTML."""
    kinds = (nodes.literal, nodes.FixedTextElement, nodes.math, nodes.math_block, nodes.raw)
    return node is not None and (isinstance(node, kinds) or _is_code(node.parent))


class AuthorYear(BaseLabelStyle):
    """Labels of a bibliography as the text cites its entries: ``Doe et al., 2020``."""

    def format_labels(self, sorted_entries: Sequence[Any]) -> Iterator[str]:
        """One label per entry, in their order; ``2023a`` and ``2023b`` where two would be the same."""
        labels = [self._label(entry) for entry in sorted_entries]
        for place, label in enumerate(labels):
            alike = labels.count(label) > 1
            yield label + (ascii_lowercase[labels[:place].count(label)] if alike else "")

    @staticmethod
    def _label(entry: Any) -> str:
        """Authors and year."""
        people = entry.persons.get("author") or entry.persons.get("editor") or []
        names = [" ".join(map(str, [*one.rich_prelast_names, *one.rich_last_names])) for one in people]
        names = names or [entry.key]
        several = len(names) > 2 or "others" in names  # as BibTeX calls those whom an entry does not name
        named = f"{names[0]} et al." if several else " and ".join(names)
        return f"{named}, {entry.fields.get('year', 'n.d.')}"


def keep_left_out(app: Sphinx, config: Config) -> None:
    """Make the pages that the table of contents lacks because they are left out, to which tables may link."""
    excluded = config.exclude_patterns
    config.exclude_patterns = [one for one in excluded if not is_outside_contents(Path(app.srcdir) / one)]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension with Sphinx."""
    from pybtex.style.formatting.plain import Style

    style = type("AuthorYearStyle", (Style,), {"default_label_style": AuthorYear})
    register_plugin("pybtex.style.formatting", "author_year", style)
    app.connect("config-inited", keep_left_out, priority=1000)  # after sphinx_external_toc has excluded them
    app.connect("doctree-resolved", set_page)
    app.connect("html-page-context", set_commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
