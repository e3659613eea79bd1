"""How the released GREEN models are asked: their prompt and their form of a conversation, byte for byte.

Source: green-score 0.0.12, ``make_prompt`` in ``green_score/utils.py``, ``get_response`` and the template of
``green_score/green.py``; the GREEN repository at d72c195 has the same.
"""

from __future__ import annotations

import re

from radeval_lib.categories import GREEN_NAMES, LETTERS
from radeval_lib.green_analysis import INSIGNIFICANT, MATCHED, SIGNIFICANT
from radeval_lib.rules.judge.base import LONGEST, cut

_NAME = re.compile(r"(?i)\bGREEN-(Rad)?(Llama|Mistral|Phi)")
_TURN = "message['from']"
_CRITERIA = "\n".join(f"{letter}) {name}." for letter, name in zip(LETTERS, GREEN_NAMES, strict=True))
_ERRORS = "\n....\n".join(
    f"({letter}) <Error Type>: <The number of errors>. <Error 1>; <Error 2>; ...; <Error n>"
    for letter in (LETTERS[0], LETTERS[-1])
)
_PROMPT = f"""\
Objective: Evaluate the accuracy of a candidate radiology report in comparison to a reference radiology \
report composed by expert radiologists.

Process Overview: You will be presented with:

1. The criteria for making a judgment.
2. The reference radiology report.
3. The candidate radiology report.
4. The desired format for your assessment.

1. Criteria for Judgment:

For each candidate report, determine:

The count of clinically significant errors.
The count of clinically insignificant errors.

Errors can fall into one of these categories:

{_CRITERIA}
Note: Concentrate on the clinical findings rather than the report's writing style. Evaluate only the \
findings that appear in both reports.

2. Reference Report:
{{reference}}

3. Candidate Report:
{{candidate}}

4. Reporting Your Assessment:

Follow this specific format for your output, even if no errors are found:
```
[Explanation]:
<Explanation>

[{SIGNIFICANT}]:
{_ERRORS}

[{INSIGNIFICANT}]:
{_ERRORS}

[{MATCHED}]:
<The number of matched findings>. <Finding 1>; <Finding 2>; ...; <Finding n>
```
"""
# Every line but the first is indented where it is not empty.
_INDENTED = re.sub(r"\n(?=[^\n])", "\n    ", _PROMPT)


def is_released(name: str, chat_template: str | None = None) -> bool:
    """Return whether a model is a released one, by its name or by the form of its tokenizer's conversations,
    in which a turn has ``from`` and ``value``."""
    return bool(_NAME.search(name)) or _TURN in (chat_template or "")


def released_prompt(reference: str, candidate: str, words: int = LONGEST) -> str:
    """Return the prompt in the released wording; each report is cut at ``words`` words, as in the released
    code."""
    return _INDENTED.format(reference=cut(reference, words), candidate=cut(candidate, words))


def released_chat(asked: str, end: str) -> str:
    """Return the conversation that a prompt opens, each turn closed by ``end``, the tokenizer's token for it.

    An empty answer comes before the one that the model is to write, as in the released code.
    """
    return f"<|user|>\n{asked}{end}\n<|assistant|>\n{end}\n<|assistant|>\n"
