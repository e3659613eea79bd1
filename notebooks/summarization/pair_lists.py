"""The lists of pairs of modality and anatomy that the paper on MIMIC-RRS gives, held against each other and
against the released counts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from radeval_lib.errors import PrintedError
from radeval_lib.papers.printed_numbers import printed, quotations, quoted
from radeval_lib.study.checks import Check, by_reading, check_statement, check_value
from radeval_lib.text_format import out_of

_NAMED = re.compile(r"modalities \(([^)]*)\) and seven anatomies \(([^)]*)\)")


def body_parts(pair: str) -> set[str]:
    """Return the parts that a pair's name names: ``pelvis`` and ``abdomen`` of ``CT Abdomen-pelvis``."""
    return set(pair.split(" ", 1)[1].lower().split("-"))


def listed(words: str) -> list[str]:
    """Return pairs between curly quotes, in one spelling: "CT ab- domen/pelvis" is CT Abdomen-pelvis."""
    found = re.findall(r"“([^”]+)”", words.replace("- ", ""))
    split = [pair.replace("/", "-").split(" ", 1) for pair in found]
    return [f"{modality} {body.capitalize()}" for modality, body in split]


@dataclass(frozen=True)
class PairLists:
    """The pairs that the paper's sentences list.

    ``frequent``, ``rare``: of Section 2.1, the five first picks from MIMIC-III, and the six kept out of
    domain. ``trained``, ``unseen``: of Section 2.2, those with a training set, and the remaining ones.
    """

    frequent: list[str]
    rare: list[str]
    trained: list[str]
    unseen: list[str]

    @classmethod
    def read(cls) -> PairLists:
        """Return the lists as ``rrs.def_splits`` quotes them."""
        words = [text for _, text in quotations("rrs.def_splits")]
        return cls(*(listed(words[place]) for place in (0, 1, 3, 4)))

    @property
    def from_mimic_iii(self) -> list[str]:
        """All pairs of Section 2.1."""
        return self.frequent + self.rare

    @property
    def all(self) -> list[str]:
        """Every pair once, in the order in which the paper names them."""
        return list(dict.fromkeys(self.from_mimic_iii + self.trained))

    @property
    def in_both(self) -> list[str]:
        """Pairs that are out of domain in Section 2.1 and trained in Section 2.2."""
        return sorted(set(self.rare) & set(self.trained))

    def roles(self, counts: pd.DataFrame) -> pd.DataFrame:
        """Return each pair with its place in the lists, its reports, and what of it training shows elsewhere.

        ``counts``: released counts by pair, with ``suitable``.
        """
        modalities, bodies = kinds(self.trained)
        first = dict.fromkeys(self.frequent, "frequent") | dict.fromkeys(self.rare, "out of domain")
        pairs = pd.Series(self.all, self.all)
        trained = pairs.isin(self.trained)
        modality, body = pairs.str.split().str[0], pairs.map(lambda pair: bool(body_parts(pair) & bodies))
        answers = {True: "yes", False: "no"}
        return pd.DataFrame(
            {
                "Section 2.1": pairs.map(first).fillna("–"),
                "Section 2.2": trained.map({True: "trained", False: "out of domain"}),
                "reports": counts["suitable"].reindex(self.all),
                "modality seen": modality.isin(modalities).map(answers).mask(trained, ""),
                "body part seen": body.map(answers).mask(trained, ""),
            }
        )


def kinds(pairs: Sequence[str]) -> tuple[set[str], set[str]]:
    """Return the modalities and the body parts that the names of pairs name."""
    return {pair.split()[0] for pair in pairs}, set[str]().union(*map(body_parts, pairs))


def check_rows(lists: PairLists) -> list[Check]:
    """Return whether Table 1 says Multiple of MIMIC-RRS where the lists have several kinds, and of MIMIC-CXR
    what Section 2.1 says that its studies are."""
    rows = printed("rrs.table1").set_index("dataset")
    said = quotations("rrs.table1")[-1][1].replace("X- ray", "X-ray")
    (studies,) = re.findall(r"are (.*)\.", said)
    checks = []
    for column, found in zip(("modality", "anatomy"), kinds(lists.all), strict=True):
        whole, part = rows.loc["MIMIC-RRS", column], rows.loc["MIMIC-CXR", column]
        count = f"{len(found)} in the lists of Section 2"
        several = (whole == "Multiple") == (len(found) > 1)
        checks.append(check_statement(f"MIMIC-RRS row, {column}", whole, count, several))
        named = part.lower() in studies.lower().split()
        checks.append(check_statement(f"MIMIC-CXR row, {column}", part, f"{studies}, Section 2.1", named))
    return checks


def named_kinds() -> tuple[set[str], set[str]]:
    """Return the modalities and the anatomies that Section 1 names, as the names of pairs write them."""
    modalities, bodies = ({word for word in re.split(r",? and |, ", part) if word} for part in _named())
    return {"MR" if name == "MRI" else name for name in modalities}, bodies


def _named() -> tuple[str, ...]:
    found = _NAMED.search(" ".join(words for _, words in quotations("rrs.claim_new")))
    if found is None:
        raise PrintedError("no modalities and anatomies are named", "rrs.claim_new")
    return found.groups()


