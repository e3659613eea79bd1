"""Files in the exact format of every data set that `full` names, filled with generated records.

The formats are those of :mod:`tests.data.samples`. The words are the generator's, so that trainings meet
entities, relations and labels; of no data set is any word here. Between the words of a restricted data set
stand made-up ones, which no page has, because the guard searches for its texts.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import pandas as pd

from radeval_lib.categories import RATE_TYPES
from radeval_lib.data import iob_tags, mts_dialog, primock57, radpref
from radeval_lib.data.mimic3_rrs import PAIRS
from radeval_lib.data.radgraph import annotation
from radeval_lib.data.readers import SPLITS
from radeval_lib.data.records import AnnotatedSentence, Entity
from radeval_lib.data.restricted import reveal
from radeval_lib.data.roles import load
from radeval_lib.models.ner.entities import gold_spans
from radeval_lib.rules import reader
from tests.data.samples import csv_bytes, json_bytes

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


def write(root: Path) -> None:
    """Every data set of `full`, and those that its pages look up by name."""
    for make in _FILES:
        for path, content in make():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(gzip.compress(content, mtime=0) if path.endswith(".gz") else content)


def _generated(role: str, size: int = SIZE, seed: int = 1) -> list[Any]:
    return load(role, "synthetic", size=size, seed=seed, root=None)


def _pairs(size: int, seed: int = 1) -> list[tuple[str, str]]:
    """Return references and candidates, no two alike."""
    pairs = [
        (reveal(record.reference), reveal(record.candidate))
        for record in _generated("text_pairs", size, seed)
    ]
    return list(dict.fromkeys(pairs))


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
    third = len(records) // 6
    return dict(
        zip(SPLITS, (records[: -2 * third], records[-2 * third : -third], records[-third:]), strict=True)
    )


def _words(sentence: AnnotatedSentence) -> list[str]:
    return [word for token in sentence.tokens for word in [reveal(token).replace(" ", "")]]


def _openi() -> Iterable[tuple[str, bytes]]:
    """With the reports whose sentences were labelled, long enough for the labels' places."""
    head = ["uid", "MeSH", "Problems", "image", "indication", "comparison", "findings", "impression"]
    labelled = [set(pd.read_csv(path)["report"]) for path in LABELS.glob("openi_*.csv")]
    pairs = _generated("summaries", 60, 2)
    rows = []
    for number, uid in enumerate(sorted({*range(1, 61)}.union(*labelled))):
        pair, times = pairs[number % 60], 1 if uid <= 60 else 6
        texts = [" ".join([reveal(text)] * times) for text in (pair.findings, pair.impression)]
        rows.append([uid, "normal", "normal", "Xray Chest PA and Lateral", "Cough", "None.", *texts])
    yield "openi/indiana_reports.csv", csv_bytes([head, *rows])


def _mediqa(records: Sequence[Any], first: int, turn: Callable[[str], str] = str) -> bytes:
    return json_bytes(
        [
            {
                "study_id": str(first + n),
                "subject_id": str(first + n),
                "findings": turn(reveal(pair.findings)),
                "impression": turn(reveal(pair.impression)),
                "background": "",
            }
            for n, pair in enumerate(records)
        ]
    )


def _mediqa2021() -> Iterable[tuple[str, bytes]]:
    yield "mediqa2021/indiana_dev.json", _mediqa(_generated("summaries", SIZE, 3), 1000)


def _mediqa2021_mimic_cxr() -> Iterable[tuple[str, bytes]]:
    yield "mediqa2021/train.json", _mediqa(_generated("summaries", 40, 4), 2000, restricted)
    yield "mediqa2021/dev.json", _mediqa(_generated("summaries", 12, 5), 3000, restricted)


