"""Files in the exact format of every data set that `full` names, filled with generated records.

The formats are those of :mod:`tests.data.samples`. The words are the generator's, so that trainings meet
entities, relations and labels; of no data set is any word here. Between the words of a restricted data set
stand made-up ones, which no page has, because the guard searches for its texts.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import pandas as pd

from radeval_lib.categories import RATE_TYPES
from radeval_lib.data import iob_tags, mts_dialog, radpref, rexval
from radeval_lib.data.mimic3_rrs import PAIRS
from radeval_lib.data.radgraph import make_annotation
from radeval_lib.data.readers import SPLITS
from radeval_lib.data.records import AnnotatedSentence, Entity
from radeval_lib.data.restricted import reveal
from radeval_lib.data.roles import load
from radeval_lib.models.entities import read_gold
from radeval_lib.rules import reader
from tests.data.samples import FILES, csv_bytes, json_bytes

LABELS = Path(reader.__file__).parent / "labels"
SIZE = 24
_ADJOINING = 3
"""The generator's words that stand together in a restricted text: the guard takes four for a phrase."""
MADE_UP = tuple(
    "".join(syllables)
    for syllables in product(
        ("zor", "kel", "vax", "tib", "mur", "quen"), ("ba", "mi", "lu"), ("ks", "rn", "lth")
    )
)


COUNTS = "rexval/6_valid_raters_per_rater_error_categories.csv"


def _table(path: str, rows: Iterable[Sequence[object]], header: Sequence[str] = ()) -> tuple[str, bytes]:
    """Return a file's path and content, under the columns of its sample in the tests of loaders."""
    if not header:
        content = FILES[path.replace("1_sentence", "2_paragraph").replace("rate_train", "rate_test")]
        text = (gzip.decompress(content) if path.endswith(".gz") else content).decode("utf-8-sig")
        header = next(csv.reader(io.StringIO(text)))
    return path, csv_bytes([[*header], *map(list, rows)])


def write(root: Path) -> None:
    """Write every data set of `full`, and those that its pages look up by name."""
    for make in _FILES:
        for path, content in make():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(gzip.compress(content, mtime=0) if path.endswith(".gz") else content)


def _generated(role: str, size: int = SIZE, seed: int = 1) -> list[Any]:
    return load(role, "synthetic", size=size, seed=seed, root=None)


def _summaries(size: int, seed: int) -> list[tuple[str, str]]:
    """Return findings and impressions."""
    records = _generated("summaries", size, seed)
    return [(reveal(record.findings), reveal(record.impression)) for record in records]


def _pairs(size: int, seed: int = 1) -> list[tuple[str, str]]:
    """Return references and candidates, no two alike."""
    records = _generated("text_pairs", size, seed)
    return list(dict.fromkeys((reveal(record.reference), reveal(record.candidate)) for record in records))


