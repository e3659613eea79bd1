"""Spoiled models: folders of every kind that is loaded, with weights taken out, renamed, added, flattened or
swapped.

A try holds if the model is refused with one line and computes nothing: with status 2 and no output where a
command scores with it. Of a folder as it was saved, two processes must make the same.
"""

from __future__ import annotations

import json
import pickle
import re
import shutil
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import torch
from click.testing import CliRunner
from safetensors.torch import load_file, save_file

from radeval_lib.cli import main
from radeval_lib.errors import ModelError
from radeval_lib.models.encoders import Encoder
from radeval_lib.models.graph.extraction import open_extractor
from radeval_lib.models.graph.model import GraphModel
from radeval_lib.models.graph.network import GraphSettings
from radeval_lib.models.judges.opening import open_judge
from radeval_lib.models.judges.tuning import JudgeTuning, small_model
from radeval_lib.models.ner.span_scheme import SpanScheme, SpanSettings
from radeval_lib.models.ner.training import open_ner_model
from radeval_lib.models.pretrained import pretrained, weights
from radeval_lib.models.saving import save_checkpoint
from radeval_lib.models.summarizers.seq2seq import Seq2SeqSummarizer, encoder_decoder
from radeval_lib.models.uses import ENCODER
from radeval_lib.paths import ROOT
from tests.models.summarizers.test_seq2seq import bart, t5, tokenizer

LONGEST = 300
TINY = ROOT / "tests" / "reference" / "ratescore" / "tiny_ner"
TEXT = "There is a small left pleural effusion. The heart is enlarged. No pneumothorax."
OTHER = "No pleural effusion. The heart is normal."
Weights = dict[str, torch.Tensor]


# --- the kinds ---


@dataclass(frozen=True)
class Kind:
    """A kind of model.

    Attributes
    ----------
    name : what it is.
    make : saves a good one into a folder that exists.
    use : loads it and says what it makes of texts.
    command : settings of a metric that scores with it, as ``radbook score --set`` takes them; the folder's
        name is ``model``.
    """

    name: str
    make: Callable[[Path], object]
    use: Callable[[Path], Any]
    command: tuple[str, ...] = ()


def _encoder(folder: Path) -> None:
    from transformers import AutoModel, AutoTokenizer

    weights(AutoModel, TINY, ENCODER).save_pretrained(folder)
    pretrained(AutoTokenizer, TINY).save_pretrained(folder)


def _with_pooler(folder: Path) -> None:
    from transformers import BertConfig, BertModel

    torch.manual_seed(0)
    _encoder(folder)
    BertModel(BertConfig.from_pretrained(folder)).save_pretrained(folder)


def _judge(folder: Path) -> None:
    torch.manual_seed(0)
    JudgeTuning(*small_model([TEXT, OTHER] * 9, vocabulary=600, width=32, layers=1)).save(folder)


def _graph(folder: Path) -> None:
    GraphModel(TINY, GraphSettings(("A", "B"), ("r",), hidden=16, width_size=8)).save(folder)


def _summary(folder: Path) -> Any:
    return Seq2SeqSummarizer.load(folder, device="cpu").summarize([TEXT, OTHER])


KINDS = (
    Kind(
        "an encoder",
        _with_pooler,
        lambda folder: Encoder(folder, device="cpu").encode([TEXT]).tolist(),
        ("bertscore", "bertscore.layer=1", "bertscore.encoder=model"),
    ),
    Kind(
        "RaTEScore's encoder",
        _encoder,
        lambda folder: Encoder(folder, device="cpu").encode([TEXT]).tolist(),
        ("ratescore", f"ratescore.ner_model={TINY}", "ratescore.encoder=model"),
    ),
    Kind(
        "a tagger",
        lambda folder: shutil.copytree(TINY, folder, dirs_exist_ok=True),
        lambda folder: open_ner_model(folder, decoding="released", device="cpu").tag([TEXT]),
        ("ratescore", f"ratescore.encoder={TINY}", "ratescore.ner_model=model"),
    ),
    Kind(
        "a tagger of spans",
        lambda folder: SpanScheme(TINY, SpanSettings(hidden=16, width_size=8)).save(folder),
        lambda folder: open_ner_model(folder, decoding="released", device="cpu").tag([TEXT]),
        ("ratescore", f"ratescore.encoder={TINY}", "ratescore.ner_model=model"),
    ),
    Kind(
        "a graph model",
        _graph,
        lambda folder: open_extractor(folder, device="cpu").annotate([TEXT]),
        ("f1_radgraph", "f1_radgraph.graph_model=model"),
    ),
    Kind(
        "a judge",
        _judge,
        lambda folder: open_judge(str(folder), device="cpu").judge([(TEXT, OTHER)]),
        ("green", "green.judge=model"),
    ),
    Kind("T5", lambda folder: save_checkpoint(folder, t5(), tokenizer()), _summary),
    Kind("BART", lambda folder: save_checkpoint(folder, bart(), tokenizer()), _summary),
    Kind(
        "an encoder-decoder",
        lambda folder: save_checkpoint(folder, *encoder_decoder(TINY, layers=1)),
        _summary,
    ),
)


