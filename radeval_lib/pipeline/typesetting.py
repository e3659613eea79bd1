"""Numbers and symbols of text and HTML as the rendered book sets them: a minus sign before a negative number,
no sign before zero, an apostrophe that is no straight quote, no space before a percent sign, no line break
within an interval, a name with a hyphen or an option of a command, and the subscript of Kendall's τ_b.

Sources and results keep the plain characters, which programs read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence

from radeval_lib.interactive import as_data

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
NAME_WITH_HYPHEN = re.compile(
    r"(?<![\w.:/;&-])(?:(?:"
    r"[A-Za-z]\w{0,11}-(?:[^\W_]{1,3}|\d{4})(?:_[^\W_]{1,6})?"  # ROUGE-L, DeBERTa-V3_base, BioNLP-2023
    r"|(?:F1?|[A-Z]+[a-z]?[A-Z]+\w{0,6})(?:-[A-Z]\w{0,10})+"  # F1-RadGraph, CC-BY-ND, NON-ABNORMALITY
    r"|\d{4}-\d\d-\d\d|F-scores?|n-grams?|X-rays?)(?![\w/-]|[.:]\w)"
    r"|(?=[\w./-]{5,28}(?![\w/-]|[.:]\w))[A-Za-z]\w*/[\w.]*\w(?:-[\w.]*\w)+)"  # microsoft/phi-2
)
"""Names and dates that no line breaks."""
_CODE_IN_TEXT = re.compile(r"<code>([^<]*)</code>")
_WORD_OF_CODE = re.compile(r"\S*[/-][^\W\d]\S*")
LONGEST_WHOLE = 28
"""Characters of a word of code that fits a line of a phone, so that nothing breaks it."""
_COMMANDS = re.compile(r'(<div class="highlight-(?:bash|default|text) .*?<pre>)(.*?)(?=</pre>)', re.DOTALL)
_OPTION = re.compile(r"(?<![\w/.-])--?[A-Za-z][\w-]*")
_NAME = re.compile(r"[\w./:]{25,}")
_BREAK = re.compile(r"(?<=[/:])(?=\w)|(?<=\.)(?=\w{6})|(?<=\w{24}_)(?=\w)")
"""Where a long name may break: after a sign, not before a file's ending, nor within a word of one line."""
TAU = "τ_b"
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
        return characters(text).replace(TAU, "τ<sub>b</sub>")

    return outside_tags(html, written)


def markup(html: str) -> str:
    """HTML as :func:`symbols` sets it, in which long names of code may break after a sign, and names such as
    ROUGE-L and short words of code not at all."""

    def broken(text: str) -> str:
        return _NAME.sub(lambda name: _BREAK.sub("<wbr>", name[0]), held(text))

    def of_code(code: re.Match[str]) -> str:
        def short(word: re.Match[str]) -> str:
            return _whole(word) if len(word[0]) <= LONGEST_WHOLE else word[0]

        return f"<code>{_WORD_OF_CODE.sub(short, code[1])}</code>"

    whole = outside_tags(
        outside_tags(symbols(html), broken), lambda text: NAME_WITH_HYPHEN.sub(_whole, text), _NO_SPANS
    )
    whole = _CODE_IN_TEXT.sub(of_code, whole)
    return _ROWS.sub(lambda table: table[1] + as_data(_set_rows(json.loads(table[2]))), whole)


def _set_rows(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """The rows of a table to search, HTML cell by cell, each cell as :func:`markup` sets it."""
    return [[markup(cell) for cell in row] for row in rows]


def commands(html: str) -> str:
    """HTML of a page whose blocks of commands break no option, such as ``--metric``, after its hyphens."""
    return _COMMANDS.sub(
        lambda block: block[1] + outside_tags(block[2], lambda text: _OPTION.sub(_whole, text)), html
    )


def outside_tags(source: str, write: Callable[[str], str], as_is: re.Pattern[str] = _AS_IS) -> str:
    """HTML or SVG whose running text is as ``write`` gives it: all but what ``as_is`` matches."""
    parts, last = list[str](), 0
    for match in as_is.finditer(source):
        parts += [write(source[last : match.start()]), match[0]]
        last = match.end()
    return "".join([*parts, write(source[last:])])