def _mimic_cxr_rrs() -> Iterable[tuple[str, bytes]]:
    pairs = _generated("summaries", 40, 6)
    head = ["study", "impression", "findings", "last_paragraph", "comparison"]
    rows = [
        [f"s{50 + n}", *(restricted(reveal(text)) for text in (pair.impression, pair.findings)), "", ""]
        for n, pair in enumerate(pairs)
    ]
    yield "mimic_cxr/mimic_cxr_sectioned.csv", csv_bytes([head, *rows])
    splits = ["train" if n % 4 < 2 else "validate" if n % 4 == 2 else "test" for n in range(len(pairs))]
    rows = [[f"{n}-1", 50 + n, 10 + n, split] for n, split in enumerate(splits)]
    head = ["dicom_id", "study_id", "subject_id", "split"]
    yield "mimic_cxr/mimic-cxr-2.0.0-split.csv", csv_bytes([head, *rows])


def _mimic3() -> Iterable[tuple[str, bytes]]:
    head = ["ROW_ID", "SUBJECT_ID", "HADM_ID", "CHARTDATE", "CATEGORY", "DESCRIPTION", "ISERROR", "TEXT"]
    rows: list[list[object]] = []
    for pair, record in enumerate(PAIRS):
        modality, anatomy = record.split("_")
        name = f"{modality} {anatomy.replace('abdomen-pelvis', 'ABDOMEN').upper()} W/O CONTRAST"
        for report in _generated("summaries", 12, 10 + pair):
            n = len(rows) + 1
            findings, impression = (restricted(reveal(text)) for text in (report.findings, report.impression))
            text = f"FINAL REPORT\n FINDINGS: {findings}\n\n IMPRESSION: {impression}\n"
            rows.append([n, n, "", "2101-01-01", "Radiology", name, "", text])
    yield "mimic3/NOTEEVENTS.csv.gz", csv_bytes([head, *rows])


def _mimic3_procedure() -> Iterable[tuple[str, bytes]]:
    """Of procedures that are frequent enough for a split."""
    documents = _generated("procedures", 800)
    frequent = {
        label for label, count in Counter(record.label for record in documents).items() if count >= 10
    }
    kept = [record for record in documents if record.label in frequent]
    rows = [[n, restricted(reveal(record.text)), record.label] for n, record in enumerate(kept, start=1)]
    head = ["ROW_ID", "indication", "procedure_label"]
    yield "mimic3_procedure/annotated_dataset.csv", csv_bytes([head, *rows])


def _bilou(entities: Iterable[Entity], length: int) -> list[str]:
    """Return Stanza's tags; where entities overlap, the first."""
    tags = ["O"] * length
    for record in entities:
        if set(tags[record.start : record.end]) != {"O"}:
            continue
        if record.end - record.start == 1:
            tags[record.start] = f"S-{record.label.upper()}"
        else:
            tags[record.start] = f"B-{record.label.upper()}"
            tags[record.start + 1 : record.end - 1] = [f"I-{record.label.upper()}"] * (
                record.end - record.start - 2
            )
            tags[record.end - 1] = f"E-{record.label.upper()}"
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
            lines = [
                json.dumps(
                    {
                        "doc_key": f"{folder}-{split}-{n}",
                        "sentences": [_words(record)],
                        "ner": [[[e.start, e.end - 1, e.label.upper()] for e in record.entities]],
                    }
                )
                for n, record in enumerate(records)
            ]
            yield f"rate_ner/{folder}/{split}_span.json", ("\n".join(lines) + "\n").encode()
            yield (
                f"rate_ner/{folder}/{split}_IOB.json",
                json_bytes(
                    [
                        {
                            "tokens": _words(record),
                            "ner_tags": iob_tags.encode(gold_spans(record), len(record.tokens)),
                        }
                        for record in records
                    ]
                ),
            )
    labels = ["O", *(f"{prefix}-{kind.upper()}" for kind in RATE_TYPES for prefix in "BI")]
    yield "rate_ner/idx2label.json", json_bytes(dict(enumerate(labels)))


def _graph(record: AnnotatedSentence) -> dict[str, Any]:
    spans = [(entity.start, entity.end, entity.label) for entity in record.entities]
    links = [(relation.head, relation.tail, relation.label) for relation in record.relations]
    return annotation(_words(record), spans, links)["entities"]


