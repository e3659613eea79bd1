"""What the profile `full` needs, made small: files of the data sets' exact formats, models of the hub's exact
layouts with random weights, and a copy of the repository that trains each for an epoch."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Callable, Iterator
from html import escape
from itertools import count
from pathlib import Path
from typing import Any

import yaml

from radeval_lib.data import generated
from radeval_lib.data import mimic3_rrs as rrs
from radeval_lib.data.generated import iob, radgraph_json
from radeval_lib.jobs.rales import plan as rales
from radeval_lib.jobs.summarization import plan as summarization
from radeval_lib.models import catalog
from radeval_lib.models.names import is_packaged
from radeval_lib.paths import ROOT
from radeval_lib.rules.generator import generate
from radeval_lib.rules.generator.records import SyntheticReport, sentence_tokens
from radeval_lib.study import cells, profiles
from radeval_lib.study.cells import Cell
from tests.data.samples import NOTES, csv_bytes, json_bytes, lines_bytes
from tests.models.test_layouts import DEBERTA, LAYOUTS, random_model, saved

SIZES = {"train": 16, "dev": 6, "test": 6}
LAYOUT_OF = {  # where it is not the first of its family
    "blaze999/Medical-NER": "deberta-v2 tagger",
    **dict.fromkeys(
        (
            "ncbi/MedCPT-Query-Encoder",
            "cambridgeltl/SapBERT-from-PubMedBERT-fulltext",
            "microsoft/BiomedNLP-BiomedBERT-base-uncased-abstract",
        ),
        "bare bert",
    ),
}
_SMALL = {"encoder_attention_heads": 2, "decoder_attention_heads": 2, "d_model": 16, "pad_token_id": 0}
_SMALL |= {"encoder_layers": 1, "decoder_layers": 1, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32}
BEYOND: dict[str, tuple[str, dict[str, Any]]] = {
    "bart": ("BartForConditionalGeneration", _SMALL),
    "t5": (
        "T5ForConditionalGeneration",
        {"d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 1, "num_heads": 2},
    ),
    "deberta-v2 tagger": ("DebertaV2ForTokenClassification", DEBERTA),
}  # fmt: skip
# An epoch and a draw of each; with nobody's package `radgraph`, the study's own graph model fills its role.
ONE = {"epochs": 1}
LESS: dict[str, Any] = {
    "extends": "papers",
    "description": "The profile full, each training for an epoch.",
    "threads": 2,
    "models": {"graph_model": "cell:summarization/graph_training"},
    "experiments": {
        "ratescore": {"training_seeds": 1, "training": {"iob": ONE, "span": ONE}},
        "radgraph": {"training_seeds": 1, "training": ONE},
        "rales": {
            "draws": dict.fromkeys(("all", "tenth", "hundredth", "probe"), 1),
            "pretraining": {"reports": 20},
        },
        "summarization": {"seeds": 1},
    },
}


def _reports(seed: int, **settings: Any) -> dict[str, list[SyntheticReport]]:
    return {
        part: list(generate(size, 10 * seed + number, min_findings=2, **settings))
        for number, (part, size) in enumerate(SIZES.items())
    }


def _spatial() -> Iterator[str]:
    """Documents of Rad-SpRL.xml."""
    for record in generated.spatial_corpus(30, 3):
        words, relations = [str(token) for token in record.tokens], {}
        for one in record.relations:
            relations.setdefault(one.head, []).append(one.tail)
        places, at = [], 0
        for word in words:
            places.append(f'<Token cs="{at}" cl="{len(word)}"/>')
            at += len(word) + 1
        span: Callable[[int], str] = lambda n, r=record: (  # noqa: E731
            f'ts="{r.entities[n].start}" tl="{r.entities[n].end - r.entities[n].start}"'
        )
        found = [
            f"<RadSpRLRelation {span(head)}>"
            + "".join(f"<{record.entities[tail].label} {span(tail)}/>" for tail in tails)
            + "</RadSpRLRelation>"
            for head, tails in relations.items()
        ]
        sentence = f'<Sentence ts="0" tl="{len(words)}"/>'
        yield f'<Document id="{record.id}"><Text>{escape(" ".join(words), quote=False)}</Text><Annotations>'
        yield "".join([*places, sentence, *found]) + "</Annotations></Document>"


def _spans(report: SyntheticReport) -> dict[str, Any]:
    """Return a document as RaTE-NER's span files have it."""
    sentences, ner, offset = [], [], 0
    for tokens, entities in sentence_tokens(report.findings):
        sentences.append(tokens)
        ner.append([[first + offset, last + offset, label.upper()] for first, last, label in entities])
        offset += len(tokens)
    return {"doc_key": report.report_id, "sentences": sentences, "ner": ner}


