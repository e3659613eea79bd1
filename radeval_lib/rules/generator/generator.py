"""Generates reports: ``generate`` yields a stream, and ``report_at`` returns a single report of the stream.

The impression and the CheXpert labels of a report follow from its plan. ``rewrite`` and ``opposite`` return
reports with the same and with the opposite meaning.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from random import Random
from typing import Literal

from radeval_lib.errors import check_choice, list_names
from radeval_lib.rules.generator.builder import choose_article
from radeval_lib.rules.generator.content import Weighted, choose, draw_plan
from radeval_lib.rules.generator.grammar import realize
from radeval_lib.rules.generator.records import (
    STYLES,
    AnnotatedText,
    Denial,
    Normal,
    Plan,
    PlannedFinding,
    Remark,
    Statement,
    Style,
    SyntheticError,
    SyntheticReport,
)
from radeval_lib.rules.lexicon.entries import CHEXPERT, Exam, Lexicon, Procedure, Protocol
from radeval_lib.rules.lexicon.loading import load_lexicon

#: The twelve modality-anatomy pairs of MIMIC-RRS (Chen et al. 2023, section 2).
MIMIC_RRS_PAIRS: tuple[tuple[str, str], ...] = (
    *(("CT", anatomy) for anatomy in ("HEAD", "NECK", "SINUS", "SPINE", "CHEST", "ABDOMEN-PELVIS")),
    *(("MRI", anatomy) for anatomy in ("HEAD", "NECK", "SPINE", "ABDOMEN", "PELVIS")),
    ("X-Ray", "CHEST"),
)
#: The pairs with a training set (section 2.2); the others test models on unseen pairs.
MIMIC_RRS_TRAINED: tuple[tuple[str, str], ...] = (
    *(("CT", anatomy) for anatomy in ("HEAD", "NECK", "SPINE", "CHEST", "ABDOMEN-PELVIS")),
    ("MRI", "HEAD"),
    ("X-Ray", "CHEST"),
)
_HOSPITAL_SHARE = 0.6  # the share of reports in hospital style if no style is requested
_PRIOR_SHARE = 0.4  # the share of reports with an earlier examination if the caller leaves it open
#: A modality and an anatomy, such as ("X-Ray", "CHEST").
Pair = tuple[str, str]


def make_rng(*keys: int | str) -> Random:
    """Return a random number generator whose seed is a hash of the keys, the same on every platform and in
    every run."""
    digest = blake2b(":".join(map(str, keys)).encode(), digest_size=16).digest()
    return Random(int.from_bytes(digest, "big"))


def generate(
    n: int,
    seed: int = 0,
    *,
    style: Style | None = None,
    modality_anatomy: Pair | Sequence[Pair] | None = None,
    start: int = 0,
    min_findings: int = 0,
) -> Iterator[SyntheticReport]:
    """Yield reports ``start`` to ``start + n - 1`` of the stream that ``seed`` defines.

    Report i depends only on ``seed``, i and the keyword arguments, so any part of the stream can be generated
    alone, and equal calls give equal reports. Memory does not grow with ``n``.

    Parameters
    ----------
    style : "hospital" (routine care) or "encyclopaedic" (teaching cases); by default, one is drawn for each
        report.
    modality_anatomy : a pair such as ``("X-Ray", "CHEST")``, or several, from which one is drawn for each
        report; by default, all pairs of the lexicon.
    min_findings : the minimum number of findings; a report has fewer only if fewer can be drawn without a
        clash.

    Raises
    ------
    SyntheticError
        When the first report is requested, if ``n`` is negative, the style or a pair is unknown, or
        ``modality_anatomy`` is empty.
    """
    if n < 0:
        raise SyntheticError(f"n is negative ({n})", "generate", "Ask for 0 or more reports.")
    for index in range(start, start + n):
        yield report_at(
            seed, index, style=style, modality_anatomy=modality_anatomy, min_findings=min_findings
        )


def report_at(
    seed: int,
    index: int,
    *,
    style: Style | None = None,
    modality_anatomy: Pair | Sequence[Pair] | None = None,
    min_findings: int = 0,
    prior: bool | None = None,
) -> SyntheticReport:
    """Return report ``index`` of the stream that ``seed`` defines.

    Parameters
    ----------
    style : "hospital" (routine care) or "encyclopaedic" (teaching cases); by default, it is drawn.
    modality_anatomy : a pair such as ``("X-Ray", "CHEST")``, or several, from which one is drawn; by default,
        all pairs of the lexicon.
    min_findings : the minimum number of findings; the report has fewer only if fewer can be drawn without a
        clash.
    prior : whether there was an earlier study; by default, it is drawn.

    Raises
    ------
    SyntheticError
        If the style or a pair is unknown, or ``modality_anatomy`` is empty.
    """
    rng, protocols = make_rng(seed, index), _find_protocols(modality_anatomy)
    check_choice(style, Style | None, "style", SyntheticError)
    if style is None:
        style = "hospital" if rng.random() < _HOSPITAL_SHARE else "encyclopaedic"
    protocol = protocols[0]
    if len(protocols) > 1:
        protocol = Weighted((option, option.weight) for option in protocols).draw(rng)
    has_prior = rng.random() < _PRIOR_SHARE if prior is None else prior
    procedure = Weighted((option, option.weight) for option in protocol.procedures).draw(rng)
    sex = procedure.sex or ("male" if rng.random() < 0.5 else "female")
    age = protocol.ages[0] + int(rng.random() * (protocol.ages[1] - protocol.ages[0]))
    exam = Exam(protocol.modality, protocol.anatomy, sex, procedure.parts)
    plan = draw_plan(rng, exam, style, prior=has_prior, min_findings=min_findings)
    indication = _draw_indication(rng, procedure, style, sex, age)
    templates = load_lexicon().grammar["comparison"][protocol.earlier if has_prior else "none"][style]
    comparison = choose(rng, tuple(templates)).format(n=2 + int(rng.random() * 10)) + "."
    technique = choose(rng, procedure.technique[style])
    wording_seed = rng.getrandbits(32)
    empty_text = AnnotatedText("", (), (), (), ())
    report = SyntheticReport(
        f"s{seed}-{index:08d}",
        style,
        protocol.modality,
        protocol.anatomy,
        sex,
        age,
        procedure.code,
        procedure.title,
        indication,
        comparison,
        technique[0].upper() + technique[1:] + ".",
        plan,
        empty_text,
        empty_text,
        {},
        wording_seed,
    )
    return rerender(report, plan)


def _find_protocols(modality_anatomy: Pair | Sequence[Pair] | None) -> list[Protocol]:
    """Return the protocol for each (modality, anatomy); for None, all protocols.

    Raises
    ------
    SyntheticError
        If there is no pair, or a pair is unknown.
    """
    protocols = load_lexicon().protocols
    chosen = tuple(protocols) if modality_anatomy is None else modality_anatomy
    pairs = (chosen,) if chosen and isinstance(chosen[0], str) else chosen
    unknown = [pair for pair in pairs if pair not in protocols]
    if unknown or not pairs:
        problem = f"unknown examination {unknown[0]!r}" if unknown else "the list of examinations is empty"
        remedy = f"Choose from these (modality, anatomy) pairs: {list_names(map(str, protocols), 1200)}."
        raise SyntheticError(problem, "modality_anatomy", remedy)
    return [protocols[pair] for pair in pairs]  # type: ignore[index]


def rerender(report: SyntheticReport, plan: Plan, *, style: Style | None = None) -> SyntheticReport:
    """Return a report with another plan, and with the texts, annotations and labels that follow from it.

    ``style`` is the style of the texts; by default, that of ``report``.
    """
    lexicon = load_lexicon()
    protocol = lexicon.protocols[report.modality, report.anatomy]
    style = style or report.style
    impression = plan_impression(lexicon, plan, protocol.regions[0].key, report.wording_seed)
    return replace(
        report,
        style=style,
        plan=plan,
        findings=realize(plan, style),
        impression=realize(impression, style, "impression"),
        chexpert=derive_labels(lexicon, plan, any(region.chest for region in protocol.regions)),
    )


def _draw_indication(rng: Random, procedure: Procedure, style: Style, sex: str, age: int) -> str:
    """Return a drawn indication as a sentence that may name the patient, a complaint and a question."""
    reason = choose(rng, procedure.reasons)
    template = choose(rng, tuple(load_lexicon().grammar["indication"][style]))
    question = choose(rng, reason.questions)
    text = template.format(
        age=age,
        a=choose_article(str(age)),
        sex="man" if sex == "male" else "woman",
        letter="M" if sex == "male" else "F",
        complaint=choose(rng, reason.complaints),
        question=question,
        Question=question[0].upper() + question[1:],
    )
    return text[0].upper() + text[1:] + "."


def get_exam(report: SyntheticReport) -> Exam:
    """Return the examination on which a report is based."""
    parts = load_lexicon().procedures[report.procedure].parts
    return Exam(report.modality, report.anatomy, report.sex, parts)


# The impression, which follows from the findings.


_MAX_MAJOR = 4  # the maximum number of major findings in an impression
#: The uids of the statements of an impression that repeat no statement of the findings.
CONCLUSION, ADVICE = -1, -2


def plan_impression(lexicon: Lexicon, plan: Plan, region: str, wording_seed: int) -> Plan:
    """Return the plan of the impression: at most two negated normal statements, at most four major findings,
    and sometimes a recommendation; no denials.

    A finding keeps its place, severity, change and diagnosis, but not its size and appearance. If there is
    neither a major finding nor a negated normal statement, the plan is the region's conclusion, and a minor
    finding may follow. Devices are left out.

    Parameters
    ----------
    plan : the plan of the findings.
    region : the key of the examined region.
    wording_seed : an integer that selects the conclusion, and whether there is a minor finding or a
        recommendation.
    """
    findings = [(s, s.content) for s in plan if isinstance(s.content, PlannedFinding)]
    concepts = lexicon.concepts
    non_devices = [(s, finding) for s, finding in findings if not concepts[finding.concept].device]
    major_findings = [(s, finding) for s, finding in non_devices if concepts[finding.concept].major]
    minor_findings = [(s, finding) for s, finding in non_devices if not concepts[finding.concept].major]
    negated_normals = [s for s in plan if isinstance(s.content, Normal) and s.content.opposite]
    chosen: list[Statement] = [replace(s, joined=False) for s in negated_normals[:2]]
    chosen += [
        _shorten_finding(s, finding, index) for index, (s, finding) in enumerate(major_findings[:_MAX_MAJOR])
    ]
    if not major_findings and not negated_normals:
        kind = "acute" if findings else "clear"
        chosen.append(Statement(CONCLUSION, Remark(f"{region}.{kind}"), wording_seed))
        if minor_findings and wording_seed & 1:
            chosen.append(_shorten_finding(*minor_findings[0], 0))
    advice = [key for _, finding in major_findings for key in concepts[finding.concept].advice]
    if advice and wording_seed & 6 == 0:
        chosen.append(Statement(ADVICE, Remark(advice[(wording_seed >> 3) % len(advice)]), wording_seed))
    return tuple(chosen)


def _shorten_finding(statement: Statement, finding: PlannedFinding, index: int) -> Statement:
    """Return the statement of a finding for the impression, without size and appearance and with another
    wording seed."""
    wording_seed = (statement.wording_seed * 0x9E3779B97F4A7C15 + index) & ((1 << 96) - 1)
    return Statement(statement.uid, replace(finding, descriptors=(), size_mm=None), wording_seed)


# The 14 CheXpert observations that a plan states.


# If an observation has several values, that of the highest rank counts.
_RANK = {None: 0, 0: 1, -1: 2, 1: 3}


def derive_labels(lexicon: Lexicon, plan: Plan, chest: bool) -> dict[str, int | None]:
    """Return a mapping from each of the 14 CheXpert observations to its value in a plan: 1 (positive), 0
    (negative), -1 (uncertain) or None (not mentioned).

    Of several values, 1 takes precedence over -1, and -1 over 0. A suggested diagnosis counts as uncertain.
    "No Finding" is 1 if ``chest`` is True and no other observation except Support Devices is positive or
    uncertain (the labeller's rule, Irvin et al. 2019), else None. No observation implies another: atelectasis
    does not make Lung Opacity positive.

    ``chest`` says whether the examination shows the chest.
    """
    labels: dict[str, int | None] = dict.fromkeys(CHEXPERT)

    def record(name: str | None, value: int) -> None:
        if name is not None and _RANK[value] > _RANK[labels[name]]:
            labels[name] = value

    for statement in plan:
        content = statement.content
        if isinstance(content, PlannedFinding):
            concept = lexicon.concepts[content.concept]
            record(concept.chexpert, -1 if content.certainty == "uncertain" else 1)
            if content.diagnosis:
                record(lexicon.concepts[content.diagnosis].chexpert, -1)
        elif isinstance(content, Denial):
            for key in content.concepts:
                record(lexicon.concepts[key].chexpert, 0)
        elif isinstance(content, Normal):
            for name in lexicon.normals[content.key].chexpert:
                record(name, 1 if content.opposite else 0)
    others = (labels[name] for name in CHEXPERT if name not in ("Support Devices", "No Finding"))
    if chest and not any(value in (1, -1) for value in others):
        labels["No Finding"] = 1
    return labels


# Rewrites: the same meaning in other words, another order or another style; and the opposite meaning.


RewriteKind = Literal["synonym", "order", "style"]
_TRIES = 25  # the maximum number of wordings or orders to try


@dataclass(frozen=True, slots=True)
class RewrittenReport:
    """A report, one with the same meaning, and one with the opposite meaning."""

    original: SyntheticReport
    synonymous: SyntheticReport
    opposite: SyntheticReport


def rewrite(report: SyntheticReport, kind: RewriteKind = "synonym", seed: int = 0) -> SyntheticReport:
    """Return a report with the same meaning and another text.

    The kind "synonym" rewords every statement, "order" changes the order of sentences, and "style" words the
    report in the other style.

    Raises
    ------
    SyntheticError
        If the kind is unknown, or :data:`_TRIES` tries give no other text.
    """
    check_choice(kind, RewriteKind, "kind", SyntheticError)
    other_style = next(style for style in STYLES if style != report.style)
    for attempt in range(_TRIES):
        rng = make_rng(seed, report.report_id, kind, attempt)
        if kind == "order":
            version = _reorder(report, rng)
        else:
            plan = tuple(replace(statement, wording_seed=rng.getrandbits(96)) for statement in report.plan)
            version = rerender(report, plan, style=other_style if kind == "style" else None)
        if version.findings.text != report.findings.text:
            return version
    problem = f"none of {_TRIES} rewrites of kind {kind!r} changed the text of report {report.report_id}"
    raise SyntheticError(problem, "rewrite", "Use another kind, seed or report.")


def _reorder(report: SyntheticReport, rng: Random) -> SyntheticReport:
    """Return a report with its sentences in a drawn order; joined statements stay together."""
    groups: list[list[Statement]] = []
    for statement in report.plan:
        if statement.joined and groups:
            groups[-1].append(statement)
        else:
            groups.append([statement])
    groups.sort(key=lambda _: rng.random())
    return rerender(report, tuple(statement for group in groups for statement in group))


def opposite(report: SyntheticReport, seed: int = 0) -> SyntheticReport:
    """Return a report with the opposite meaning: findings become denials, and denials become findings.

    Normal statements are negated ("the lungs are not clear"), and remarks stay. No statements are joined.
    Attributes of findings are lost, and denied findings are stated without attributes.
    """
    rng = make_rng(seed, report.report_id, "opposite")
    plan: list[Statement] = []
    uid = max((statement.uid for statement in report.plan), default=-1) + 1
    for statement in report.plan:
        content = statement.content
        if isinstance(content, PlannedFinding):
            plan.append(replace(statement, content=Denial((content.concept,)), joined=False))
        elif isinstance(content, Normal):
            negated = replace(content, opposite=not content.opposite)
            plan.append(replace(statement, content=negated, joined=False))
        elif isinstance(content, Denial):
            for index, concept in enumerate(content.concepts):
                wording_seed = rng.getrandbits(96)
                plan.append(Statement(uid if index else statement.uid, PlannedFinding(concept), wording_seed))
                uid += bool(index)
        else:
            plan.append(statement)
    return rerender(report, tuple(plan))


def triad(report: SyntheticReport, seed: int = 0) -> RewrittenReport:
    """Return a report with one version that has the same meaning and one that has the opposite meaning.

    Raises
    ------
    SyntheticError
        If no other text with the same meaning is found.
    """
    return RewrittenReport(report, rewrite(report, "synonym", seed), opposite(report, seed))
