"""Opens the judge that fills a role: the rules, a language model or a server, with a cache of its answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from radeval_lib.data import statements
from radeval_lib.data.manifests import data_root, restricted_in
from radeval_lib.models.cache import BlobCache, text_key
from radeval_lib.models.pretrained import ADDRESSES
from radeval_lib.registry import RULES
from radeval_lib.rules.judge import RulesJudge
from radeval_lib.rules.judge.base import Judge, JudgeError, Keep, Pair, handed


class CachedJudge:
    """A judge whose answers are kept in a folder as they arrive, under hashes of the texts."""

    def __init__(self, judge: Judge, folder: str | Path) -> None:
        self._judge = judge
        self._cache = BlobCache(folder, f"judge|{judge.signature}")

    @property
    def signature(self) -> str:
        """The signature of the judge itself."""
        return self._judge.signature

    def judge(self, pairs: Sequence[Pair], keep: Keep | None = None) -> list[str]:
        """Return an analysis of each (reference, candidate); the judge is asked only about pairs that are not
        kept.

        ``keep`` is called once, with all analyses by position.
        """
        keys = [text_key(f"{len(reference)}:{reference}{candidate}") for reference, candidate in pairs]
        found = self._cache.get(set(keys))
        wanted = {key: place for place, key in enumerate(keys) if key not in found}
        places = sorted(wanted.values())

        def store(analyses: Mapping[int, str]) -> None:
            new = {keys[places[at]]: one.encode("utf-8", "surrogatepass") for at, one in analyses.items()}
            self._cache.put(new)
            found.update(new)

        if places:
            self._judge.judge([pairs[place] for place in places], store)
        return handed([found[key].decode("utf-8", "surrogatepass") for key in keys], keep)


def open_judge(name: str, *, cache: str | Path | None = None, device: str = "auto", model: str = "") -> Judge:
    """Return the judge of that name.

    Parameters
    ----------
    name : ``rules``; the address of a server, with the name of its model after ``#``; or the folder or hub
        name of a language model.
    cache : folder in which answers are kept; None keeps none. Answers of the rules are never kept.
    device : of a language model: ``auto``, ``cpu`` or ``cuda``.
    model : name of the server's model; takes precedence over the one in ``name``.

    Raises
    ------
    JudgeError
        If a model is named and ``name`` is not a server's, or the judge cannot be made.
    StatementError
        Where it is a server, and no statement lets it get what the data root of the environment holds.
    """
    if model and not name.startswith(ADDRESSES):
        raise JudgeError(f"the judge {name!r} is no server, so that it has no model {model!r}", "judge")
    if name == RULES:
        return RulesJudge()
    judge: Judge
    if name.startswith(ADDRESSES):
        from radeval_lib.models.judges.endpoint import EndpointJudge

        root = data_root()
        statements.require(restricted_in(root), name, root)
        address, _, there = name.partition("#")
        judge = EndpointJudge(address, model or there)
    else:
        from radeval_lib.models.judges.language_model import CausalJudge

        judge = CausalJudge(name, device=device)
    return CachedJudge(judge, cache) if cache is not None else judge
