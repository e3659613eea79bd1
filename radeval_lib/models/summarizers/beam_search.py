"""Beam search over any model that gives the next token's log-probabilities."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from radeval_lib.errors import ModelError, check_at_least

Step = Callable[[Tensor, Any], tuple[Tensor, Any]]
"""(last tokens of shape (rows,), state) -> (log-probabilities of shape (rows, vocabulary), state)."""

Reorder = Callable[[Any, Tensor], Any]
"""(state, rows) -> the state of those rows, as after ``tensor[rows]``. As many rows as before are of the same
texts in the same order."""


@dataclass(frozen=True)
class BeamSettings:
    """How a summary is decoded; a :class:`ModelError` where a number is out of its range.

    Attributes
    ----------
    beams : hypotheses kept for each text; 1 decodes greedily.
    longest : tokens of a summary, at most.
    length_penalty : exponent of the length by which a hypothesis' log-probability is divided.
    no_repeat : length of the n-grams of tokens that may not occur twice; 0 allows all.
    """

    beams: int = 3
    longest: int = 80
    length_penalty: float = 1.0
    no_repeat: int = 4

    def __post_init__(self) -> None:
        check_at_least(1, "beam search", ModelError, beams=self.beams, longest=self.longest)
        check_at_least(0, "beam search", ModelError, no_repeat=self.no_repeat)
        if not math.isfinite(self.length_penalty):
            raise ModelError(f"length_penalty is {self.length_penalty}", "beam search")


def search(
    step: Step, reorder: Reorder, state: Any, texts: int, *, begin: int, end: int, settings: BeamSettings
) -> list[list[int]]:
    """Beam search: the best token sequence for each text, without ``begin`` and ``end``.

    A text is done when ``beams`` hypotheses have ended, or none can go on; the best has the highest
    log-probability divided by length**length_penalty. That is what transformers' ``generate`` does with
    ``early_stopping=True``, but for texts that are not done at ``longest`` tokens: there it ranks hypotheses
    that still go on with those that have ended, and here they count only where none has ended.

    Parameters
    ----------
    step : log-probabilities of the next token of each row, and the state after it.
    reorder : selects rows of a state.
    state : of ``texts`` rows, before the first step.
    texts : how many there are, one or more.
    begin, end : the tokens that stand before and after a sequence.
    settings : how they are decoded; the vocabulary has at least two tokens.

    Tokens and rows are handed to ``step`` and ``reorder`` on the CPU; log-probabilities may be anywhere.
    """
    width = settings.beams
    rows = torch.arange(texts).repeat_interleave(width)
    state = reorder(state, rows)
    # Every text starts with one live hypothesis; the others get no probability until the first step.
    totals = torch.full((texts, width), -torch.inf)
    totals[:, 0] = 0.0
    tokens = torch.full((texts * width, 1), begin)
    finished: list[list[tuple[float, list[int]]]] = [[] for _ in range(texts)]
    active = list(range(texts))  # texts without their summary; each has `width` rows
    for length in range(1, settings.longest + 1):
        scores, state = step(tokens[:, -1], state)
        scores = scores.float().cpu()
        _bar_repeats(scores, tokens, settings.no_repeat)
        vocabulary = scores.shape[1]
        joint = (totals.view(-1, 1) + scores).view(len(active), width * vocabulary)
        best, places = joint.topk(2 * width, dim=1)
        # Most texts end nowhere yet and take their best candidates; the others are gone through one by one.
        chosen = torch.arange(len(active)).unsqueeze(1) * width + places[:, :width] // vocabulary
        values, picked = best[:, :width].clone(), places[:, :width] % vocabulary
        special = ((places % vocabulary == end) | (best == -torch.inf)).any(dim=1).nonzero()[:, 0].tolist()
        for at in special:
            text, kept = active[at], 0
            chosen[at], values[at], picked[at] = 0, -torch.inf, end
            candidates = zip(best[at].tolist(), places[at].tolist(), strict=True)
            for rank, (value, place) in enumerate(candidates):
                row, token = at * width + place // vocabulary, place % vocabulary
                if value == -torch.inf:
                    break
                if token == end:
                    if rank < width:  # as transformers: an end that no beam would take is not an end
                        ranked = value / length**settings.length_penalty
                        finished[text].append((ranked, tokens[row, 1:].tolist()))
                elif kept < width:
                    chosen[at, kept], values[at, kept], picked[at, kept] = row, value, token
                    kept += 1
        # As transformers' early stopping: a text of which enough are finished, or none can go on, is done.
        going = [
            at for at, text in enumerate(active) if len(finished[text]) < width and values[at, 0] > -torch.inf
        ]
        for at in set(range(len(active))) - set(going):
            if not finished[active[at]]:
                finished[active[at]].append((0.0, tokens[at * width, 1:].tolist()))
        active = [active[at] for at in going]
        if not active:
            break
        totals, rows = values[going], chosen[going].view(-1)
        state = reorder(state, rows)
        tokens = torch.cat([tokens[rows], picked[going].view(-1, 1)], dim=1)
    for at, text in enumerate(active):
        if not finished[text]:
            finished[text].append((0.0, tokens[at * width, 1:].tolist()))
    return [max(done, key=lambda one: one[0])[1] for done in finished]


def _bar_repeats(scores: Tensor, tokens: Tensor, size: int) -> None:
    """Give no probability to a token that would end a group of tokens that is there already."""
    if size < 1 or tokens.shape[1] <= size:
        return
    groups = tokens[:, 1:].unfold(1, size, 1)
    last = tokens[:, tokens.shape[1] - size + 1 :]
    rows, places = (groups[..., :-1] == last[:, None]).all(dim=-1).nonzero(as_tuple=True)
    scores[rows, groups[rows, places, -1]] = -float("inf")
