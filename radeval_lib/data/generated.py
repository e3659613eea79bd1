"""The generator's reports as the records that loaders yield: the source of roles without data files.

``size`` is the number of reports unless a function says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import starmap

from radeval_lib.data import iob_tags
from radeval_lib.data.radgraph import Annotation, annotation
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
from radeval_lib.rules.generator.generator import RewriteKind, report_at, seeded
from radeval_lib.rules.generator.planted_errors import inject, random_kinds
from radeval_lib.rules.generator.records import AnnotatedText, graph, sentence_tokens, token_places

# Sources of the two styles, as the records of RaTE-NER name theirs: the source that the style imitates.
SOURCES = {"hospital": "MIMIC-IV", "encyclopaedic": "Radiopaedia"}
CANDIDATES = 4
"""Candidates of each case of :func:`error_cases`, as in ReXVal."""
_ERRORS = 3.0  # mean number of planted errors in a candidate; this and the next are fitted to ReXVal's counts
_CASES = 1.18  # their standard deviation over cases, as a share of the mean
_MOST = 8  # errors in a candidate
_CHEST = ("X-Ray", "CHEST")
_TRIES = 8  # random choices of the kinds of as many errors


def _with_splits(size: int, seed: int) -> Iterator[tuple[SyntheticReport, str]]:
    """Yield reports, each with its split: the first 80 % train, and then 10 % each are for dev and testing.
    Reports are independent, so the order does not matter."""
    for index, made in enumerate(generate(size, seed)):
        yield made, "train" if index < 0.8 * size else "dev" if index < 0.9 * size else "test"


def _summary(made: SyntheticReport, split: str, name: str = "") -> ReportPair:
    texts, group = (made.findings.text, made.impression.text), f"{made.modality} {made.anatomy}"
    return ReportPair(name or made.report_id, *texts, group=group, split=split)


def reports(size: int, seed: int) -> Iterator[Report]:
    """Yield whole reports."""
    for made in generate(size, seed):
        yield Report(made.report_id, made.findings.text, made.impression.text)


def summaries(size: int, seed: int) -> Iterator[ReportPair]:
    """Yield findings with impressions; ``group`` is the modality and anatomy."""
    for made, split in _with_splits(size, seed):
        yield _summary(made, split)


def anatomy_summaries(size: int, seed: int) -> Iterator[ReportPair]:
    """Yield findings with impressions for MIMIC-RRS's pairs of modality and anatomy (``group``).

    The seven pairs that the paper trains on get equally many reports, 60 % for training, 15 % for dev and
    25 % for testing; the other five get as many test reports and no others. Together they are about ``size``
    reports, and at least 66.
    """
    trained_size = max(8, 4 * size // 33)  # 7 pairs whole and 5 quarters are 8.25
    tests = trained_size - trained_size * 3 // 4
    for pair in MIMIC_RRS_PAIRS:
        group, trained = " ".join(pair), pair in MIMIC_RRS_TRAINED
        stream = seeded(seed, group).getrandbits(30)
        count = trained_size if trained else tests
        for index, made in enumerate(generate(count, stream, modality_anatomy=pair)):
            is_dev = index < trained_size * 2 // 5
            split = "test" if not trained or index < tests else "dev" if is_dev else "train"
            yield _summary(made, split, f"{group} {index}")


def descriptions(size: int, seed: int) -> Iterator[Document]:
    """Yield whole reports with their impression as the summary; ``group`` is the anatomy."""
    for made, split in _with_splits(size, seed):
        body = made.text.partition("\nIMPRESSION:")[0]
        yield Document(made.report_id, body, made.impression.text, group=made.anatomy, split=split)


def procedures(size: int, seed: int) -> Iterator[Document]:
    """Yield reasons for an examination, each with the code of the fitting procedure; ``group`` is the
    modality."""
    for made, split in _with_splits(size, seed):
        asked, group = made.procedure, made.modality
        yield Document(made.report_id, made.indication, label=asked, group=group, split=split)


def ner_corpus(size: int, seed: int) -> Iterator[AnnotatedSentence]:
    """Yield sentences of ``size`` reports with RaTE entities; ``group`` is the source that the style
    imitates."""
    for made, split in _with_splits(size, seed):
        for number, (tokens, spans) in enumerate(sentence_tokens(made.findings)):
            entities = tuple(Entity(first, last + 1, label) for first, last, label in spans)
            name, group = f"{made.report_id}/{number}", SOURCES[made.style]
            yield AnnotatedSentence(name, tuple(tokens), entities, group=group, split=split)


def graph_corpus(size: int, seed: int) -> Iterator[AnnotatedSentence]:
    """Yield findings sections with RadGraph entities and relations, each as one sequence of tokens."""
    for made, split in _with_splits(size, seed):
        entities, relations = graph(made.findings)
        marks = tuple(starmap(Entity, entities)), tuple(starmap(Relation, relations))
        tokens, group = tokenize(made.findings.text), f"{made.modality} {made.anatomy}"
        yield AnnotatedSentence(made.report_id, tokens, *marks, group=group, split=split)


def spatial_corpus(size: int, seed: int) -> Iterator[AnnotatedSentence]:
    """Yield findings sections with spatial roles: relations from each indicator to its roles, as in
    Rad-SpRL."""
    for made, split in _with_splits(size, seed):
        tokens, places = token_places(made.findings.text)
        entities: list[Entity] = []
        relations: list[Relation] = []
        for spans in made.findings.roles:
            indicator = len(entities)
            for label in ("Indicator", "Trajector", "Landmark", "Diagnosis", "Hedge"):
                span = getattr(spans, label.lower())
                if span is None:
                    continue
                if label != "Indicator":
                    relations.append(Relation(indicator, len(entities), label))
                entities.append(Entity(places[span[0]], places[span[1] - 1] + 1, label))
        yield AnnotatedSentence(made.report_id, tokens, tuple(entities), tuple(relations), split=split)


def judged_pairs(size: int, seed: int) -> Iterator[JudgedPair]:
    """Yield pairs made by GREEN's five heuristics, each with an analysis written from the gold errors."""
    for number, pair in enumerate(green_pairs(size, seed)):
        prompt = f"Reference: {pair.reference.findings.text}\nCandidate: {pair.candidate.findings.text}"
        analysis = green_answer(pair.reference, pair.candidate, pair.comparison)
        yield JudgedPair(f"{pair.reference.report_id}/{number}", prompt, analysis)


