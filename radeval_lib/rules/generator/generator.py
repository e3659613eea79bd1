"""Generates reports: ``generate`` streams them, ``report_at`` makes any one of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b
from random import Random

from radeval_lib.errors import check_choice, listed
from radeval_lib.rules.generator.content import Weighted, choose, draw_plan
from radeval_lib.rules.generator.frames import article
from radeval_lib.rules.generator.grammar import realize
from radeval_lib.rules.generator.impression import impression_plan
from radeval_lib.rules.generator.labels import chexpert_labels
from radeval_lib.rules.generator.records import AnnotatedText, Plan, Style, SyntheticError, SyntheticReport
from radeval_lib.rules.lexicon.entries import Exam, Procedure
from radeval_lib.rules.lexicon.loading import load_lexicon

#: The twelve modality-anatomy pairs of MIMIC-RRS (Chen et al. 2023, section 2).
MIMIC_RRS_PAIRS: tuple[tuple[str, str], ...] = (
    *(("CT", anatomy) for anatomy in ("HEAD", "NECK", "SINUS", "SPINE", "CHEST", "ABDOMEN-PELVIS")),
    *(("MRI", anatomy) for anatomy in ("HEAD", "NECK", "SPINE", "ABDOMEN", "PELVIS")),
    ("X-Ray", "CHEST"),
)
#: Those of them that have a training set (section 2.2); the others test models that never saw them.
MIMIC_RRS_TRAINED: tuple[tuple[str, str], ...] = (
    *(("CT", anatomy) for anatomy in ("HEAD", "NECK", "SPINE", "CHEST", "ABDOMEN-PELVIS")),
    ("MRI", "HEAD"),
    ("X-Ray", "CHEST"),
)
_HOSPITAL_SHARE = 0.6  # of reports, where no style is asked for
_PRIOR_SHARE = 0.4  # of reports with an earlier examination, where it is not asked for
Pair = tuple[str, str]


def seeded(*keys: int | str) -> Random:
    """A random generator that depends on the keys alone, the same on every platform and run."""
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
    """Reports number ``start`` to ``start + n - 1`` of the stream that ``seed`` defines.

    Report i depends on ``seed``, i and the keyword arguments only, so any part of the stream can be made
    alone and the same call gives the same bytes on every run. Memory use does not grow with ``n``.

    Parameters
    ----------
    style : of every report; None: by chance.
    modality_anatomy : one pair or several, such as ``("X-Ray", "CHEST")``; None: all of the lexicon's.
    min_findings : at least so many findings, where the examination has as many.

    Raises
    ------
    SyntheticError
        If ``n`` is negative, or the style or a pair is unknown.
    """
    if n < 0:
        raise SyntheticError(f"{n} reports", "generate", "Ask for 0 or more.")
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
    """Report number ``index`` of the stream, as :func:`generate` has it; ``prior`` says whether there was an
    earlier study (None: by chance)."""
    rng, known = seeded(seed, index), load_lexicon().protocols
    chosen = tuple(known) if modality_anatomy is None else modality_anatomy
    pairs = (chosen,) if chosen and isinstance(chosen[0], str) else chosen
    if not pairs or any(pair not in known for pair in pairs):
        raise SyntheticError(
            f"no examination {next((pair for pair in pairs if pair not in known), 'at all')}",
            "modality_anatomy",
            f"Known: {listed((' '.join(pair) for pair in known), 1200)}.",
        )
    check_choice(style, Style | None, "style", SyntheticError)
    if style is None:
        style = "hospital" if rng.random() < _HOSPITAL_SHARE else "encyclopaedic"
    protocols = [known[pair] for pair in pairs]  # type: ignore[index]
    several = len(protocols) > 1
    protocol = Weighted((one, one.weight) for one in protocols).draw(rng) if several else protocols[0]
    earlier = rng.random() < _PRIOR_SHARE if prior is None else prior
    procedure = Weighted((one, one.weight) for one in protocol.procedures).draw(rng)
    sex = procedure.sex or ("male" if rng.random() < 0.5 else "female")
    age = protocol.ages[0] + int(rng.random() * (protocol.ages[1] - protocol.ages[0]))
    exam = Exam(protocol.modality, protocol.anatomy, sex, procedure.parts)
    plan = draw_plan(rng, exam, style, prior=earlier, least=min_findings)
    indication = _say_indication(rng, procedure, style, sex, age)
    said = load_lexicon().grammar["comparison"][protocol.earlier if earlier else "none"][style]
    comparison = choose(rng, tuple(said)).format(n=2 + int(rng.random() * 10)) + "."
    technique = choose(rng, procedure.technique[style])
    wording = rng.getrandbits(32)
    blank = AnnotatedText("", (), (), (), ())
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
        blank,
        blank,
        {},
        wording,
    )
    return rerender(report, plan)


def rerender(report: SyntheticReport, plan: Plan, *, style: Style | None = None) -> SyntheticReport:
    """The report with another plan, style or both: text, impression and gold follow from them."""
    lexicon = load_lexicon()
    protocol = lexicon.protocols[report.modality, report.anatomy]
    style = style or report.style
    impression = impression_plan(lexicon, plan, protocol.regions[0].key, report.wording)
    return replace(
        report,
        style=style,
        plan=plan,
        findings=realize(plan, style),
        impression=realize(impression, style, "impression"),
        chexpert=chexpert_labels(lexicon, plan, any(region.chest for region in protocol.regions)),
    )


def _say_indication(rng: Random, procedure: Procedure, style: Style, sex: str, age: int) -> str:
    """Who asks for the procedure, and why."""
    reason = choose(rng, procedure.reasons)
    template = choose(rng, tuple(load_lexicon().grammar["indication"][style]))
    question = choose(rng, reason.questions)
    text = template.format(
        age=age,
        a=article(str(age)),
        sex="man" if sex == "male" else "woman",
        letter="M" if sex == "male" else "F",
        complaint=choose(rng, reason.complaints),
        question=question,
        Question=question[0].upper() + question[1:],
    )
    return text[0].upper() + text[1:] + "."


def exam_of(report: SyntheticReport) -> Exam:
    """The examination that a report is of."""
    parts = load_lexicon().procedures[report.procedure].parts
    return Exam(report.modality, report.anatomy, report.sex, parts)
