"""What the released GREEN parser reads from 300 answers, well formed and malformed.

    python tests/reference/record_green_parser.py GREEN_CHECKOUT

The checkout is https://github.com/Stanford-AIMI/GREEN at d72c195. Only the parser's functions are run, cut
out of their files, because the package asks for a model at once. The answers are generated, and then damaged
in the ways that language models damage a layout; they and what was read go to ``green/parser.json``.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from radeval_lib.data import generated
from radeval_lib.metrics.green import parse

_COUNT, _SEED = 300, 11
_SECTIONS = ("Clinically Significant Errors", "Clinically Insignificant Errors", "Matched Findings")


def released(checkout: Path) -> tuple[Any, Callable[[str], str]]:
    """Return the released class, with its parsing methods alone, and ``clean_responses``."""
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


def damaged(answer: str, rng: Random) -> str:
    """Return the answer after none to three of the changes that models make to the layout."""
    changes: list[Callable[[str], str]] = [
        lambda text: text.replace(": 0.", ":0.", rng.randint(1, 6)),
        lambda text: text.replace(": 1.", ": one.", 2),
        lambda text: text.replace(": 1.", ": 1 ", 1),
        lambda text: text.replace("\n(b)", "\n\n(b)", 1),
        lambda text: text.replace("]:\n", "]:\n\n", 1),
        lambda text: text.replace(f"[{rng.choice(_SECTIONS)}]:", "", 1),
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


def main(checkout: Path) -> None:
    """Write ``green/parser.json``."""
    parser, clean = released(checkout)
    rng = Random(_SEED)
    rows = []
    for record in list(generated.judged_pairs(_COUNT // 5, _SEED))[:_COUNT]:
        intact = parse(str(record.analysis), "strict")
        raw = damaged(str(record.analysis), rng)
        text = clean(raw)
        significant = parser.parse_error_counts(text, _SECTIONS[0])[1]
        insignificant = parser.parse_error_counts(text, _SECTIONS[1])[1]
        matched = parser.parse_error_counts(text, _SECTIONS[2])[0]
        score = parser.compute_green(text)
        rows.append(
            {
                "answer": raw,
                "intact": [intact.significant, intact.insignificant, intact.matched],
                "released": [significant, insignificant, matched, score],
            }
        )
    target = Path(__file__).with_name("green") / "parser.json"
    target.write_text(json.dumps(rows, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
