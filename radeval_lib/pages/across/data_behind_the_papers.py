"""Tables and figures of the chapter on the data behind the papers, all from the manifests and the ledger."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from pathlib import Path

import numpy as np
import pandas as pd
from IPython.display import HTML

from radeval_lib.data import fetch
from radeval_lib.data.manifests import UNVERIFIED, Manifest, load_manifest, names
from radeval_lib.lexicon.loading import load_lexicon
from radeval_lib.papers.data_counts import CountCheck, check_dataset, printed_counts
from radeval_lib.synthetic.generator import Pair, generate
from radeval_lib.synthetic.records import Denial, Finding, Style
from radeval_lib.tables import table_html

ACCESS_WORDS = {
    "open": "open to anyone",
    "hub": "on a model hub",
    "credentialed": "for credentialed users",
    "built": "built by credentialed users",
}


def _manifests() -> list[Manifest]:
    """All manifests, the most open ones first."""
    order = list(ACCESS_WORDS)
    return sorted(map(load_manifest, names()), key=lambda one: (order.index(one.access), one.title.lower()))


def access() -> pd.DataFrame:
    """Data sets with who can get them, under which licence, and whether the book may show their text."""
    return pd.DataFrame(
        {
            "data set": one.title,
            "access": ACCESS_WORDS[one.access],
            "licence": one.licence,
            "text may be shown": "yes" if one.redistributable else "no",
        }
        for one in _manifests()
    ).set_index("data set")


def purpose() -> pd.DataFrame:
    """Data sets with what each can show and what it cannot."""
    return pd.DataFrame(
        {"data set": one.title, "what it can show, and its limits": one.shows} for one in _manifests()
    ).set_index("data set")


def exhibits_that_need(one: Manifest) -> set[str]:
    """Ids of the exhibits that need a data set, by the ledger."""
    from radeval_lib.papers.exhibits import ledger

    return {
        exhibit.id
        for exhibit in ledger().values()
        if set(one.needed_as) & {name for need in exhibit.needs for name in (need, f"{exhibit.paper}/{need}")}
    }


def need() -> pd.DataFrame:
    """How many exhibits need each data set: ``data set``, ``access`` and ``exhibits``, most needed first.

    An exhibit that needs a data set with an open and a credentialed part counts for both.
    """
    short = [one.title.partition(":")[0] for one in _manifests()]
    rows = [
        {
            "data set": name if short.count(name) == 1 else f"{name} ({one.access})",
            "access": ACCESS_WORDS[one.access],
            "exhibits": len(exhibits_that_need(one)),
        }
        for name, one in zip(short, _manifests(), strict=True)
    ]
    return pd.DataFrame(rows).sort_values("exhibits", ascending=False, kind="stable", ignore_index=True)


def need_restricted() -> set[str]:
    """Ids of the exhibits that need at least one data set for which users must be credentialed or sign."""
    return {exhibit for one in _manifests() if one.restricted for exhibit in exhibits_that_need(one)}


def presence(root: Path | None) -> pd.DataFrame:
    """Data sets with how many of their files the data root of this build held, and in which state."""
    rows = []
    for one in _manifests():
        whole = {file.path for file in one.files if not file.partial}
        found = fetch.status(root, one.name) if root else []
        states = [status.state for status in found if status.path in whole]
        parts = [status for status in found if status.path not in whole and status.state == "verified"]
        rows.append(
            {
                "data set": one.title,
                "files": len(whole),
                "here": len([state for state in states if state not in ("missing", "mismatch")]),
                "as the manifest states": states.count("verified"),
                "mismatch": states.count("mismatch"),
                "a part only": "yes" if parts else "",
            }
        )
    return pd.DataFrame(rows).set_index("data set")


def counts(root: Path | None) -> pd.DataFrame:
    """Printed counts against those of the files of this build, where there are any.

    Returns
    -------
    DataFrame
        ``data set``, ``what``, ``exhibit``, ``printed``, ``loaded`` (empty where nothing was) and ``note``.
    """
    rows = []
    for one in _manifests():
        checks: list[CountCheck] = check_dataset(one.name, root) if root else []
        for check in checks or printed_counts(one):
            rows.append(
                {
                    "data set": one.title,
                    "what": check.name,
                    "exhibit": check.exhibit,
                    "printed": check.printed,
                    "loaded": "" if check.loaded is None else f"{check.loaded:,}",
                    "note": check.note,
                }
            )
    return pd.DataFrame(rows)


def steps() -> HTML:
    """For each data set: how to get it, step by step, its files and its columns, folded."""
    return HTML("".join(map(_folded, _manifests())))


def _folded(one: Manifest) -> str:
    listed = "".join(f"<li>{escape(step)}</li>" for step in one.steps)
    files = [
        (
            f"<code>{escape(file.path)}</code>",
            f"{file.size:,}" if file.size else "",
            (file.sha256 or UNVERIFIED)[:32],
        )
        for file in one.files
    ]
    columns = [(f"<code>{escape(name)}</code>", escape(text)) for name, text in one.schema.items()]
    return (
        f"<details><summary>{escape(one.title)} (<code>{escape(one.name)}</code>)</summary>"
        f"<p>{escape(one.redistribution)} "
        f"<a href='{escape(one.source)}'>Source</a>; {escape(one.version)}.</p><ol>{listed}</ol>"
        + table_html(
            pd.DataFrame(files, columns=["file under the data root", "bytes", "SHA-256 begins"]),
            index=False,
            raw=("file under the data root",),
        )
        + table_html(
            pd.DataFrame(columns, columns=["column or key", "holds"]),
            index=False,
            raw=("column or key", "holds"),
        )
        + "</details>"
    )


def count_summary(frame: pd.DataFrame) -> pd.DataFrame:
    """Printed counts by data set: how many there are, could be compared, and agree (see :func:`counts`)."""
    marked = frame.assign(
        compared=frame["loaded"] != "",
        agree=frame["printed"].str.replace(",", "") == frame["loaded"].str.replace(",", ""),
    )
    grouped = marked.groupby("data set", sort=False)
    return pd.DataFrame(
        {"printed": grouped.size(), "compared": grouped["compared"].sum(), "agree": grouped["agree"].sum()}
    )


CHEST: Pair = ("X-Ray", "CHEST")

_WORD = re.compile(r"[a-z]+")
_MASK = re.compile(r"x{2,}")  # de-identification in Open-i
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
#: Words of negation that stand before, and behind, what they deny.
_BEFORE = re.compile(r"\b(no|not|without|negative for|free of|absence of|neither)\b")
_BEHIND = re.compile(r"\b(absent|ruled out|(is|are) not)\b")
_PERCENTILES = (5, 25, 50, 75, 95)


@dataclass(frozen=True, slots=True)
class Profile:
    """Lengths and negations of a set of texts.

    ``sentence_words`` and ``report_words``: percentiles 5, 25, 50, 75 and 95 of the words per sentence and
    report; ``report_sentences``: of the sentences per report; ``negated_sentences``: share with a word of
    negation; ``negated_findings``: share of the mentions of findings that such a word denies.
    """

    reports: int
    tokens: int
    mean_sentence_words: float
    sentence_words: tuple[float, ...]
    report_words: tuple[float, ...]
    report_sentences: tuple[float, ...]
    negated_sentences: float
    negated_findings: float


@dataclass(frozen=True, slots=True)
class Closeness:
    """What :func:`measure` found.

    ``coverage``: share of Open-i's findings tokens (lower-case alphabetic words, de-identification marks
    left out) that the generator's vocabulary has; ``type_coverage``: the same for distinct words;
    ``missing``: the commonest words that it lacks, with their counts; ``gold_negated``: share of the
    generator's mentioned findings that its gold denies; ``long_copies``: different generated sentences of
    more than eight words that stand in Open-i word for word (stock phrases that arise by composition).
    """

    coverage: float
    type_coverage: float
    vocabulary: int
    real: Profile
    generated: Profile
    gold_negated: float
    long_copies: int
    missing: tuple[tuple[str, int], ...]

    def frame(self) -> pd.DataFrame:
        """The two profiles side by side, a row a measure."""
        rows = [("reports", self.real.reports, self.generated.reports)]
        for label, name in (
            ("words per sentence", "sentence_words"),
            ("words per report", "report_words"),
            ("sentences per report", "report_sentences"),
        ):
            for index, percentile in enumerate(_PERCENTILES):
                one, two = getattr(self.real, name)[index], getattr(self.generated, name)[index]
                rows.append((f"{label}, {percentile} %", one, two))
        for label, name in (
            ("sentences with a negation", "negated_sentences"),
            ("negated findings", "negated_findings"),
        ):
            rows.append((label, getattr(self.real, name), getattr(self.generated, name)))
        return pd.DataFrame(rows, columns=["measure", "Open-i", "generator"])


def words(text: str) -> list[str]:
    """Lower-case alphabetic words, without marks of de-identification."""
    return [word for word in _WORD.findall(text.lower()) if not _MASK.fullmatch(word)]


def sentences(text: str) -> list[str]:
    """Sentences that hold a word."""
    return [part for part in _SENTENCE.split(text) if words(part)]


@lru_cache(maxsize=1)
def finding_words() -> frozenset[str]:
    """The head words of the chest findings in the lexicon, singular and plural: what counts as a mention."""
    heads = set()
    for concept in load_lexicon().concepts.values():
        if concept.region == "chest" and not concept.device:
            phrases = [phrase for name in concept.names for phrase in (name.one, name.many)]
            phrases += [phrase for phrase, _ in concept.denied]
            heads |= {phrase.marks[phrase.head].tokens.lower() for phrase in phrases}
    return frozenset(heads)


def mentions(sentence: str) -> tuple[int, int]:
    """How many findings a sentence mentions, and how many of them it denies.

    A mention is a word of :func:`finding_words`; it is denied when a word of negation stands before it, or
    one such as "absent" behind it. The rule is crude, and the same for both sides.
    """
    text = sentence.lower()
    before, behind = _BEFORE.search(text), _BEHIND.search(text)
    found = denied = 0
    for match in _WORD.finditer(text):
        if match[0] in finding_words():
            found += 1
            denied += bool(
                (before and before.start() < match.start()) or (behind and behind.start() > match.start())
            )
    return found, denied


def profile(texts: Iterable[str]) -> Profile:
    """Lengths and negations of texts, by the rules of this module."""
    sentence_words: list[int] = []
    report_words: list[int] = []
    report_sentences: list[int] = []
    negated = mentioned = denied = 0
    for text in texts:
        parts = sentences(text)
        report_sentences.append(len(parts))
        report_words.append(len(words(text)))
        for part in parts:
            sentence_words.append(len(words(part)))
            negated += bool(_BEFORE.search(part.lower()) or _BEHIND.search(part.lower()))
            counts = mentions(part)
            mentioned, denied = mentioned + counts[0], denied + counts[1]
    return Profile(
        len(report_words),
        sum(report_words),
        float(np.mean(sentence_words)),
        _percentiles(sentence_words),
        _percentiles(report_words),
        _percentiles(report_sentences),
        negated / len(sentence_words),
        denied / max(1, mentioned),
    )


def _percentiles(values: list[int]) -> tuple[float, ...]:
    return tuple(float(value) for value in np.percentile(values, _PERCENTILES))


def measure(
    real: Iterable[str],
    n: int = 20000,
    seed: int = 0,
    *,
    style: Style | None = None,
    modality_anatomy: Pair = CHEST,
) -> Closeness:
    """Compare ``n`` generated findings sections with ``real`` ones.

    The vocabulary comes from both styles (or the one given); the lengths and negations from the hospital
    style, the one that imitates such reports.
    """
    real = list(real)
    counts: Counter[str] = Counter()
    whole_sentences: set[tuple[str, ...]] = set()
    for text in real:
        counts.update(words(text))
        whole_sentences.update(tuple(words(part)) for part in sentences(text))
    vocabulary: set[str] = set()
    texts: list[str] = []
    copies: set[tuple[str, ...]] = set()
    denied = mentioned = 0
    for report in generate(n, seed, style=style, modality_anatomy=modality_anatomy):
        text = report.findings.text
        vocabulary.update(words(text))
        if report.style == (style or "hospital"):
            texts.append(text)
            contents = [statement.content for statement in report.plan]
            denied += sum(len(content.concepts) for content in contents if isinstance(content, Denial))
            mentioned += sum(isinstance(content, Finding) for content in contents)
        for part in sentences(text):
            said = tuple(words(part))
            if len(said) > 8 and said in whole_sentences:
                copies.add(said)
    total = sum(counts.values())
    return Closeness(
        sum(count for word, count in counts.items() if word in vocabulary) / total,
        sum(word in vocabulary for word in counts) / len(counts),
        len(vocabulary),
        profile(real),
        profile(texts),
        denied / max(1, denied + mentioned),
        len(copies),
        tuple((word, count) for word, count in counts.most_common() if word not in vocabulary)[:40],
    )