def files() -> dict[str, bytes]:
    """Return every file that the cells of `full` read, by its path below a data root."""
    made: dict[str, bytes] = {}
    for seed, (folder, style) in enumerate({"MIMIC_IV": "hospital", "Radiopaedia": "encyclopaedic"}.items()):
        for part, rows in _reports(seed, style=style).items():
            documents = [_spans(one) for one in rows]
            made[f"rate_ner/{folder}/{part}_span.json"] = lines_bytes(documents)
    for part, rows in _reports(2).items():
        graphs: dict[str, Any] = {}
        for number, one in enumerate(rows):
            graph = radgraph_json(one.findings) | {"data_source": ("MIMIC-CXR", "CheXpert")[number % 2]}
            if part == "test":
                twice = {"entities": graph.pop("entities")}
                graph |= {"labeler_1": twice, "labeler_2": twice}
            graphs[f"{one.report_id}.txt"] = graph if part == "test" else graph | {"data_source": "MIMIC-CXR"}
        made[f"radgraph/{part}.json"] = json_bytes(graphs)
        tagged = [pair for one in rows for pair in iob(one.findings)]
        made[f"stanza_radiology/{part}.json"] = json_bytes(
            [{"id": number, "tokens": words, "ner_tags": tags} for number, (words, tags) in enumerate(tagged)]
        )
    made["radsprl/Rad-SpRL.xml"] = f"<Collection>{''.join(_spatial())}</Collection>".encode()
    reasons = [(one.indication, one.procedure) for one in generate(80, 4, modality_anatomy=("CT", "HEAD"))]
    made["mimic3_procedure/annotated_dataset.csv"] = csv_bytes(
        [["ROW_ID", "indication", "procedure_label"]]
        + [[str(number), *reason] for number, reason in enumerate(reasons) if all(reason)]
    )
    chests = _reports(5, modality_anatomy=("X-Ray", "CHEST"))
    sections, splits = [["study", "impression", "findings"]], [["study_id", "subject_id", "split"]]
    for (part, rows), file in zip(chests.items(), ("train", "dev", "indiana_dev"), strict=True):
        made[f"mediqa2021/{file}.json"] = json_bytes(
            [
                {
                    "study_id": one.report_id, "subject_id": one.report_id, "background": one.indication,
                    "findings": one.findings.text, "impression": one.impression.text,
                }
                for one in rows
            ]
        )  # fmt: skip
        for one in rows:
            sections.append([f"s{len(sections)}", one.impression.text, one.findings.text])
            splits.append([str(len(splits)), str(len(splits)), "validate" if part == "dev" else part])
    made["mimic_cxr/mimic_cxr_sectioned.csv"] = csv_bytes(sections)
    made["mimic_cxr/mimic-cxr-2.0.0-split.csv"] = csv_bytes(splits)
    made["mimic3/NOTEEVENTS.csv.gz"] = gzip.compress(csv_bytes([NOTES[0], *_notes()]), mtime=0)
    return made


def _notes() -> Iterator[list[str]]:
    """Yield rows of NOTEEVENTS.csv."""
    number = count(1)
    for pair in rrs.PAIRS:
        modality, _, anatomy = pair.partition("_")
        known = ({"MR": "MRI"}.get(modality, modality), anatomy.upper())
        for one in generate(20 if pair in rrs.TRAINED else 2, 6, modality_anatomy=known, min_findings=1):
            row = str(next(number))
            title = f"{modality} {anatomy.partition('-')[0].upper()} W/O CONTRAST"
            text = f"FINAL REPORT\n FINDINGS: {one.findings.text}\n\n IMPRESSION: {one.impression.text}\n"
            yield [row, row, "", "2101-01-01", "Radiology", title, "", text]