# --- what is done to them ---


def _matrices(held: Weights) -> list[str]:
    """Names of what is multiplied with."""
    return [name for name, value in held.items() if value.ndim > 1 and min(value.shape) > 1]


def _changed(file: Path, change: Callable[[Weights, Random], Weights], rng: Random) -> None:
    save_file(change(load_file(file), rng), file, metadata={"format": "pt"})


def half(held: Weights, rng: Random) -> Weights:
    return {name: held[name] for name in rng.sample(sorted(held), len(held) // 2)}


def one_missing(held: Weights, rng: Random) -> Weights:
    gone = rng.choice([name for name in sorted(held) if "final_logits_bias" not in name])  # always zero
    return {name: value for name, value in held.items() if name != gone}


def renamed(held: Weights, rng: Random) -> Weights:
    return {f"old_{name}": value for name, value in held.items()}


def one_renamed(held: Weights, rng: Random) -> Weights:
    gone = rng.choice(sorted(_matrices(held)))
    return {f"{name}_" if name == gone else name: value for name, value in held.items()}


def foreign(held: Weights, rng: Random) -> Weights:
    return {**held, "foreign.weight": torch.randn(4, 4)}


def zeros(held: Weights, rng: Random) -> Weights:
    return {name: torch.zeros_like(value) for name, value in held.items()}


def constant(held: Weights, rng: Random) -> Weights:
    name = rng.choice(sorted(_matrices(held)))
    return {**held, name: torch.full_like(held[name], rng.choice((0.0, 1.0, -0.02)))}


def not_finite(held: Weights, rng: Random) -> Weights:
    name = rng.choice(sorted(held))
    value = held[name].clone()
    value.view(-1)[rng.randrange(value.numel())] = rng.choice((float("nan"), float("inf"), -float("inf")))
    return {**held, name: value}


def another_shape(held: Weights, rng: Random) -> Weights:
    name = rng.choice(sorted(_matrices(held)))
    return {**held, name: torch.cat([held[name], held[name]])}


CHANGES: dict[str, Callable[[Weights, Random], Weights]] = {
    "half of its weights missing": half,
    "one weight missing": one_missing,
    "all weights renamed": renamed,
    "one weight renamed": one_renamed,
    "a foreign weight": foreign,
    "all weights zero": zeros,
    "a constant matrix": constant,
    "a number that is not finite": not_finite,
    "a weight of another shape": another_shape,
}


def truncated(folder: Path, file: Path, rng: Random) -> bool:
    file.write_bytes(file.read_bytes()[: rng.randrange(file.stat().st_size)])
    return True


def pickled(folder: Path, file: Path, rng: Random) -> bool:
    held = {name: value.tolist() for name, value in load_file(file).items()}
    file.write_bytes(pickle.dumps(held))
    return True


def only_pickled(folder: Path, file: Path, rng: Random) -> bool:
    torch.save(load_file(file), folder / "pytorch_model.bin")
    file.unlink()
    return True


def shard_lacks(folder: Path, file: Path, rng: Random) -> bool:
    """Two shards, of which one lacks a weight that the index names."""
    if file.name != "model.safetensors":
        return False
    held = load_file(file)
    names = sorted(held)
    shards = {"a.safetensors": names[::2], "b.safetensors": names[1::2]}
    lacking = rng.choice(names)
    for shard, own in shards.items():
        save_file({name: held[name] for name in own if name != lacking}, folder / shard, {"format": "pt"})
    place = {name: shard for shard, own in shards.items() for name in own}
    file.with_name("model.safetensors.index.json").write_text(
        json.dumps({"metadata": {}, "weight_map": place})
    )
    file.unlink()
    return True


def another_size(folder: Path, file: Path, rng: Random) -> bool:
    """Settings of a model twice as wide."""
    path = folder / "config.json"
    said = path.read_text()
    path.write_text(re.sub(r'"(hidden_size|d_model)": (\d+)', r'"\1": \g<2>0', said))
    return path.read_text() != said


def another_architecture(folder: Path, file: Path, rng: Random) -> bool:
    of_t5 = any("SelfAttention" in name for name in load_file(file))
    other = (bart() if of_t5 else t5()).state_dict()
    save_file({name: value.clone() for name, value in other.items()}, file, metadata={"format": "pt"})
    return True


def another_tokenizer(folder: Path, file: Path, rng: Random) -> bool:
    path = folder / "tokenizer.json"
    if not path.is_file():
        return False
    few = len(json.loads(path.read_text())["model"]["vocab"]) < 100
    if few:
        shutil.copy(TINY / "tokenizer.json", path)
    else:
        tokenizer().backend_tokenizer.save(str(path))
    return True


def damaged_tokenizer(folder: Path, file: Path, rng: Random) -> bool:
    path = folder / "tokenizer.json"
    if path.is_file():
        path.write_bytes(path.read_bytes()[: rng.randrange(path.stat().st_size)])
    return path.is_file()


def adapter(folder: Path, file: Path, rng: Random) -> bool:
    """An adapter that transformers would put on the model."""
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModel

    if not (folder / "config.json").is_file() or '"BertModel"' not in (folder / "config.json").read_text():
        return False
    settings = LoraConfig(r=4, target_modules=["query", "value"], init_lora_weights=False)
    get_peft_model(AutoModel.from_pretrained(folder), settings).save_pretrained(folder)
    return True


FILES: dict[str, Callable[[Path, Path, Random], bool]] = {
    "a truncated file": truncated,
    "pickled weights under the name of others": pickled,
    "pickled weights alone": only_pickled,
    "a shard that lacks a weight": shard_lacks,
    "settings of another size": another_size,
    "weights of another architecture": another_architecture,
    "another model's tokenizer": another_tokenizer,
    "a damaged tokenizer": damaged_tokenizer,
    "an adapter beside the weights": adapter,
}
"""What is done to files, and whether a folder has what it is done to."""


# --- tries ---


def fault(kind: Kind, folder: Path) -> str:
    """What is wrong with how a spoiled model is refused; empty if nothing."""
    try:
        kind.use(folder)
    except ModelError as error:
        message = str(error)
    except Exception:
        return traceback.format_exc(limit=-3)
    else:
        return "it was used"
    if len(message) > LONGEST or not message.isprintable():
        return f"message of {len(message)} characters: {message!r:.200}"
    return _scored(kind, folder.parent) if kind.command else ""


def _scored(kind: Kind, folder: Path) -> str:
    (folder / "pairs.csv").write_text(f"reference,candidate\n{TEXT},{OTHER}\n", encoding="utf-8")
    metric, *settings = kind.command
    given = [part for setting in settings for part in ("--set", setting)]
    with chdir(folder):
        command = ["score", "--metric", metric, *given, "--input", "pairs.csv", "--output", "scores.csv"]
        done = CliRunner().invoke(main, command)
    last = done.stderr.strip().splitlines()[-1:]
    if done.exit_code != 2 or done.stdout.strip() or (folder / "scores.csv").exists():
        return f"status {done.exit_code}: {done.output!r:.200}"
    if not last or not last[0].isprintable():
        return f"message: {last!r:.200}"
    return ""


def _spoiled(good: Path, folder: Path, spoil: Callable[[Path, Path, Random], bool], rng: Random) -> bool:
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(good, folder)
    return spoil(folder, rng.choice(sorted(folder.glob("*.safetensors"))), rng)


def _all_used(folder: Path) -> dict[str, str]:
    """What two processes must agree on: each kind's use of its good folder below ``folder``."""
    code = (
        "import json, sys; from pathlib import Path; from tests.robustness.spoiled_models import KINDS\n"
        "made = {kind.name: repr(kind.use(Path(sys.argv[1]) / kind.name)) for kind in KINDS}\n"
        "print(json.dumps(made))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return dict(json.loads(done.stdout.splitlines()[-1])) if done.returncode == 0 else {}


def tries(folder: Path, each: int = 3, seed: int = 0) -> Iterator[tuple[str, str]]:
    """(what was done, what was wrong) of ``each`` spoiled folders of every kind of model and damage, and of
    every kind left as it is."""
    good = folder / "good"
    for kind in KINDS:
        (good / kind.name).mkdir(parents=True)
        kind.make(good / kind.name)
    first, second = _all_used(good), _all_used(good)
    for kind in KINDS:
        same = kind.name in first and first[kind.name] == second.get(kind.name)
        yield "whole model", "" if same else f"{kind.name}: two processes differ, or it is refused"
    changes = {
        name: lambda folder, file, rng, change=change: _changed(file, change, rng) is None
        for name, change in CHANGES.items()
    }
    for name, spoil in {**changes, **FILES}.items():
        for kind in KINDS:
            rng = Random(f"{seed} {name} {kind.name}")
            for _ in range(each):
                if _spoiled(good / kind.name, folder / "model", spoil, rng):
                    found = fault(kind, folder / "model")
                    yield name, f"{kind.name}: {found}" if found else ""