def radgraph_json(text: AnnotatedText) -> Annotation:
    """Return a generated text in RadGraph's form: tokens joined by blanks, entities by 1-based id."""
    return annotation(tokenize(text.text), *graph(text)) | {"data_source": "synthetic"}


def iob(text: AnnotatedText) -> Iterator[tuple[list[str], list[str]]]:
    """Yield each sentence's tokens and IOB tags, types in capitals as in RaTE-NER ("B-NON-ABNORMALITY")."""
    for tokens, entities in sentence_tokens(text):
        spans = ((first, last + 1, label.upper()) for first, last, label in entities)
        yield tokens, iob_tags.encode(spans, len(tokens))


def text_pairs(size: int, seed: int) -> Iterator[TextPair]:
    """Yield ``size`` candidates; the source is the whole report."""
    for number, pair in enumerate(error_cases(size, seed)):
        case, origin = divmod(number, CANDIDATES)
        texts = pair.reference.findings.text, pair.candidate.findings.text, pair.reference.text
        yield TextPair(f"{case}/{origin}", str(case), *texts, group=f"candidate {origin + 1}")


def error_cases(size: int, seed: int) -> Iterator[ErrorPair]:
    """Yield ``size`` pairs, four for each reference. The comparison is exact whatever words the candidate
    uses."""
    for case in range(-(-size // CANDIDATES)):
        expected = seeded(seed, case, "expected").gammavariate(_CASES**-2, _ERRORS * _CASES**2)
        findings = max(1, min(6, round(expected)))  # a report without findings allows few errors
        reference = report_at(seed, case, style="hospital", modality_anatomy=_CHEST, min_findings=findings)
        for origin in range(min(CANDIDATES, size - case * CANDIDATES)):
            pair = _with_errors(reference, expected, seed, f"{case}/{origin}")
            kind: RewriteKind = "style" if origin == 0 else "synonym"
            candidate = pair.candidate
            with suppress(SyntheticError):  # it may have no other wording
                candidate = rewrite(candidate, kind=kind, seed=seed + origin)
            yield ErrorPair(pair.reference, candidate, pair.comparison)


def _with_errors(reference: SyntheticReport, expected: float, seed: int, name: str) -> ErrorPair:
    """Return the reference with about the ``expected`` number of random errors; fewer if it allows no
    more."""
    rng = seeded(seed, name, "errors")
    for number in range(min(_MOST, int(expected + rng.random())), 0, -1):
        for _ in range(_TRIES):
            try:
                return inject(reference, random_kinds(rng, number), rng.getrandbits(30))
            except SyntheticError:
                continue
    return inject(reference, [], rng.getrandbits(30))