def check_numbers_of_kinds(lists: PairLists) -> list[Check]:
    """Return whether as many modalities, anatomies and pairs are listed as the paper says, and the same.

    *New* may be all that the data set lists, or what is listed beside X-ray, chest and X-ray Chest, which
    MIMIC-CXR had already.
    """
    said = quoted("rrs.claim_new")
    (modalities, bodies), (new_modalities, new_bodies) = kinds(lists.all), kinds(lists.from_mimic_iii)
    pairs, new_pairs = set(lists.all), set(lists.from_mimic_iii)
    of_section, bodies_of_section = named_kinds()
    in_all = [
        ("modalities in all", f"three modalities ({_named()[0]})", modalities, 3, of_section),
        ("anatomies in all", f"seven anatomies ({_named()[1]})", bodies, 7, bodies_of_section),
    ]
    of_new = [
        ("new modalities", "three new modalities", new_modalities, modalities, 3, "X-ray"),
        ("new anatomies", "seven new anatomies", new_bodies - {"chest"}, bodies, 7, "chest"),
        *(
            (f"new pairs, {where}", f"{number.text} new pairs", new_pairs, pairs, number.value, "X-ray Chest")
            for where in ("introduction", "related work")
            for number in [said[where.replace(" ", "_")]]
        ),
    ]
    conclusion = "twelve modality-anatomy pairs"
    return [
        *(
            check_statement(
                name,
                claim,
                f"{len(found)}: {', '.join(sorted(found))}",
                len(found) == number and found == named,
            )
            for name, claim, found, number, named in in_all
        ),
        *(
            check
            for name, claim, beside, all_of_it, number, old in of_new
            for check in by_reading(
                {
                    f"{which} {old}": check_statement(name, claim, str(len(found)), len(found) == number)
                    for which, found in {"beside": beside, "with": all_of_it}.items()
                }
            )
        ),
        check_value(
            "new pairs, Section 1 against Section 4", said["introduction"], said["related_work"].value
        ),
        check_value("pairs of MIMIC-III, Section 2.1", said["mimic_iii"], len(new_pairs)),
        check_statement("pairs in all, conclusion", conclusion, f"{len(pairs)} listed", len(pairs) == 12),
    ]


def check_lists(lists: PairLists) -> list[Check]:
    """Return whether the paper's lists of pairs agree with one another."""
    sinus = [pair for pair in lists.all if "sinus" in body_parts(pair)]
    sources = {name for _, words in quotations("rrs.def_splits") for name in re.findall(r"MIMIC-I+\b", words)}
    covered = sorted(lists.trained + lists.unseen) == sorted(lists.all)
    picked = len(lists.frequent), len(lists.rare)
    rows = [
        (
            "pairs that Section 2.1 lists",
            "five, then six",
            f"{picked[0]} and {picked[1]}",
            picked == (5, 6),
        ),
        (
            "one name for the source of the reports",
            "RRS data from MIMIC-II",
            f"named: {' and '.join(sorted(sources))}",
            len(sources) == 1,
        ),
        (
            "the out-of-domain pairs of 2.1 are not trained",
            "six pairs to serve as out-of-domain test sets",
            f"in both lists: {', '.join(lists.in_both) or 'none'}",
            not lists.in_both,
        ),
        (
            "trained and remaining pairs cover all",
            "the remaining reports",
            f"{len(lists.trained)} + {len(lists.unseen)} of {len(lists.all)} pairs",
            covered,
        ),
        (
            "one pair images the sinus, and is not trained",
            "CT Sinus is the only “sinus” dataset",
            f"{', '.join(sinus)}; not trained: {', '.join(sorted({*sinus} & {*lists.unseen})) or 'none'}",
            sinus == ["CT Sinus"] and "CT Sinus" in lists.unseen,
        ),
    ]
    return [check_statement(*row) for row in rows]


def check_released_sizes(lists: PairLists, counts: pd.DataFrame) -> list[Check]:
    """Return whether the lists fit the released counts by pair, with ``mapped`` and ``suitable``."""
    top = counts["mapped"].nlargest(len(lists.frequent)).index
    smallest = counts.loc[[pair for pair in lists.trained if pair in counts.index], "suitable"]
    largest = counts.loc[lists.unseen, "suitable"]
    splits = counts[["train", "validate", "test"]].gt(0)
    whole = splits.loc[smallest.index].all(axis=1)
    tested = splits.loc[lists.unseen].eq([False, False, True]).all(axis=1)
    named = set(lists.from_mimic_iii)
    rows = [
        (
            "the five first picks are the most frequent of those picked",
            "five of the most frequently-occurring",
            f"the five largest of the {len(counts)} picked are {', '.join(top)}",
            set(top) == set(lists.frequent),
        ),
        (
            "the picks are the pairs of the released notebook",
            "the pairs picked",
            f"{len(named)} distinct; released {len(counts)}",
            named == set(counts.index),
        ),
        (
            "trained pairs are the larger ones",
            "due to their large sample sizes",
            f"smallest trained: {smallest.idxmin()}, {smallest.min():,}; "
            f"largest test-only: {largest.idxmax()}, {largest.max():,}",
            bool(smallest.min() > largest.max()),
        ),
        (
            "trained pairs have three sets, the others a test set alone",
            "to training, validation, and test sets; the remaining for OOD test sets",
            f"{out_of(whole.sum(), len(whole), str)}; {out_of(tested.sum(), len(tested), str)}",
            bool(whole.all() and tested.all()),
        ),
    ]
    return [check_statement(*row) for row in rows]
