"""The generator's reports as the records that loaders yield: what fills a role without any data file."""

from __future__ import annotations

from collections.abc import Iterator

from radeval_lib.data.records import (
    AnnotatedSentence,
    Document,
    Entity,
    ErrorCount,
    JudgedPair,
    RatedPair,
    Relation,
    Report,
    ReportPair,
    Triad,
)
from radeval_lib.metrics import green
from radeval_lib.synthetic import (
    CATEGORIES,
    AnnotatedText,
    SyntheticError,
    error_pairs,
    generate,
    green_pairs,
    panel,
    rate,
    tokenize,
    triad,
)
from radeval_lib.synthetic.export import sentence_tokens

# Sources of the two styles, as the records of RaTE-NER name theirs: what the style stands in for.
SOURCES = {"hospital": "MIMIC-IV", "encyclopaedic": "Radiopaedia"}
_SHARES = (("train", 0.8), ("dev", 0.9), ("test", 1.0))
_RATERS = 6  # as in ReXVal


def split_of(index: int, n: int) -> str:
    """Train, dev or test (80, 10, 10 %) by place; reports are independent, so their order says nothing."""
    return next(name for name, share in _SHARES if index < share * n)


def reports(n: int, seed: int) -> Iterator[Report]:
    """Whole reports; ``problems`` are the positive ones of the 14 CheXpert observations."""
    for made in generate(n, seed):
        yield Report(
            id=made.report_id,
            findings=made.findings.text,
            impression=made.impression.text,
            indication=made.indication,
            comparison=made.comparison,
            technique=made.technique,
            problems=tuple(name for name, label in made.chexpert.items() if label == 1),
        )


def summaries(n: int, seed: int) -> Iterator[ReportPair]:
    """Findings with impressions; ``group`` is the modality and anatomy."""
    for index, made in enumerate(generate(n, seed)):
        yield ReportPair(
            id=made.report_id,
            findings=made.findings.text,
            impression=made.impression.text,
            background=made.indication,
            group=f"{made.modality} {made.anatomy}",
            split=split_of(index, n),
        )


def descriptions(n: int, seed: int) -> Iterator[Document]:
    """Whole reports with their impression as the summary; ``group`` is the anatomy."""
    for index, made in enumerate(generate(n, seed)):
        body = made.text.partition("\nIMPRESSION:")[0]
        yield Document(
            made.report_id, body, made.impression.text, group=made.anatomy, split=split_of(index, n)
        )


def procedures(n: int, seed: int) -> Iterator[Document]:
    """Reasons for an examination with the code of the procedure that fits."""
    for index, made in enumerate(generate(n, seed)):
        yield Document(made.report_id, made.indication, label=made.procedure, split=split_of(index, n))


def ner_corpus(n: int, seed: int) -> Iterator[AnnotatedSentence]:
    """Sentences of ``n`` reports with RaTE entities; ``group`` is the source that the style stands in for."""
    for index, made in enumerate(generate(n, seed)):
        for number, (tokens, spans) in enumerate(sentence_tokens(made.findings)):
            entities = tuple(Entity(first, last + 1, label) for first, last, label in spans)
            yield AnnotatedSentence(
                id=f"{made.report_id}/{number}",
                tokens=tuple(tokens),
                entities=entities,
                group=SOURCES[made.style],
                split=split_of(index, n),
            )


def graph_corpus(n: int, seed: int) -> Iterator[AnnotatedSentence]:
    """Findings sections with RadGraph entities and relations, each as one sequence of tokens."""
    for index, made in enumerate(generate(n, seed)):
        graph = made.findings.radgraph
        relations = tuple(
            Relation(head, int(target) - 1, kind)
            for head, one in enumerate(graph)
            for kind, target in one.relations
        )
        yield AnnotatedSentence(
            id=made.report_id,
            tokens=tokenize(made.findings.text),
            entities=tuple(Entity(one.start_ix, one.end_ix + 1, one.label) for one in graph),
            relations=relations,
            group=f"{made.modality} {made.anatomy}",
            split=split_of(index, n),
        )


