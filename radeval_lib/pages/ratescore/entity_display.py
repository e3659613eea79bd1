"""Two reports side by side with their entities marked, and the matches between them; readable without
colour."""

from __future__ import annotations

import re
from html import escape
from typing import Any

import numpy as np
from IPython.display import HTML
from numpy.typing import NDArray

from radeval_lib import interactive
from radeval_lib.data.categories import RATE_TYPES, TYPES
from radeval_lib.metrics.ratescore.scoring import Direction, Explanation, NamedEntity, Options, penalty_matrix
from radeval_lib.metrics.ratescore.weights import Weights

# Short name, colour and border of each type, wherever entities are drawn.
LOOK = {
    "ANATOMY": ("ANA", "#d6e6f5", "solid"),
    "ABNORMALITY": ("ABN", "#fbdcc9", "double"),
    "DISEASE": ("DIS", "#f6cfd8", "dotted"),
    "NON-ABNORMALITY": ("no ABN", "#dcecd2", "dashed"),
    "NON-DISEASE": ("no DIS", "#ece4c8", "dashed"),
}
_STYLE = (
    "<style>.ratescore-pair{display:flex;flex-wrap:wrap;gap:1rem}.ratescore-pair section{flex:1 1 18rem}"
    ".ratescore mark{color:#111;padding:0 .15em;border-radius:.2em}.ratescore mark small{font-weight:bold}"
    ".ratescore .hidden{position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden}</style>"
)


def html(explanation: Explanation, reference: str, candidate: str, title: str = "RaTEScore of a pair") -> str:
    """An HTML fragment: the two texts with marked entities, the notes, and a table of the terms of both sums.

    Each entity carries its number and the short name of its type, and each type has a border of its own, so
    that nothing is said by colour alone. An entity whose words the text does not have in this form is
    listed below it.
    """
    sides = (
        ("Reference", "R", reference, explanation.reference),
        ("Candidate", "C", candidate, explanation.candidate),
    )
    texts = "".join(_side(*side) for side in sides)
    notes = "".join(f"<li>{escape(note)}</li>" for note in explanation.notes)
    return (
        f'{_STYLE}<div class="ratescore" role="group" aria-label="{escape(title)}">'
        f"<p><strong>{escape(title)}:</strong> {explanation.score:.4f}</p>"
        f'<div class="ratescore-pair">{texts}</div>'
        + (f"<ul>{notes}</ul>" if notes else "")
        + _table(explanation)
        + "</div>"
    )


def show(
    explanation: Explanation, reference: str, candidate: str, title: str = "RaTEScore of a pair"
) -> HTML:
    """:func:`html` as something that a notebook displays."""
    return HTML(html(explanation, reference, candidate, title))


def _side(heading: str, letter: str, text: str, entities: tuple[NamedEntity, ...]) -> str:
    body, place, missing = [], 0, []
    for number, entity in enumerate(entities, start=1):
        found = _find(entity.text, text, place)
        if found is None:
            missing.append(_mark(letter, number, entity, entity.text))
            continue
        body += [escape(text[place : found[0]]), _mark(letter, number, entity, text[found[0] : found[1]])]
        place = found[1]
    body.append(escape(text[place:]) if text else "<em>(empty)</em>")
    extra = f"<p>Not found in this form: {' '.join(missing)}</p>" if missing else ""
    return f"<section><h4>{heading}</h4><p>{''.join(body)}</p>{extra}</section>"


def _find(words: str, text: str, start: int) -> tuple[int, int] | None:
    """Where an entity stands; its words are the tokenizer's, so case and spaces may differ from the
    text's."""
    pieces = [re.escape(piece) for piece in re.findall(r"\w+|[^\w\s]", words)]
    if not pieces:
        return None
    match = re.compile(r"\s*".join(pieces), re.IGNORECASE).search(text, start)
    return match.span() if match else None


def _mark(letter: str, number: int, entity: NamedEntity, words: str) -> str:
    short, colour, border = LOOK[entity.type]
    style = f"background:{colour};border-bottom:3px {border} #333"
    kind = entity.type.lower()
    return (
        f'<mark style="{style}" title="{kind}">{escape(words)}'
        f'<small aria-hidden="true"> {letter}{number} {short}</small>'
        f'<span class="hidden"> ({letter}{number}, {kind})</span></mark>'
    )


def _table(explanation: Explanation) -> str:
    directions = (
        ("C", "R", explanation.precision, explanation.candidate, explanation.reference),
        ("R", "C", explanation.recall, explanation.reference, explanation.candidate),
    )
    rows = [_rows(*parts) for parts in directions if parts[2] is not None]  # type: ignore[arg-type]
    if not rows:
        return ""
    names = ("entity", "best match", "cosine", "weight", "penalty", "term")
    head = "".join(f'<th scope="col">{name}</th>' for name in names)
    return (
        '<div class="radeval-table" tabindex="0" role="region" aria-label="Best matches">'
        '<table class="radeval">'
        "<caption>Each entity's best match on the other side; a direction is the sum of the terms "
        "over the sum of the weights.</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _rows(
    ours: str,
    theirs: str,
    found: Direction,
    entities: tuple[NamedEntity, ...],
    others: tuple[NamedEntity, ...],
) -> str:
    rows = []
    for match in found.matches:
        cells = (
            f"{ours}{match.query + 1} {escape(entities[match.query].text)}",
            f"{theirs}{match.match + 1} {escape(others[match.match].text)}",
            *(f"{value:.4f}" for value in (match.cosine, match.weight, match.penalty, match.term)),
        )
        rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    name = "precision" if ours == "C" else "recall"
    total = f"{name}: {found.numerator:.4f} / {found.denominator:.4f} = {found.value:.4f}"
    return "".join(rows) + f'<tr><th scope="row" colspan="6">{total}</th></tr>'


def editable(explanation: Explanation, cosines: NDArray[np.float64], weights: Weights) -> HTML:
    """The pair's entities with types to choose, or to leave out, and the score that follows in the page.

    Parameters
    ----------
    cosines : of each entity of the reference (rows) with each of the candidate (columns).
    """
    penalties = penalty_matrix(weights.penalty, Options())
    sides = {"reference": explanation.reference, "candidate": explanation.candidate}
    content: dict[str, Any] = {side: [list(one) for one in entities] for side, entities in sides.items()}
    content |= {"cosines": cosines.tolist(), "types": TYPES, "names": RATE_TYPES}
    content |= {"weights": weights.matrix.tolist(), "penalties": penalties.tolist()}
    return interactive.pair_of_lists(content)
