"""Generate records of the types that loaders return, for roles without data files.

Each function ``generate_<records>`` takes ``size``, the number of generated reports unless its docstring says
otherwise, and ``seed``; equal arguments give equal records.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import starmap

from radeval_lib.data import iob_tags
from radeval_lib.data.radgraph import Annotation, make_annotation
from radeval_lib.data.records import (
    AnnotatedSentence,
    Document,
    Entity,
    JudgedPair,
    Relation,
    Report,
    ReportPair,
    TextPair,
)
from radeval_lib.rules.generator import (
    MIMIC_RRS_PAIRS,
    MIMIC_RRS_TRAINED,
    ErrorPair,
    SyntheticError,
    SyntheticReport,
    generate,
    green_answer,
    green_pairs,
    rewrite,
    tokenize,
)
from radeval_lib.rules.generator.generator import RewriteKind, make_rng, report_at
from radeval_lib.rules.generator.planted_errors import draw_kinds, inject
from radeval_lib.rules.generator.records import AnnotatedText, index_graph, index_tokens, tokenize_sentences

# A mapping from each style of the generator to the source in RaTE-NER that it imitates.
SOURCES = {"hospital": "MIMIC-IV", "encyclopaedic": "Radiopaedia"}
CANDIDATES = 4  # candidates of each case of :func:`generate_error_cases`, as in ReXVal
# Mean number of planted errors per candidate, and its coefficient of variation over cases; both are fitted to
# ReXVal's counts.
_MEAN_ERRORS = 3.0
_CASE_VARIATION = 1.18
_MAX_ERRORS = 8  # planted in a candidate
_CHEST = ("X-Ray", "CHEST")
_TRIES = 8  # attempts with random kinds of errors, for each number of errors


def _generate_with_splits(size: int, seed: int) -> Iterator[tuple[SyntheticReport, str]]:
    """Yield (report, split) for ``size`` generated reports.

    The first 80% of the reports are ``train``, the next 10% ``dev`` and the rest ``test``. Reports are
    independent of each other, so splits taken in order are as good as random ones.
    """
    for index, report in enumerate(generate(size, seed)):
        yield report, "train" if index < 0.8 * size else "dev" if index < 0.9 * size else "test"


def _make_report_pair(report: SyntheticReport, split: str, name: str = "") -> ReportPair:
    """Return the findings and impression of a report; the id is ``name`` or, if empty, the report's."""
    texts, group = (report.findings.text, report.impression.text), f"{report.modality} {report.anatomy}"
    return ReportPair(name or report.report_id, *texts, group=group, split=split)


def generate_reports(size: int, seed: int) -> Iterator[Report]:
    """Yield the findings and impression of each generated report."""
    for report in generate(size, seed):
        yield Report(report.report_id, report.findings.text, report.impression.text)


def generate_summaries(size: int, seed: int) -> Iterator[ReportPair]:
    """Yield pairs of findings and impression with splits; ``group`` is the modality and anatomy."""
    for report, split in _generate_with_splits(size, seed):
        yield _make_report_pair(report, split)


