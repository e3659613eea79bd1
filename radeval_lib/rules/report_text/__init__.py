"""Splits a report into sections, statements and words, with their character positions in the original.

The whole library reads reports through this package, so that line ends, lists, templates and headings are
treated the same everywhere.

>>> from radeval_lib.rules.report_text import statements
>>> text = "INDICATION: Cough. FINDINGS: Clear lungs\\nNo effusion"
>>> [(statement.section, statement.text) for statement in statements(text)]
[('history', 'Cough'), ('findings', 'Clear lungs'), ('findings', 'No effusion')]
"""

from radeval_lib.rules.report_text.statements import Section, Statement, findings, sections, statements
from radeval_lib.rules.report_text.words import MASK, Token, singular, tokenize

__all__ = [
    "MASK",
    "Section",
    "Statement",
    "Token",
    "findings",
    "sections",
    "singular",
    "statements",
    "tokenize",
]