def _radgraph() -> Iterable[tuple[str, bytes]]:
    for split, records in _sentences("graph_corpus", 48).items():
        content: dict[str, Any] = {}
        for n, record in enumerate(records):
            head = {
                "text": " ".join(_words(record)),
                "data_source": ("MIMIC-CXR", "CheXpert")[n % 2],
                "data_split": split,
            }
            if split == "test":
                body = {f"labeler_{k}": {"entities": _graph(record)} for k in (1, 2)}
            else:
                body = {"entities": _graph(record)}
            content[f"p{n}/{split}.txt"] = head | body
        yield f"radgraph/{split}.json", json_bytes(content)


def _radsprl() -> Iterable[tuple[str, bytes]]:
    documents = []
    for n, record in enumerate(_generated("spatial_corpus", 48)):
        words, places, at = _words(record), [], 0
        for word in words:
            places.append((at, len(word)))
            at += len(word) + 1
        tokens = "".join(f'<Token cs="{start}" cl="{length}"/>' for start, length in places)
        relations = []
        for head, entity in enumerate(record.entities):
            roles = [r for r in record.relations if r.head == head]
            if not roles:
                continue
            inner = "".join(
                f'<{r.label} type={quoteattr(r.label.upper())} ts="{record.entities[r.tail].start}" '
                f'tl="{record.entities[r.tail].end - record.entities[r.tail].start}"/>'
                for r in roles
            )
            span = f'ts="{entity.start}" tl="{entity.end - entity.start}"'
            relations.append(f"<RadSpRLRelation {span}>{inner}</RadSpRLRelation>")
        documents.append(
            f'<Document id="CXR{n}"><Text>{escape(" ".join(words))}</Text><Annotations>{tokens}'
            f"{''.join(relations)}</Annotations></Document>"
        )
    yield (
        "radsprl/Rad-SpRL.xml",
        f'<?xml version="1.0" encoding="UTF-8"?>\n<Collection>{"".join(documents)}</Collection>\n'.encode(),
    )


def _rate_eval() -> Iterable[tuple[str, bytes]]:
    rng = random.Random(0)
    head = ["gt_report", "similar_report", "Score"]
    for seed, folder in enumerate(("Task1_sentence_rate", "Task2_paragraph_rate"), start=1):
        rows = [[*pair, round(rng.uniform(0, 5), 2)] for pair in _restricted_pairs(40, seed)]
        yield f"rate_eval/{folder}/rate_train.csv", csv_bytes([head, *rows[::2]])
        yield f"rate_eval/{folder}/rate_test.csv", csv_bytes([head, *rows[1::2]])
    triads = {
        reference: {
            "gt_report": reference,
            "synonymous_report": f"Seen: {reference}",
            "opposite_report": candidate,
        }
        for reference, candidate in _restricted_pairs(40, 3)
    }
    yield "rate_eval/Task3_synthetic_rate/triads.json", json_bytes(list(triads.values()))


def _rexval() -> Iterable[tuple[str, bytes]]:
    rng = random.Random(0)
    pairs = _restricted_pairs(60)
    origins = ("radgraph", "bertscore", "s_emb", "bleu")
    references = list(dict.fromkeys(reference for reference, _ in pairs))[:16]
    rows = [
        [100 + n, reference, *(pairs[(4 * n + k) % len(pairs)][1] for k in range(4))]
        for n, reference in enumerate(references)
    ]
    yield "rexval/50_samples_gt_and_candidates.csv", csv_bytes([["study_id", "gt_report", *origins], *rows])
    head = ["study_number", "candidate_type", "error_category"]
    head += ["rater_index", "clinically_significant", "num_errors"]
    keys = product(range(len(rows)), origins, range(1, 7), range(6), (True, False))
    counts = [[*key, rng.choice((0, 1, 2, 3 + origins.index(key[1])))] for key in keys]
    yield "rexval/6_valid_raters_per_rater_error_categories.csv", csv_bytes([head, *counts])