def hub_names(profile: profiles.Profile) -> list[str]:
    """Return every model of the hub that a cell of the profile may start from."""
    experiments = profile.experiments
    starts = [name for names in experiments["ratescore"]["initial_models"].values() for name in names]
    starts += [*experiments["radgraph"]["initial_models"], *rales.settings(profile).encoders]
    own = summarization.settings(profile)
    starts += [system.start for systems in (own.systems, own.rales_systems) for system in systems.values()]
    starts.append(profile.models["encoder"])
    return sorted({name for name in starts if "/" in name and not is_packaged(name)})


def write_models(cache: Path, names: list[str]) -> None:
    """A cache of the hub with a small random model of the right layout under each name."""
    for name in names:
        revision = catalog.revision_of(name) or "main"
        commit = revision if len(revision) == 40 else "0" * 40
        repository = cache / f"models--{name.replace('/', '--')}"
        folder = repository / "snapshots" / commit
        folder.mkdir(parents=True)
        (repository / "refs" / revision).parent.mkdir(parents=True)
        (repository / "refs" / revision).write_text(commit)
        layout = LAYOUT_OF.get(name) or family(name)
        if layout in BEYOND:
            kind, settings = BEYOND[layout]
            saved(random_model(kind, **settings), folder)
        else:
            LAYOUTS[layout](folder)


def family(name: str) -> str:
    """Return the architecture of a hub model, by its manifest."""
    return next(card.family for card in catalog.cards() if card.hub == name)


def write_repository(target: Path) -> None:
    """A copy of the repository, in which `full` is :data:`LESS`."""
    for folder in ("radeval_lib", "data_manifests", "workflow", "notebooks", "book"):
        shutil.copytree(ROOT / folder, target / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("Snakefile", "_config.yml", "CITATION.cff"):
        shutil.copy(ROOT / name, target / name)
    full = target / "data_manifests" / "profiles" / "full.yml"
    full.rename(full.with_name("papers.yml"))
    full.write_text(yaml.safe_dump(less(profiles.profile("full"))), encoding="utf-8")
    indiana = target / "data_manifests" / "datasets" / "mediqa2021.yml"  # of which every byte is known
    known = yaml.safe_load(indiana.read_text(encoding="utf-8"))
    known["files"] = [{"path": "mediqa2021/indiana_dev.json", "sha256": "recorded on first verified fetch"}]
    indiana.write_text(yaml.safe_dump(known), encoding="utf-8")


def less(profile: profiles.Profile) -> dict[str, Any]:
    """Return :data:`LESS`, with one trial and one epoch for each search and system that the profile has."""
    own = {**LESS, "experiments": {key: dict(value) for key, value in LESS["experiments"].items()}}
    found = profile.experiments
    own["experiments"]["rales"] |= {
        "trials": dict.fromkeys(found["rales"]["trials"], 1),
        "defaults": {name: ONE for name in found["rales"]["defaults"] if "/" not in name},
        "space": {
            name: {"epochs": {"low": 1, "high": 1, "whole": True}}
            for name, space in found["rales"]["space"].items()
            if "epochs" in space
        },
    }
    for group in ("systems", "rales_systems"):
        own["experiments"]["summarization"][group] = {
            name: {"training": ONE}
            for name, one in found["summarization"][group].items()
            if "training" in one
        }
    return own


def kind(cell: Cell, profile: profiles.Profile) -> tuple[str, ...]:
    """Return what decides which code a cell runs: the notebook, and the task and regime or the sort of
    system."""
    given = {name: str(value) for name, value in cell.items}
    if "system" in given:
        one = summarization.chosen_systems(profile, given["system"], rales="train_set" not in given)[
            given["system"]
        ]
        return cell.notebook, one.kind, family(one.start) if one.start else ""
    return cell.notebook, given.get("scheme", ""), given.get("task", ""), given.get("regime", "")


def one_of_each_kind(profile: profiles.Profile) -> list[Cell]:
    """Return a cell of each kind, the next of its kind each time, so that each encoder of RaLEs gets its
    turn."""
    groups: dict[tuple[str, ...], list[Cell]] = {}
    for cell in cells.planned(profile):
        groups.setdefault(kind(cell, profile), []).append(cell)
    return [group[number % len(group)] for number, group in enumerate(groups.values())]