def generate_anatomy_summaries(size: int, seed: int) -> Iterator[ReportPair]:
    """Yield pairs of findings and impression for MIMIC-RRS's twelve groups (modality and anatomy).

    Each of the seven groups on which the paper trains has the same number of reports: 60% ``train``, 15%
    ``dev`` and 25% ``test``. Each of the other five has as many test reports and no others. In total, there
    are about ``size`` reports, and at least 66.
    """
    trained_size = max(8, 4 * size // 33)  # Seven full groups and five quarters make 33 / 4.
    test_size = trained_size - trained_size * 3 // 4
    for pair in MIMIC_RRS_PAIRS:
        group, is_trained = " ".join(pair), pair in MIMIC_RRS_TRAINED
        pair_seed = make_rng(seed, group).getrandbits(30)
        count = trained_size if is_trained else test_size
        for index, report in enumerate(generate(count, pair_seed, modality_anatomy=pair)):
            is_dev = index < trained_size * 2 // 5
            split = "test" if not is_trained or index < test_size else "dev" if is_dev else "train"
            yield _make_report_pair(report, split, f"{group} {index}")


def generate_descriptions(size: int, seed: int) -> Iterator[Document]:
    """Yield each report without its impression, which is the summary; ``group`` is the anatomy."""
    for report, split in _generate_with_splits(size, seed):
        body = report.text.partition("\nIMPRESSION:")[0]
        yield Document(report.report_id, body, report.impression.text, group=report.anatomy, split=split)


def generate_procedures(size: int, seed: int) -> Iterator[Document]:
    """Yield the reason for each examination, with the procedure code as label and the modality as group."""
    for report, split in _generate_with_splits(size, seed):
        label, group = report.procedure, report.modality
        yield Document(report.report_id, report.indication, label=label, group=group, split=split)


def generate_ner_corpus(size: int, seed: int) -> Iterator[AnnotatedSentence]:
    """Yield the findings sentences of ``size`` reports with entities of RaTE-NER's five types.

    ``group`` is the source of RaTE-NER that the report's style imitates.
    """
    for report, split in _generate_with_splits(size, seed):
        for number, (tokens, spans) in enumerate(tokenize_sentences(report.findings)):
            entities = tuple(Entity(first, last + 1, label) for first, last, label in spans)
            name, group = f"{report.report_id}/{number}", SOURCES[report.style]
            yield AnnotatedSentence(name, tuple(tokens), entities, group=group, split=split)


def generate_graph_corpus(size: int, seed: int) -> Iterator[AnnotatedSentence]:
    """Yield each findings section as one sequence of tokens with RadGraph entities and relations.

    ``group`` is the modality and anatomy.
    """
    for report, split in _generate_with_splits(size, seed):
        entities, relations = index_graph(report.findings)
        annotations = tuple(starmap(Entity, entities)), tuple(starmap(Relation, relations))
        tokens, group = tokenize(report.findings.text), f"{report.modality} {report.anatomy}"
        yield AnnotatedSentence(report.report_id, tokens, *annotations, group=group, split=split)


def generate_spatial_corpus(size: int, seed: int) -> Iterator[AnnotatedSentence]:
    """Yield each findings section as one sequence of tokens with spatial roles, as in Rad-SpRL.

    Relations run from each spatial indicator to its trajector, landmark, diagnosis and hedge.
    """
    for report, split in _generate_with_splits(size, seed):
        tokens, token_at = index_tokens(report.findings.text)
        entities: list[Entity] = []
        relations: list[Relation] = []
        for roles in report.findings.roles:
            indicator = len(entities)
            for label in ("Indicator", "Trajector", "Landmark", "Diagnosis", "Hedge"):
                span = getattr(roles, label.lower())
                if span is None:
                    continue
                if label != "Indicator":
                    relations.append(Relation(indicator, len(entities), label))
                entities.append(Entity(token_at[span[0]], token_at[span[1] - 1] + 1, label))
        yield AnnotatedSentence(report.report_id, tokens, tuple(entities), tuple(relations), split=split)


def generate_judged_pairs(size: int, seed: int) -> Iterator[JudgedPair]:
    """Yield report pairs made by GREEN's five heuristics, each as a prompt and an analysis of its errors.

    ``size`` is the number of pairs.
    """
    for number, pair in enumerate(green_pairs(size, seed)):
        prompt = f"Reference: {pair.reference.findings.text}\nCandidate: {pair.candidate.findings.text}"
        analysis = green_answer(pair.reference, pair.candidate, pair.comparison)
        yield JudgedPair(f"{pair.reference.report_id}/{number}", prompt, analysis)


def make_radgraph_record(text: AnnotatedText) -> Annotation:
    """Return a generated text with its entities and relations in RadGraph format."""
    return make_annotation(tokenize(text.text), *index_graph(text)) | {"data_source": "synthetic"}


def encode_iob(text: AnnotatedText) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the tokens and IOB tags of each sentence; types are in capitals, as in ``B-NON-ABNORMALITY``."""
    for tokens, entities in tokenize_sentences(text):
        spans = ((first, last + 1, label.upper()) for first, last, label in entities)
        yield tokens, iob_tags.encode(spans, len(tokens))


def generate_text_pairs(size: int, seed: int) -> Iterator[TextPair]:
    """Yield ``size`` pairs of reference and candidate findings; ``source`` is the reference's whole report.

    The pairs are those of :func:`generate_error_cases`; ``group`` is ``candidate 1`` to ``candidate 4``.
    """
    for number, pair in enumerate(generate_error_cases(size, seed)):
        case, position = divmod(number, CANDIDATES)
        texts = pair.reference.findings.text, pair.candidate.findings.text, pair.reference.text
        yield TextPair(f"{case}/{position}", str(case), *texts, group=f"candidate {position + 1}")


def generate_error_cases(size: int, seed: int) -> Iterator[ErrorPair]:
    """Yield ``size`` chest X-ray pairs with planted errors, four candidates for each reference.

    The distribution of the number of errors imitates ReXVal. Each candidate is then reworded without changing
    its errors: the first in style, the others by synonyms where possible.
    """
    for case in range(-(-size // CANDIDATES)):
        shape, scale = _CASE_VARIATION**-2, _MEAN_ERRORS * _CASE_VARIATION**2
        expected = make_rng(seed, case, "expected").gammavariate(shape, scale)
        findings = max(1, min(6, round(expected)))  # A report without findings allows few errors.
        reference = report_at(seed, case, style="hospital", modality_anatomy=_CHEST, min_findings=findings)
        for position in range(min(CANDIDATES, size - case * CANDIDATES)):
            pair = _plant_errors(reference, expected, seed, f"{case}/{position}")
            kind: RewriteKind = "style" if position == 0 else "synonym"
            candidate = pair.candidate
            with suppress(SyntheticError):  # raised if the report has no other wording
                candidate = rewrite(candidate, kind=kind, seed=seed + position)
            yield ErrorPair(pair.reference, candidate, pair.comparison)


def _plant_errors(reference: SyntheticReport, expected: float, seed: int, name: str) -> ErrorPair:
    """Return the reference paired with a copy that has about ``expected`` random errors.

    The number is at most :data:`_MAX_ERRORS`, and lower if the report does not allow so many. ``name``
    selects the random stream.
    """
    rng = make_rng(seed, name, "errors")
    for number in range(min(_MAX_ERRORS, int(expected + rng.random())), 0, -1):
        for _ in range(_TRIES):
            try:
                return inject(reference, draw_kinds(rng, number), rng.getrandbits(30))
            except SyntheticError:
                continue
    return inject(reference, [], rng.getrandbits(30))
