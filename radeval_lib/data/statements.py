"""Statements that text of a restricted data set may be sent to a model server.

A statement is a file ``statements/<name>.yml`` of the data root::

    corpus: mimic_cxr_rrs
    server: 127.0.0.1:8000
    date: 2026-11-23
    signed: Name and position of who answers for it

A server on one's own machine needs one too, because nothing shows what is behind its address.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import yaml
from pydantic import AfterValidator, ValidationError
from pydantic.dataclasses import dataclass

from radeval_lib.data.errors import StatementError
from radeval_lib.data.manifests import STRICT, Line, names
from radeval_lib.errors import complaint, listed

FOLDER = "statements"


def _restricted(corpus: str) -> str:
    if corpus not in names():
        raise ValueError("is not a data set; `radbook data status` lists them")
    return corpus


def _past(date: datetime.date) -> datetime.date:
    if date > datetime.date.today():
        raise ValueError("lies in the future")
    return date


@dataclass(frozen=True, config=STRICT)
class SendingStatement:
    """Who says since when that text of ``corpus`` may be sent to ``server``, a host with its port if any."""

    corpus: Annotated[Line, AfterValidator(_restricted)]
    server: Line
    date: Annotated[datetime.date, AfterValidator(_past)]
    signed: Line


def statements(root: Path) -> list[SendingStatement]:
    """Return every statement of a data root, in the order of their files."""
    read = []
    for path in sorted((root / FOLDER).glob("*.yml")):
        try:
            read.append(SendingStatement(**yaml.safe_load(path.read_text(encoding="utf-8"))))
        except ValidationError as error:
            raise StatementError(complaint(error), f"{FOLDER}/{path.name}") from None
        except (yaml.YAMLError, TypeError, UnicodeDecodeError):
            raise StatementError("not a mapping in YAML", f"{FOLDER}/{path.name}") from None
    return read


def require(corpora: Sequence[str], model: str, root: Path | None) -> None:
    """Refuse a model that is the address of a server unless statements allow it for each of ``corpora``.

    A name and password in the address are no part of the server. Without a data root nothing is refused.
    """
    address = urlsplit(model)
    server = address.netloc.rpartition("@")[2] if address.scheme in ("http", "https") else ""
    if not (server and corpora and root):
        return
    allowed = {made.corpus for made in statements(root) if made.server == server}
    if missing := [corpus for corpus in corpora if corpus not in allowed]:
        raise StatementError(
            f"text of {listed(missing)} may not be sent to the model server {server}",
            f"{FOLDER}/ of the data root",
            "Give a data root without it, a model in a folder, or a statement: a file NAME.yml with corpus, "
            f"server: {server}, date and signed.",
        )
