"""Two reports side by side with their entities marked, and the matches between them; readable without
colour."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from IPython.display import HTML
from jinja2 import Environment
from numpy.typing import NDArray

from radeval_lib import interactive
from radeval_lib.categories import RATE_TYPES, TYPES
from radeval_lib.metrics.ratescore.formula import Explanation, NamedEntity, penalty_matrix
from radeval_lib.metrics.ratescore.settings import Options, Weights

# Short name, colour and border of each type, wherever entities are drawn.
LOOK = {
    "ANATOMY": ("ANA", "#d6e6f5", "solid"),
    "ABNORMALITY": ("ABN", "#fbdcc9", "double"),
    "DISEASE": ("DIS", "#f6cfd8", "dotted"),
    "NON-ABNORMALITY": ("no ABN", "#dcecd2", "dashed"),
    "NON-DISEASE": ("no DIS", "#ece4c8", "dashed"),
}
_PAGE = """\
{% macro mark(name, entity, words) -%}
{% set short, colour, border = look[entity.type] -%}
<mark style="background:{{ colour }};border-bottom:3px {{ border }} #333" title="{{ entity.type|lower }}">
{{- words }}<small aria-hidden="true">&#160;{{ name }} {{ short }}</small>
{{- "" }}<span class="hidden"> ({{ name }}, {{ entity.type|lower }})</span></mark>
{%- endmacro %}
<style>.ratescore-pair{display:flex;flex-wrap:wrap;gap:1rem}.ratescore-pair section{flex:1 1 18rem}
.ratescore mark{color:#111;padding:0 .15em;border-radius:.2em}.ratescore mark small{font-weight:bold;
white-space:nowrap}
.ratescore .hidden{position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden}</style>
<div class="ratescore" role="group" aria-label="{{ title }}">
<p><strong>{{ title }}{{ ":" if scored }}</strong>{{ " %.4f"|format(found.score) if scored }}</p>
<div class="ratescore-pair">
{% for heading, text, parts, overlapping, missing in sides %}
<section><h4>{{ heading }}</h4><p>
{%- for before, marked in parts %}{{ before }}{% if marked %}{{ mark(*marked) }}{% endif %}{% endfor %}
{%- if not text %}<em>(empty)</em>{% endif %}</p>
{% if overlapping %}
<p>Overlapping with these:{% for marked in overlapping %} {{ mark(*marked) }}{% endfor %}</p>
{% endif %}
{% if missing %}
<p>Not found in this form:{% for marked in missing %} {{ mark(*marked) }}{% endfor %}</p>
{% endif %}
</section>
{% endfor %}
</div>
{% if found.notes %}
<ul>{% for note in found.notes %}<li>{{ note }}</li>{% endfor %}</ul>
{% endif %}
{% if found.precision or found.recall %}
<div class="radeval-table" tabindex="0" role="region" aria-label="Best matches">
<table class="radeval">
<caption>Each entity's best match on the other side; a direction is the sum of the terms over the sum of the
weights.</caption>
<thead><tr>
{% for name in ("entity", "best match", "cosine", "weight", "penalty", "term") %}
<th scope="col">{{ name }}</th>
{% endfor %}
</tr></thead><tbody>
{% for direction, way, (ours, queries), (theirs, others) in (
  ("precision", found.precision, ("C", found.candidate), ("R", found.reference)),
  ("recall", found.recall, ("R", found.reference), ("C", found.candidate)),
) if way %}
{% for match in way.matches %}
<tr><td>{{ ours }}{{ match.query + 1 }} {{ queries[match.query].text }}</td>
<td>{{ theirs }}{{ match.match + 1 }} {{ others[match.match].text }}</td>
{% for value in (match.cosine, match.weight, match.penalty, match.term) %}
<td>{{ "%.4f"|format(value) }}</td>
{% endfor %}
</tr>
{% endfor %}
<tr><th scope="row" colspan="6">{{ direction }}:
{{ "%.4f / %.4f = %.4f"|format(way.numerator, way.denominator, way.value) }}</th></tr>
{% endfor %}
</tbody></table></div>
{% endif %}
</div>
"""


def html(
    explanation: Explanation,
    reference: str,
    candidate: str,
    title: str = "RaTEScore of a pair",
    *,
    scored: bool = True,
) -> str:
    """Return an HTML fragment: the two texts with marked entities, the notes, and a table of the terms of
    both sums.

    Each entity carries its number and the short name of its type, and each type has a border of its own, so
    that nothing is said by colour alone. Below a text stand the entities whose words lie, all or in part, in
    those of others, and those whose words it does not have in this form. Without ``scored`` the
    score is left out.
    """
    sides = [
        ("Reference", reference, *_parts("R", reference, explanation.reference)),
        ("Candidate", candidate, *_parts("C", candidate, explanation.candidate)),
    ]
    template = Environment(autoescape=True, trim_blocks=True).from_string(_PAGE)
    return template.render(found=explanation, sides=sides, title=title, look=LOOK, scored=scored)


_Marked = tuple[str, NamedEntity, str]  # name, entity, words


def _parts(
    letter: str, text: str, entities: Sequence[NamedEntity]
) -> tuple[list[tuple[str, _Marked | None]], list[_Marked], list[_Marked]]:
    """Return the text in parts, each with the entity that follows it; the entities that overlap with those;
    and the entities that the text does not have.

    An entity is marked where its words stand next, or else where they first stand free. The words of an
    entity are the tokenizer's, so case and spaces may differ from the text's; it begins and ends where words
    or numbers do, not within one.
    """
    marks: list[tuple[int, int, _Marked]] = []
    overlapping: list[_Marked] = []
    missing: list[_Marked] = []
    place = 0
    for number, entity in enumerate(entities, start=1):
        found = (
            [match.span() for match in _pattern(entity.text).finditer(text)] if entity.text.strip() else []
        )
        free = [one for one in found if all(one[1] <= start or end <= one[0] for start, end, _ in marks)]
        name = f"{letter}{number}"
        if free:
            start, place = next((one for one in free if one[0] >= place), free[0])
            marks.append((start, place, (name, entity, text[start:place])))
        elif found:
            overlapping.append((name, entity, text[slice(*found[0])]))
        else:
            missing.append((name, entity, entity.text))
    parts: list[tuple[str, _Marked | None]] = []
    place = 0
    for start, end, marked in sorted(marks, key=lambda one: one[0]):
        parts.append((text[place:start], marked))
        place = end
    return [*parts, (text[place:], None)], overlapping, missing


def _pattern(words: str) -> re.Pattern[str]:
    """Return the words with any blanks between them, where neither end lies among letters or within a number;
    a number may touch its unit."""
    pieces = re.findall(r"\w+|[^\w\s]", words)
    before = r"(?<!\d)(?<!\d[.,])" if pieces[0][0].isdigit() else r"(?<![^\W\d_])"
    behind = r"(?!\d|[.,]\d)" if pieces[-1][-1].isdigit() else r"(?![^\W\d_])"
    return re.compile(before + r"\s*".join(map(re.escape, pieces)) + behind, re.IGNORECASE)


def editable(explanation: Explanation, cosines: NDArray[np.float64], weights: Weights) -> HTML:
    """Return the pair's entities with types to choose, or to leave out, and the score that follows in the
    page.

    Parameters
    ----------
    explanation : whose entities are shown.
    cosines : of each entity of the reference (rows) with each of the candidate (columns).
    weights : of pairs of types, and the penalty where types differ.
    """
    penalties = penalty_matrix(weights.penalty, Options())
    sides = {"reference": explanation.reference, "candidate": explanation.candidate}
    content: dict[str, Any] = {side: [list(one) for one in entities] for side, entities in sides.items()}
    content |= {"cosines": cosines.tolist(), "types": TYPES, "names": RATE_TYPES}
    content |= {"weights": weights.matrix.tolist(), "penalties": penalties.tolist()}
    return interactive.pair_of_lists(content)