def _token_places(text: AnnotatedText) -> tuple[tuple[str, ...], list[int]]:
    """Tokens, and for each character position the token that holds it or the next one."""
    tokens, places, at = tokenize(text.text), [], 0
    for number, token in enumerate(tokens):
        end = text.text.index(token, at) + len(token)
        places += [number] * (end - at)
        at = end
    return tokens, places


def spatial_corpus(n: int, seed: int) -> Iterator[AnnotatedSentence]:
    """Findings sections with spatial roles: relations from each indicator to its roles, as in Rad-SpRL."""
    for index, made in enumerate(generate(n, seed)):
        tokens, places = _token_places(made.findings)
        entities: list[Entity] = []
        relations: list[Relation] = []
        for one in made.findings.roles:
            roles = {
                "Trajector": one.trajector,
                "Landmark": one.landmark,
                "Diagnosis": one.diagnosis,
                "Hedge": one.hedge,
            }
            indicator = len(entities)
            for label, span in {"Indicator": one.indicator, **roles}.items():
                if span is None:
                    continue
                if label != "Indicator":
                    relations.append(Relation(indicator, len(entities), label))
                entities.append(Entity(places[span[0]], places[span[1] - 1] + 1, label))
        yield AnnotatedSentence(
            made.report_id, tokens, tuple(entities), tuple(relations), split=split_of(index, n)
        )


def rated_pairs(n: int, seed: int) -> Iterator[RatedPair]:
    """Candidates with injected errors, graded 0 to 5 by simulated raters; one record a pair and rater."""
    raters = panel(2, seed)
    for index, pair in enumerate(error_pairs(n, seed)):
        for rater in raters:
            yield RatedPair(
                id=pair.reference.report_id,
                reference=pair.reference.findings.text,
                candidate=pair.candidate.findings.text,
                rating=rate(pair.comparison, rater, seed, str(index)).grade,
                rater=rater.name,
                group="injected errors",
                split="train" if index < 0.8 * n else "test",
            )


def error_counts(n: int, seed: int) -> Iterator[ErrorCount]:
    """Errors that six simulated raters counted in candidates with injected errors, as ReXVal tells them."""
    raters = panel(_RATERS, seed)
    for index, pair in enumerate(error_pairs(n, seed)):
        for rater in raters:
            rating = rate(pair.comparison, rater, seed, str(index))
            for significant, counts in ((True, rating.significant), (False, rating.insignificant)):
                for category, letter in enumerate(CATEGORIES, start=1):
                    yield ErrorCount(index, "injected", category, rater.name, significant, counts[letter])


def rewrites(n: int, seed: int) -> Iterator[Triad]:
    """Findings with a synonymous and an opposite version; reports without another wording are passed over."""
    found = 0
    for made in generate(20 * n, seed):
        try:
            versions = triad(made, seed)
        except SyntheticError:
            continue
        yield Triad(
            id=made.report_id,
            reference=made.findings.text,
            synonymous=versions.synonymous.findings.text,
            opposite=versions.opposite.findings.text,
        )
        found += 1
        if found == n:
            return


def judged_pairs(n: int, seed: int) -> Iterator[JudgedPair]:
    """Pairs made by GREEN's five heuristics, with an analysis in its form written from the gold errors."""
    for number, pair in enumerate(green_pairs(n, seed)):
        says: dict[tuple[bool, str], list[str]] = {}
        for error in pair.comparison.errors:
            words = error.candidate_says or error.reference_says
            says.setdefault((error.significant, error.category), []).append(words)
        significant, insignificant = (
            [says.get((weight, letter), []) for letter in CATEGORIES] for weight in (True, False)
        )
        reference, candidate = pair.reference.findings.text, pair.candidate.findings.text
        yield JudgedPair(
            id=f"{pair.reference.report_id}/{number}",
            prompt=f"Reference: {reference}\nCandidate: {candidate}",
            analysis=green.render(significant, insignificant, pair.comparison.matched),
        )