def _parted(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each word with the made-up one before it, if any: the same ones for the same words."""
    rng = random.Random(" ".join(words))
    for number, word in enumerate(words):
        yield (rng.choice(MADE_UP) if number % _ADJOINING == 1 else ""), word


def restricted(text: str) -> str:
    """Return the text with made-up words between its own, its line breaks and punctuation as they were."""
    return " ".join(record for both in _parted(text.split(" ")) for record in both if record)


def _restricted_sentence(sentence: AnnotatedSentence) -> AnnotatedSentence:
    """Likewise; an entity keeps its words, with those that came between them."""
    tokens: list[str] = []
    places = []
    for made_up, word in _parted(_words(sentence)):
        tokens += [made_up] if made_up else []
        places.append(len(tokens))
        tokens.append(word)
    moved = (replace(e, start=places[e.start], end=places[e.end - 1] + 1) for e in sentence.entities)
    return replace(sentence, tokens=tuple(tokens), entities=tuple(moved))


def _sentences(role: str, size: int, seed: int = 1) -> dict[str, list[AnnotatedSentence]]:
    """Return sentences of a restricted data set by split."""
    return _in_splits([_restricted_sentence(record) for record in _generated(role, size, seed)])


def _restricted_pairs(size: int, seed: int = 1) -> list[tuple[str, str]]:
    return [(restricted(reference), restricted(candidate)) for reference, candidate in _pairs(size, seed)]


def _restricted_analysis(analysis: str) -> str:
    """Return an analysis in GREEN's layout whose findings are of a restricted report."""

    def with_made_up(entry: re.Match[str]) -> str:
        return entry[1] + "; ".join(map(restricted, entry[2].split("; ")))

    return re.sub(r"(?m)((?:^|: )\d+\. )(.+)$", with_made_up, analysis)


def _in_splits(records: Sequence[Any]) -> dict[str, list[Any]]:
    """Return two thirds for training, the rest halved."""
    sixth = len(records) // 6
    parts = records[: -2 * sixth], records[-2 * sixth : -sixth], records[-sixth:]
    return dict(zip(SPLITS, parts, strict=True))


def _words(sentence: AnnotatedSentence) -> list[str]:
    return [reveal(token).replace(" ", "") for token in sentence.tokens]


def _openi() -> Iterable[tuple[str, bytes]]:
    """With the reports whose sentences were labelled, long enough for the labels' places."""
    labelled = [set(pd.read_csv(path)["report"]) for path in LABELS.glob("openi_*.csv")]
    pairs, rows = _summaries(60, 2), []
    for number, uid in enumerate(sorted({*range(1, 61)}.union(*labelled))):
        texts = [" ".join([text] * (1 if uid <= 60 else 6)) for text in pairs[number % 60]]
        rows.append([uid, "normal", "normal", "Xray Chest PA and Lateral", "Cough", "None.", *texts])
    yield _table("openi/indiana_reports.csv", rows)


def _mediqa() -> Iterable[tuple[str, bytes]]:
    files = (("indiana_dev", SIZE, 3, str), ("train", 40, 4, restricted), ("dev", 12, 5, restricted))
    for thousand, (file, size, seed, turn) in enumerate(files, start=1):
        rows = []
        for number, texts in enumerate(_summaries(size, seed), start=1000 * thousand):
            row = {"study_id": f"{number}", "subject_id": f"{number}"}
            row |= dict(zip(("findings", "impression"), map(turn, texts), strict=True))
            rows.append(row | {"background": ""})
        yield f"mediqa2021/{file}.json", json_bytes(rows)


def _mimic_cxr_rrs() -> Iterable[tuple[str, bytes]]:
    pairs = [tuple(map(restricted, texts)) for texts in _summaries(40, 6)]
    rows = [[f"s{n}", impression, findings, "", ""] for n, (findings, impression) in enumerate(pairs, 50)]
    yield _table("mimic_cxr/mimic_cxr_sectioned.csv", rows)
    splits = ["train", "train", "validate", "test"]
    rows = [[f"{n}-1", 50 + n, 10 + n, splits[n % 4]] for n in range(len(pairs))]
    yield _table("mimic_cxr/mimic-cxr-2.0.0-split.csv", rows)


def _mimic3() -> Iterable[tuple[str, bytes]]:
    rows: list[list[object]] = []
    for pair, record in enumerate(PAIRS):
        modality, anatomy = record.split("_")
        name = f"{modality} {anatomy.replace('abdomen-pelvis', 'ABDOMEN').upper()} W/O CONTRAST"
        for texts in _summaries(12, 10 + pair):
            findings, impression = map(restricted, texts)
            text = f"FINAL REPORT\n FINDINGS: {findings}\n\n IMPRESSION: {impression}\n"
            n = len(rows) + 1
            rows.append([n, n, "", "2101-01-01", "Radiology", name, "", text])
    yield _table("mimic3/NOTEEVENTS.csv.gz", rows)


def _mimic3_procedure() -> Iterable[tuple[str, bytes]]:
    """Of procedures that are frequent enough for a split."""
    documents = _generated("procedures", 800)
    counts = Counter(record.label for record in documents)
    kept = [record for record in documents if counts[record.label] >= 10]
    rows = [[n, restricted(reveal(record.text)), record.label] for n, record in enumerate(kept, start=1)]
    yield _table("mimic3_procedure/annotated_dataset.csv", rows)


def _bilou(entities: Iterable[Entity], length: int) -> list[str]:
    """Return Stanza's tags; where entities overlap, the first."""
    tags = ["O"] * length
    for entity in entities:
        if set(tags[entity.start : entity.end]) == {"O"}:
            inner = entity.end - entity.start - 2
            letters = ["S"] if inner < 0 else ["B", *"I" * inner, "E"]
            tags[entity.start : entity.end] = [f"{letter}-{entity.label.upper()}" for letter in letters]
    return tags


def _stanza() -> Iterable[tuple[str, bytes]]:
    for split, records in _sentences("stanza_corpus", 60).items():
        rows = [
            {"id": n, "tokens": _words(record), "ner_tags": _bilou(record.entities, len(record.tokens))}
            for n, record in enumerate(records, start=1)
        ]
        yield f"stanza_radiology/{split}.json", json_bytes(rows)


def _rate_ner() -> Iterable[tuple[str, bytes]]:
    for seed, folder in enumerate(("MIMIC_IV", "Radiopaedia")):
        for split, records in _sentences("ner_corpus", 48, seed + 20).items():
            spans, tags = "", []
            for n, record in enumerate(records):
                words = _words(record)
                ner = [[[e.start, e.end - 1, e.label.upper()] for e in record.entities]]
                spans += (
                    json.dumps({"doc_key": f"{folder}-{split}-{n}", "sentences": [words], "ner": ner}) + "\n"
                )
                tags.append({"tokens": words, "ner_tags": iob_tags.encode(read_gold(record), len(words))})
            yield f"rate_ner/{folder}/{split}_span.json", spans.encode()
            yield f"rate_ner/{folder}/{split}_IOB.json", json_bytes(tags)
    labels = ["O", *(f"{prefix}-{kind.upper()}" for kind in RATE_TYPES for prefix in "BI")]
    yield "rate_ner/idx2label.json", json_bytes(dict(enumerate(labels)))


def _graph(record: AnnotatedSentence) -> dict[str, Any]:
    spans = [(entity.start, entity.end, entity.label) for entity in record.entities]
    links = [(relation.head, relation.tail, relation.label) for relation in record.relations]
    return make_annotation(_words(record), spans, links)["entities"]


def _radgraph() -> Iterable[tuple[str, bytes]]:
    for split, records in _sentences("graph_corpus", 48).items():
        content: dict[str, Any] = {}
        for n, record in enumerate(records):
            source, graph = ("MIMIC-CXR", "CheXpert")[n % 2], {"entities": _graph(record)}
            body = {"labeler_1": graph, "labeler_2": graph} if split == "test" else graph
            head = {"text": " ".join(_words(record)), "data_source": source, "data_split": split}
            content[f"p{n}/{split}.txt"] = head | body
        yield f"radgraph/{split}.json", json_bytes(content)


def _radsprl() -> Iterable[tuple[str, bytes]]:
    documents = ""
    for n, record in enumerate(_generated("spatial_corpus", 48)):
        words, tokens, relations, start = _words(record), "", "", 0
        for word in words:
            tokens += f'<Token cs="{start}" cl="{len(word)}"/>'
            start += len(word) + 1
        for head, entity in enumerate(record.entities):
            inner = ""
            for relation in record.relations:
                if relation.head == head:
                    tail, kind = record.entities[relation.tail], quoteattr(relation.label.upper())
                    span = f'ts="{tail.start}" tl="{tail.end - tail.start}"'
                    inner += f"<{relation.label} type={kind} {span}/>"
            span = f'ts="{entity.start}" tl="{entity.end - entity.start}"'
            relations += f"<RadSpRLRelation {span}>{inner}</RadSpRLRelation>" if inner else ""
        text = f"<Text>{escape(' '.join(words))}</Text>"
        documents += f'<Document id="CXR{n}">{text}<Annotations>{tokens}{relations}</Annotations></Document>'
    xml = f'<?xml version="1.0" encoding="UTF-8"?>\n<Collection>{documents}</Collection>\n'
    yield "radsprl/Rad-SpRL.xml", xml.encode()


def _rate_eval() -> Iterable[tuple[str, bytes]]:
    rng = random.Random(0)
    for seed, folder in enumerate(("Task1_sentence_rate", "Task2_paragraph_rate"), start=1):
        rows = [[*pair, round(rng.uniform(0, 5), 2)] for pair in _restricted_pairs(40, seed)]
        yield _table(f"rate_eval/{folder}/rate_train.csv", rows[::2])
        yield _table(f"rate_eval/{folder}/rate_test.csv", rows[1::2])


def _rexval() -> Iterable[tuple[str, bytes]]:
    rng = random.Random(0)
    pairs = _restricted_pairs(60)
    references = list(dict.fromkeys(reference for reference, _ in pairs))[:16]
    rows = [
        [100 + n, reference, *(pairs[(4 * n + k) % len(pairs)][1] for k in range(4))]
        for n, reference in enumerate(references)
    ]
    yield _table("rexval/50_samples_gt_and_candidates.csv", rows)
    origins = ("radgraph", "bertscore", "s_emb", "bleu")
    keys = product(range(len(rows)), origins, range(1, 7), range(6), (True, False))
    counts = [[*key, rng.choice((0, 1, 2, 3 + origins.index(key[1])))] for key in keys]
    yield _table(COUNTS, counts, rexval.COUNT_COLUMNS)


def radpref_files(number: int = 40) -> Iterable[tuple[str, bytes]]:
    """Return two candidates of each of so many references, with what three radiologists marked and how they
    graded."""
    rng = random.Random(0)
    candidates: dict[str, list[str]] = {}
    for reference, candidate in _pairs(400, 6):
        candidates.setdefault(reference, []).append(candidate)
    texts = [(reference, *some[:2]) for reference, some in candidates.items() if len(some) > 1]
    cases = []
    for n, three in enumerate(texts[:number]):
        case = {"id": f"case{n}", "C1_source": "gpt", "C2_source": "medgemma"}
        by_side = dict(zip(("ground_truth", "C1", "C2"), three, strict=True))
        case |= {f"{side}_report": text for side, text in by_side.items()}
        cases.append(case | {f"{side}_findings": text.split(". ") for side, text in by_side.items()})
    yield "radpref/preference_data.json", json_bytes(cases)

    def judged(case: dict[str, Any], candidate: str) -> dict[str, Any]:
        listed = range(len(case[f"{candidate}_findings"]))
        left_out = range(len(case["ground_truth_findings"]))
        false = {"error_type": "false", "clinical_significance": rng.choice(radpref.SIGNIFICANCES)}
        wrong = {"error_type": "attribute", "attributes": {"location": "significant"}}
        return {
            "finding_errors": {f"{n}": rng.choice((false, wrong)) for n in listed if rng.random() < 0.4},
            "missing_findings": {
                f"{n}": {"clinical_significance": rng.choice(radpref.SIGNIFICANCES)}
                for n in left_out
                if rng.random() < 0.3
            },
            "rating": rng.randint(1, 5),
        }

    for rater in (1, 2, 3):
        given = {case["id"]: {name: judged(case, name) for name in ("C1", "C2")} for case in cases}
        content = {"user_id": f"{rater}", "annotations": given}
        yield f"radpref/radiologist_annotations/user_{rater}.json", json_bytes(content)


def _green_training() -> Iterable[tuple[str, bytes]]:
    rows = []
    for n, record in enumerate(_generated("judged_pairs", 10)):
        prompt = "\n".join(map(restricted, reveal(record.prompt).split("\n")))
        turns = {"human": prompt, "gpt": _restricted_analysis(reveal(record.analysis))}
        conversation = [{"from": speaker, "value": text} for speaker, text in turns.items()]
        rows.append({"id": f"g{n}", "conversations": conversation})
    yield "green_training/train.json", json_bytes(rows)


def _primock57() -> Iterable[tuple[str, bytes]]:
    """Return two clinicians on notes of three systems; one is the clinician who held the consultation."""
    rng = random.Random(0)
    rows = []
    for case, (reference, candidate) in enumerate(_pairs(8, 4), start=1):
        for group, rater in product(("m1", "m2", "doctor"), "12"):
            wrong = [f"{rng.choice('!-')} {candidate.split('.')[0]}"] * rng.randint(0, 2)
            left = [f"{rng.choice('!-')} {reference.split('.')[0]}"] * rng.randint(0, 2)
            lists = ["\n".join(wrong), "\n".join(left)]
            row = [rater, f"day1_c{case:02d}", group, reference, candidate, rng.randint(20, 90)]
            rows.append([*row, *lists])
    yield _table("primock57/results.csv", rows)


def _mts_dialog() -> Iterable[tuple[str, bytes]]:
    """Return three systems, one after the other, on the same dialogues."""
    rng = random.Random(0)
    scores, rows = [], []
    for case, (reference, candidate) in list(enumerate(_pairs(12, 5))) * 3:
        wanted, made = rng.randint(2, 6), rng.randint(2, 6)
        common = rng.randint(0, min(wanted, made))
        precision, recall = common / made, common / wanted
        both = 2 * common / (wanted + made)
        rates = (precision, recall, both, rng.randint(0, made - common) / made, 1 - recall, 0.5)
        scores.append([f"{rate:.8f}" for rate in rates])
        rows.append([case, f"Doctor: Well? Patient: {reference}", reference, candidate])
    yield _table(f"mts_dialog/{mts_dialog.SCORES}", scores)
    yield _table(f"mts_dialog/{mts_dialog.SUMMARIES}", rows)


def _mtsamples() -> Iterable[tuple[str, bytes]]:
    rows = [
        [n, f" {reveal(record.summary)}", f" {record.group}", f" Sample {n} ", reveal(record.text), "chest,"]
        for n, record in enumerate(_generated("descriptions", 30))
    ]
    yield _table("mtsamples/mtsamples.csv", rows)


_FILES = (
    _openi, _mediqa, _mimic_cxr_rrs, _mimic3, _mimic3_procedure, _stanza, _rate_ner, _radgraph, _radsprl,
    _rate_eval, _rexval, radpref_files, _green_training, _primock57, _mts_dialog, _mtsamples,
)  # fmt: skip
