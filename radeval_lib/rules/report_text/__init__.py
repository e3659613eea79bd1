"""Report text as people have it: its sections, statements and words, with their places in the original.

Whatever of this library reads a report reads it through here, so that a line end, a list, a template or a
heading means the same to all.

>>> from radeval_lib.rules.report_text import statements
>>> [(one.section, one.text) for one in statements("INDICATION: Cough. FINDINGS: Clear lungs\\nNo effusion")]
[('history', 'Cough'), ('findings', 'Clear lungs'), ('findings', 'No effusion')]
"""

from radeval_lib.rules.report_text.statements import Section, Statement, findings, sections, statements
from radeval_lib.rules.report_text.words import MASK, Token, singular, tokens

__all__ = [
    "MASK",
    "Section",
    "Statement",
    "Token",
    "findings",
    "sections",
    "singular",
    "statements",
    "tokens",
]
