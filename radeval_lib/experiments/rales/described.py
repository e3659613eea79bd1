"""Sentences of the benchmark's pages on what its profile chose: data, encoders and sizes."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from radeval_lib import wording
from radeval_lib.experiments.rales.encoders import IN_DOMAIN, SHALLOW
from radeval_lib.experiments.rales.tasks import IN, OUT
from radeval_lib.models.naming import UNTRAINED

PAPERS_DATA = {
    "graph_corpus": "radgraph",
    "spatial_corpus": "radsprl",
    "stanza_corpus": "stanza_radiology",
    "procedures": "mimic3_procedure",
}
"""The paper's data set of each role."""


def about_data(replaced: str) -> str:
    """What the protocol runs on.

    Parameters
    ----------
    replaced : what stands in for the paper's data, as :meth:`radeval_lib.study.runs.Run.stand_in` has it.
    """
    if not replaced:
        return "Here the same protocol runs on the paper's data sets."
    return (
        f"Here the same protocol runs on other data: {replaced}. **What holds of scores here need not hold "
        "of the paper's, but how scores behave can be seen.**"
    )


def about_domains(generated: bool) -> str:
    """What is in domain and what is not."""
    if generated:
        return (
            "*In domain* are radiographs, *out of domain* CT reports; in the paper the two are institutions."
        )
    return f"*In domain* are reports of {IN}, *out of domain* those of {OUT}, as in the paper."


def about_encoders(encoders: Sequence[str], reports: str, generated: bool) -> str:
    """What was done to the encoders that are not taken as they are published; empty where there is none.

    Parameters
    ----------
    encoders : as the profile names them.
    reports, generated : source of the reports that the in-domain encoder read, and whether it is the
        generator, whose reports for a role are in no other role's data.
    """
    told = []
    if any(UNTRAINED in name for name in encoders):
        told.append("The untrained encoder has the architecture of the pretrained one and random weights.")
    if any(name.startswith(SHALLOW) for name in encoders):
        told.append("A name with a number of layers means the first layers of that encoder alone.")
    if IN_DOMAIN in encoders:
        told.append(
            f"The in-domain one went on to guess masked words of reports from {reports} before it was fitted"
            + ("." if generated else "; whether test documents are among them was not looked up.")
        )
    return " ".join(told)


def about_validation(fits: pd.DataFrame) -> str:
    """On how few records an epoch is chosen with 1 % of the labels; empty where that was not fitted.

    Parameters
    ----------
    fits : one row a fit, with ``regime`` and ``validation``, the number of validation records.
    """
    sizes = fits.loc[fits["regime"] == "hundredth", "validation"]
    if sizes.empty:
        return ""
    least, most = int(sizes.min()), int(sizes.max())
    told = wording.in_words(least) + (f" to {wording.in_words(most)}" if least < most else "")
    records = "record" if most == 1 else "records"
    return f"With 1 % of the labels the epoch is chosen on {told} {records}{', by task' * (least < most)}."


def about_noise(larger: int, gaps: int, noise: float, replaced: str) -> str:
    """How many of the paper's differences are larger than the noise here.

    Parameters
    ----------
    larger, gaps : differences between the paper's models that are larger, and all.
    noise : smallest half-width of an interval of a difference here, in points.
    replaced : as for :func:`about_data`.
    """
    told = (
        f"Of the {gaps} differences between the paper's models in Table 3, {wording.in_words(larger)} "
        f"{'is' if larger == 1 else 'are'} larger than the smallest half-width of an interval here, "
        f"{noise:.1f} points."
    )
    if replaced:
        told += " The paper tests on other data, so its own noise is different; only its data can show it."
    return f"{told} The paper prints one run a model and no interval."
