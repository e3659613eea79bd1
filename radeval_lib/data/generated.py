"""The generator's reports as the records that loaders yield: the source of a role without any data file."""

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
"""Of each case of :func:`error_cases`, as in ReXVal."""
# Planted errors of a candidate, on average, and their standard deviation over cases as a share of it: fitted
# to what ReXVal's radiologists counted.
_ERRORS, _CASES, _MOST = 3.0, 1.18, 8
_CHEST = ("X-Ray", "CHEST")
_TRIES = 8  # mixes of as many errors


def _parted(n: int, seed: int) -> Iterator[tuple[SyntheticReport, str]]:
    """Yield reports, each with its split (80, 10, 10 %) by place: they are independent, whatever their
    order."""
    for index, made in enumerate(generate(n, seed)):
        yield made, "train" if index < 0.8 * n else "dev" if index < 0.9 * n else "test"


def _summary(made: SyntheticReport, split: str, name: str = "") -> ReportPair:
    texts, group = (made.findings.text, made.impression.text), f"{made.modality} {made.anatomy}"
    return ReportPair(name or made.report_id, *texts, group=group, split=split)


def reports(n: int, seed: int) -> Iterator[Report]:
    """Yield whole reports."""
    for made in generate(n, seed):
        yield Report(made.report_id, made.findings.text, made.impression.text)


def summaries(n: int, seed: int) -> Iterator[ReportPair]:
    """Yield findings with impressions; ``group`` is the modality and anatomy."""
    for made, split in _parted(n, seed):
        yield _summary(made, split)


def anatomy_summaries(n: int, seed: int) -> Iterator[ReportPair]:
    """Yield findings with impressions for MIMIC-RRS's pairs of modality and anatomy (``group``).

    The seven pairs that the paper trains on get equally many reports, 60 % for training, 15 % for dev, 25 %
    for test; the other five get as many test reports and no others.
    """
    size = max(8, 4 * n // 33)  # 7 pairs whole and 5 quarters are 8.25
    tests = size - size * 3 // 4
    for pair in MIMIC_RRS_PAIRS:
        group, trained = " ".join(pair), pair in MIMIC_RRS_TRAINED
        stream = seeded(seed, group).getrandbits(30)
        for index, made in enumerate(generate(size if trained else tests, stream, modality_anatomy=pair)):
            split = "test" if not trained or index < tests else "dev" if index < size * 2 // 5 else "train"
            yield _summary(made, split, f"{group} {index}")


def descriptions(n: int, seed: int) -> Iterator[Document]:
    """Yield whole reports with their impression as the summary; ``group`` is the anatomy."""
    for made, split in _parted(n, seed):
        body = made.text.partition("\nIMPRESSION:")[0]
        yield Document(made.report_id, body, made.impression.text, group=made.anatomy, split=split)


def procedures(n: int, seed: int) -> Iterator[Document]:
    """Yield reasons for an examination, each with the code of the fitting procedure; ``group`` is the
    modality."""
    for made, split in _parted(n, seed):
        asked, group = made.procedure, made.modality
        yield Document(made.report_id, made.indication, label=asked, group=group, split=split)


def ner_corpus(n: int, seed: int) -> Iterator[AnnotatedSentence]:
    """Yield sentences of ``n`` reports with RaTE entities; ``group`` is the source that the style
    imitates."""
    for made, split in _parted(n, seed):
        for number, (tokens, spans) in enumerate(sentence_tokens(made.findings)):
            entities = tuple(Entity(first, last + 1, label) for first, last, label in spans)
            name, group = f"{made.report_id}/{number}", SOURCES[made.style]
            yield AnnotatedSentence(name, tuple(tokens), entities, group=group, split=split)


def graph_corpus(n: int, seed: int) -> Iterator[AnnotatedSentence]:
    """Yield findings sections with RadGraph entities and relations, each as one sequence of tokens."""
    for made, split in _parted(n, seed):
        entities, relations = graph(made.findings)
        marks = tuple(starmap(Entity, entities)), tuple(starmap(Relation, relations))
        tokens, group = tokenize(made.findings.text), f"{made.modality} {made.anatomy}"
        yield AnnotatedSentence(made.report_id, tokens, *marks, group=group, split=split)


def spatial_corpus(n: int, seed: int) -> Iterator[AnnotatedSentence]:
    """Yield findings sections with spatial roles: relations from each indicator to its roles, as in
    Rad-SpRL."""
    for made, split in _parted(n, seed):
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


def judged_pairs(n: int, seed: int) -> Iterator[JudgedPair]:
    """Yield pairs made by GREEN's five heuristics, each with an analysis written from the gold errors."""
    for number, pair in enumerate(green_pairs(n, seed)):
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


def text_pairs(n: int, seed: int) -> Iterator[TextPair]:
    """Yield ``n`` candidates; the source is the whole report."""
    for number, pair in enumerate(error_cases(n, seed)):
        case, origin = divmod(number, CANDIDATES)
        texts = pair.reference.findings.text, pair.candidate.findings.text, pair.reference.text
        yield TextPair(f"{case}/{origin}", str(case), *texts, group=f"candidate {origin + 1}")


def error_cases(n: int, seed: int) -> Iterator[ErrorPair]:
    """Yield ``n`` pairs, four for each reference. The comparison is exact whatever words the candidate
    uses."""
    for case in range(-(-n // CANDIDATES)):
        expected = seeded(seed, case, "expected").gammavariate(_CASES**-2, _ERRORS * _CASES**2)
        findings = max(1, min(6, round(expected)))  # a report without findings allows few errors
        reference = report_at(seed, case, style="hospital", modality_anatomy=_CHEST, min_findings=findings)
        for origin in range(min(CANDIDATES, n - case * CANDIDATES)):
            pair = _with_errors(reference, expected, seed, f"{case}/{origin}")
            kind: RewriteKind = "style" if origin == 0 else "synonym"
            candidate = pair.candidate
            with suppress(SyntheticError):  # it may have no other wording
                candidate = rewrite(candidate, kind=kind, seed=seed + origin)
            yield ErrorPair(pair.reference, candidate, pair.comparison)


def _with_errors(reference: SyntheticReport, expected: float, seed: int, name: str) -> ErrorPair:
    """Return the reference with about this number of random errors, or fewer if it allows no more."""
    rng = seeded(seed, name, "errors")
    for number in range(min(_MOST, int(expected + rng.random())), 0, -1):
        for _ in range(_TRIES):
            try:
                return inject(reference, random_kinds(rng, number), rng.getrandbits(30))
            except SyntheticError:
                continue
    return inject(reference, [], rng.getrandbits(30))
