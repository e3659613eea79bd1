"""The sections, statements and words of a report, with their places in the original.

All of the library reads reports through this package, so that a line end, a list, a template or a heading
always means the same.

>>> from radeval_lib.rules.report_text import statements
>>> text = "INDICATION: Cough. FINDINGS: Clear lungs\\nNo effusion"
>>> [(statement.section, statement.text) for statement in statements(text)]
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
