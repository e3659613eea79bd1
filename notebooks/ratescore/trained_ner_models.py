"""NER models that a build trained: their measures, what each choice changes, and the paper's beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property

import pandas as pd

from notebooks.ratescore.ner_ablations import BOTH, MEASURES
from radeval_lib.jobs import ratescore
from radeval_lib.jobs.ratescore import NOTEBOOK, SOURCES, Training
from radeval_lib.models.names import AFTER_GRAPHS, UNTRAINED, title
from radeval_lib.papers.printed_numbers import cell
from radeval_lib.stats import measures
from radeval_lib.stats.base import Estimate
from radeval_lib.study import profiles
from radeval_lib.study.cells import Cell, CellOutput
from radeval_lib.study.checks import Key
from radeval_lib.study.display import phrase
from radeval_lib.study.page_runs import OpenExhibit
from radeval_lib.study.runs import Basis, Run
from radeval_lib.text_format import joined, with_interval

SCHEMES = {"iob": "IOB", "span": "spans"}
_ROWS = {
    "DeBERTa_v3": "microsoft/deberta-v3-base",
    "Medical-NER": "blaze999/Medical-NER",
    "BioLORD-2023-C": "FremyCompany/BioLORD-2023-C",
    "BioMedBERT": "microsoft/BiomedNLP-BiomedBERT-base-uncased-abstract",
    "BlueBERT": "bionlp/bluebert_pubmed_mimic_uncased_L-12_H-768_A-12",
    "MedCPT-Q-Enc.": "ncbi/MedCPT-Query-Encoder",
    "SapBERT": "cambridgeltl/SapBERT-from-PubMedBERT-fulltext",
}  # Table 6's models on the hub


def basis(run: Run) -> Basis:
    """Return what a build's own Tables 6 and 7 rest on: evidence, and what stands in for the paper's."""
    data = run.basis({"ner_corpus": "rate_ner"})
    paper, own = (ratescore.settings(one).initial_models for one in (profiles.profile("full"), run.profile))
    if own == paper:
        return data
    names = dict.fromkeys(title(name) for models in own.values() for name in models)
    return data.with_own(f"{joined(list(names))}, which the paper does not try")


@dataclass(frozen=True)
class NerModels:
    """The trained NER models of a build, judged over test reports and seeds."""

    run: Run

    @cached_property
    def cells(self) -> dict[Training, CellOutput]:
        """What each training of Tables 6 and 7 left."""
        size = ratescore.settings(self.run.profile).training_sentences
        trainings = ratescore.trainings(self.run.profile)
        return {training: self._read(training) for training in trainings if training.sentences == size}

    @cached_property
    def own(self) -> CellOutput:
        """What the training of the NER model that the other pages use left; no table rests on it."""
        return self._read(ratescore.trainings(self.run.profile)[0])

    def _read(self, training: Training) -> CellOutput:
        # One by one: Run.cells would read them all, and each result name trainings that it does not rest on.
        return self.run.cell(Cell.of(NOTEBOOK, **asdict(training)))

    @property
    def compared(self) -> list[Training]:
        """The trainings of Table 6: one scheme and one initial model each, on as many sentences."""
        return [each for each in self.cells if each.corpus == "both"]

    @cached_property
    def measures(self) -> dict[Training, pd.DataFrame]:
        """Precision, recall, f1 and accuracy of each training on the test part, with intervals."""
        return {training: self._measured(output) for training, output in self.cells.items()}

    def _measured(self, output: CellOutput) -> pd.DataFrame:
        """Measures of a training's counts, with intervals."""
        return measures.intervals(
            output.tables["counts"],
            measures.TAGGING,
            resamples=self.run.profile.resamples,
            rng=self.run.rng("intervals"),
        )

    def gap(self, first: Training, second: Training) -> dict[str, Estimate]:
        """Measures of one training minus those of another, on the same test reports."""
        differences = measures.paired_difference(
            self.cells[first].tables["counts"],
            self.cells[second].tables["counts"],
            measures.TAGGING,
            resamples=self.run.profile.resamples,
            rng=self.run.rng("gaps"),
        )
        return {str(name): Estimate(**row) for name, row in differences.iterrows()}

    def table(self) -> pd.DataFrame:
        """Return the trainings of Table 6, one per row, with their measures as text."""
        return pd.DataFrame(
            {"scheme": SCHEMES[each.scheme], "started from": title(each.init_model)} | self.phrases(each)
            for each in self.compared
        )

    def phrases(self, training: Training) -> dict[str, str]:
        """Return each measure of a training with its interval, as text."""
        return self._in_words(self.measures[training])

    def own_phrases(self) -> dict[str, str]:
        """Return :meth:`phrases` of the NER model that the other pages use."""
        return self._in_words(self._measured(self.own))

    @staticmethod
    def _in_words(measured: pd.DataFrame) -> dict[str, str]:
        rows = measured.rename(index={"f1": "F1"})
        return {
            str(row.Index): with_interval(row.value, row.low, row.high, ".2f") for row in rows.itertuples()
        }

    def contrasts(self) -> dict[str, dict[str, Estimate]]:
        """Return what each choice changes in each measure, where two trainings differ in that choice alone.

        A choice that several pairs of trainings differ in is named with the model, and the scheme, of each.
        """
        by_start = {(each.scheme, each.init_model): each for each in self.compared}
        pairs: dict[str, dict[str, tuple[Training, Training]]] = {}
        for scheme, model in by_start:
            own = f"{title(model)}, {SCHEMES[scheme]}"
            for choice, where, first, second in (
                ("IOB tags instead of spans", title(model), ("iob", model), ("span", model)),
                ("other entities learned first", own, (scheme, AFTER_GRAPHS + model), (scheme, model)),
                ("pretrained instead of random weights", own, (scheme, model), (scheme, UNTRAINED + model)),
            ):
                if first in by_start and second in by_start:
                    pairs.setdefault(choice, {})[where] = by_start[first], by_start[second]
        return {
            choice if len(found) == 1 else f"{choice} ({where})": self.gap(*pair)
            for choice, found in pairs.items()
            for where, pair in found.items()
        }

    def check_printed(self, exhibit: OpenExhibit, printed: pd.DataFrame, column: str) -> None:
        """Check Table 6 or 7, whose rows ``column`` names, against the trainings of the same models by the
        same scheme; of Table 7 that is IOB."""
        if column == "training_data":
            first = ratescore.settings(self.run.profile).initial_models["iob"][0]
            corpora = {"both": BOTH, **{source: source for source in SOURCES}}
            names = {("iob", first, corpus): name for corpus, name in corpora.items()}
        else:
            schemes = {"IOB": "iob", "Span": "span"}
            printed_as = printed.drop_duplicates("model").set_index("model")["scheme"].map(schemes)
            names = {(printed_as[name], model, "both"): name for name, model in _ROWS.items()}
        for training, rows in self.measures.items():
            name = names.get((training.scheme, training.init_model, training.corpus))
            if name is None:
                continue
            for measure in MEASURES:
                row = rows.loc[measure.lower()]
                where = {column: name, "measure": measure}
                estimate = Estimate(row["value"], row["low"], row["high"])
                exhibit.value(Key(measure, name), cell(printed, **where), estimate)


def gained(gap: Estimate) -> str:
    """Return a difference with its interval, as text."""
    return with_interval(gap.value, gap.low, gap.high, "+.3f")


def contrast_table(contrasts: Mapping[str, Mapping[str, Estimate]]) -> pd.DataFrame:
    """Return what each choice changes, as text, and what an interval of F1 decides."""
    rows = {
        choice: {
            **{f"gain in {name}": gained(gap[name.lower()]) for name in ("F1", "precision", "recall")},
            "F1 decided": phrase(gap["f1"], more="better", less="worse", open="not decided here"),
            "gain in F1 seen 8 times in 10": f"{gap['f1'].detectable:.3f}",
        }
        for choice, gap in contrasts.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index")