def radpref_files(number: int = 40) -> Iterable[tuple[str, bytes]]:
    """Return two candidates of each of so many references, with what three radiologists marked and how they
    graded."""
    rng = random.Random(0)
    candidates: dict[str, list[str]] = {}
    for reference, candidate in _pairs(400, 6):
        candidates.setdefault(reference, []).append(candidate)
    texts = [(reference, *some[:2]) for reference, some in candidates.items() if len(some) > 1]
    sides = ("ground_truth", "C1", "C2")
    cases = [
        {"id": f"case{n}", "C1_source": "gpt", "C2_source": "medgemma"}
        | {f"{side}_report": text for side, text in zip(sides, three, strict=True)}
        | {f"{side}_findings": text.split(". ") for side, text in zip(sides, three, strict=True)}
        for n, three in enumerate(texts[:number])
    ]
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
    rows = [
        {
            "id": f"g{n}",
            "conversations": [
                {"from": "human", "value": "\n".join(map(restricted, reveal(record.prompt).split("\n")))},
                {"from": "gpt", "value": _restricted_analysis(reveal(record.analysis))},
            ],
        }
        for n, record in enumerate(_generated("judged_pairs", 10))
    ]
    yield "green_training/train.json", json_bytes(rows)


def _primock57() -> Iterable[tuple[str, bytes]]:
    """Return two clinicians on notes of three systems; one is the clinician who held the consultation."""
    rng = random.Random(0)
    rows = []
    for case, (reference, candidate) in enumerate(_pairs(8, 4), start=1):
        for group in ("m1", "m2", "doctor"):
            for rater in ("1", "2"):
                wrong = [f"{rng.choice('!-')} {candidate.split('.')[0]}"] * rng.randint(0, 2)
                left = [f"{rng.choice('!-')} {reference.split('.')[0]}"] * rng.randint(0, 2)
                lists = ["\n".join(wrong), "\n".join(left)]
                texts = [reference, candidate, candidate]
                rows.append([rater, f"day1_c{case:02d}", group, *texts, rng.randint(20, 90), *lists, ""])
    yield "primock57/results.csv", csv_bytes([list(primock57.COLUMNS), *rows])


def _mts_dialog() -> Iterable[tuple[str, bytes]]:
    """Return three systems, one after the other, on the same dialogues."""
    rng = random.Random(0)
    scores, rows = [], []
    for _ in range(3):
        for case, (reference, candidate) in enumerate(_pairs(12, 5)):
            wanted, made = rng.randint(2, 6), rng.randint(2, 6)
            common = rng.randint(0, min(wanted, made))
            precision, recall = common / made, common / wanted
            both = 2 * common / (wanted + made)
            rates = (precision, recall, both, rng.randint(0, made - common) / made, 1 - recall, 0.5)
            scores.append([f"{rate:.8f}" for rate in rates])
            rows.append([case, f"Doctor: Well? Patient: {reference}", reference, candidate])
    head = [
        "FactualPrecision", "FactualRecall", "FactualF1", "HallucinationRate", "OmissionRate",
        "Edit Distance (Correction)",
    ]  # fmt: skip
    yield f"mts_dialog/{mts_dialog.SCORES}", csv_bytes([head, *scores])
    head = ["ID", "Dialogue", "Reference Summary", "Automatic Summary"]
    yield f"mts_dialog/{mts_dialog.SUMMARIES}", csv_bytes([head, *rows])


def _mtsamples() -> Iterable[tuple[str, bytes]]:
    head = ["", "description", "medical_specialty", "sample_name", "transcription", "keywords"]
    rows = [
        [n, f" {reveal(record.summary)}", f" {record.group}", f" Sample {n} ", reveal(record.text), "chest,"]
        for n, record in enumerate(_generated("descriptions", 30))
    ]
    yield "mtsamples/mtsamples.csv", csv_bytes([head, *rows])


_FILES = (
    _openi,
    _mediqa2021,
    _mediqa2021_mimic_cxr,
    _mimic_cxr_rrs,
    _mimic3,
    _mimic3_procedure,
    _stanza,
    _rate_ner,
    _radgraph,
    _radsprl,
    _rate_eval,
    _rexval,
    radpref_files,
    _green_training,
    _primock57,
    _mts_dialog,
    _mtsamples,
)
