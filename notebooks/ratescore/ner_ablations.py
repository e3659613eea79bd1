"""Compare NER models: those in the paper's tables, and those that a build trained.

Source: Zhao et al. 2024, Tables 6 and 7, Section 4.4.1 and Appendix A.8.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property

import pandas as pd

from radeval_lib.jobs import ratescore
from radeval_lib.jobs.ratescore import NOTEBOOK, SOURCES, Training
from radeval_lib.models.catalog import AFTER_GRAPHS, UNTRAINED, format_title
from radeval_lib.papers.printed_numbers import Printed, cell, rounding_range
from radeval_lib.stats import measures
from radeval_lib.stats.base import Estimate
from radeval_lib.stats.inference import wilson_interval
from radeval_lib.study import profiles
from radeval_lib.study.checks import Check, Key, by_reading, check_statement, check_value
from radeval_lib.study.jobs import Job, JobOutput
from radeval_lib.study.page_runs import Basis, OpenExhibit, PageRun, phrase
from radeval_lib.text_format import joined, with_interval

# Names of the tagging schemes on the page.
SCHEMES = {"iob": "IOB", "span": "spans"}
# Training data in Table 7.
BOTH, SINGLE = "Radiopaedia + MIMIC-IV", ("Radiopaedia", "MIMIC-IV")
MEASURES = ["precision", "recall", "F1", "accuracy"]


def add_wilson_intervals(models: pd.DataFrame, entities: int) -> pd.DataFrame:
    """Return the table of NER models with error bars for precision and recall from 95% Wilson intervals.

    The new columns ``precision_low``, ``precision_high``, ``recall_low`` and ``recall_high`` are the
    distances of each value from the bounds of its interval. ``entities`` is the number of entities in the
    test set, the denominator of recall. The denominator of precision is the number of entities that a model
    finds, which is computed from precision and recall.
    """
    with_bars = models.copy()
    true_positives = models["recall"] * entities
    totals = {"recall": pd.Series(entities, models.index), "precision": true_positives / models["precision"]}
    for name, total in totals.items():
        bounds = [wilson_interval(round(k), round(n)) for k, n in zip(true_positives, total, strict=True)]
        with_bars[f"{name}_low"] = models[name] - [low for low, _ in bounds]
        with_bars[f"{name}_high"] = [high for _, high in bounds] - models[name]
    return with_bars


def subtract_cells(printed: pd.DataFrame, measure: str, column: str, first: str, second: str) -> Estimate:
    """Return a printed measure in one row minus that in another, with the range that rounding allows.

    ``first`` and ``second``, such as two models, are the values of ``column`` in these rows.
    """
    cells = [cell(printed, measure=measure, **{column: name}) for name in (first, second)]
    return rounding_range(lambda pair: pair[0] - pair[1], cells)


def check_gain(sources: pd.DataFrame, measure: str, promised: Printed) -> list[Check]:
    """Return checks of the printed gain from training on both sources instead of one.

    The paper does not say with which source it compares, so there are three readings: over each source, and
    over the better source. ``sources`` is Table 7; ``promised`` is the gain in the paper's prose.
    """
    gains = {
        f"over {other}": subtract_cells(sources, measure, "training_data", BOTH, other) for other in SINGLE
    }
    gains["over the better source"] = min(gains.values(), key=lambda gain: gain.value)
    name = Key("gain over one source", measure)
    return by_reading({reading: check_value(name, promised, gain) for reading, gain in gains.items()})


def check_iob_ahead(schemes: pd.DataFrame) -> list[Check]:
    """Return checks that all IOB models of Table 6 exceed all span models, with one reading per measure."""
    values = schemes.groupby(["measure", "scheme"])["value"]
    checks = {}
    for measure in MEASURES:
        lowest, highest = values.min()[measure, "IOB"], values.max()[measure, "Span"]
        checks[measure] = check_statement(
            "IOB models above span models",
            "the IOB scheme overall extracts more comprehensive entities",
            f"lowest IOB {lowest:.3f}, highest span {highest:.3f}",
            bool(lowest > highest),
        )
    return by_reading(checks)


# A mapping from the name of a model in Table 6 to its name on the Hugging Face Hub.
_HUB_NAMES = {
    "DeBERTa_v3": "microsoft/deberta-v3-base",
    "Medical-NER": "blaze999/Medical-NER",
    "BioLORD-2023-C": "FremyCompany/BioLORD-2023-C",
    "BioMedBERT": "microsoft/BiomedNLP-BiomedBERT-base-uncased-abstract",
    "BlueBERT": "bionlp/bluebert_pubmed_mimic_uncased_L-12_H-768_A-12",
    "MedCPT-Q-Enc.": "ncbi/MedCPT-Query-Encoder",
    "SapBERT": "cambridgeltl/SapBERT-from-PubMedBERT-fulltext",
}


def find_basis(run: PageRun) -> Basis:
    """Return the evidence for this build's Tables 6 and 7, naming the substitutes for the paper's models."""
    data = run.basis({"ner_corpus": "rate_ner"})
    paper_models, own_models = (
        ratescore.settings(profile).initial_models for profile in (profiles.profile("full"), run.profile)
    )
    if own_models == paper_models:
        return data
    names = dict.fromkeys(format_title(name) for models in own_models.values() for name in models)
    return data.with_own(f"{joined(list(names))}, which the paper does not try")


@dataclass(frozen=True)
class NerModels:
    """The NER models that a build trained, measured on test reports and averaged over seeds.

    Attributes
    ----------
    run : the page's run.
    """

    run: PageRun

    @cached_property
    def outputs(self) -> dict[Training, JobOutput]:
        """A mapping from each training run for Tables 6 and 7 to its output."""
        size = ratescore.settings(self.run.profile).training_sentences
        return {
            item: self._read(item) for item in ratescore.list_runs(self.run.profile) if item.sentences == size
        }

    @cached_property
    def shared_output(self) -> JobOutput:
        """The output of the training run whose NER model other pages use; the run is in neither table."""
        return self._read(ratescore.list_runs(self.run.profile)[0])

    def _read(self, training: Training) -> JobOutput:
        """Return the output of the job of a training run."""
        # Outputs are read one by one, so that a result lists only the training runs that it uses.
        return self.run.job(Job.of(NOTEBOOK, **asdict(training)))

    @property
    def table6(self) -> list[Training]:
        """The training runs for Table 6, which differ in scheme and initial model but not in sentences."""
        return [training for training in self.outputs if training.corpus == "both"]

    def measure(self, output: JobOutput) -> pd.DataFrame:
        """Return the precision, recall, F1 and accuracy of a training run (0 to 1), with 95% intervals.

        The index is the measure; columns are ``value``, ``low`` and ``high``.
        """
        counts, rng = output.tables["counts"], self.run.rng("intervals")
        intervals = measures.intervals(
            counts, measures.TAGGING, resamples=self.run.profile.resamples, rng=rng
        )
        return intervals.rename(index={"f1": "F1"})

    def compare(self, first: Training, second: Training) -> dict[str, Estimate]:
        """Return each measure of one training run minus the same measure of another.

        The result is a mapping from ``precision``, ``recall``, ``f1`` and ``accuracy`` to the differences.
        Both runs are measured on the same draws of test reports.
        """
        counts = [self.outputs[training].tables["counts"] for training in (first, second)]
        resamples, rng = self.run.profile.resamples, self.run.rng("gaps")
        differences = measures.paired_difference(
            counts[0], counts[1], measures.TAGGING, resamples=resamples, rng=rng
        )
        return {str(name): Estimate(**row) for name, row in differences.iterrows()}

    def tabulate(self) -> pd.DataFrame:
        """Return the training runs for Table 6, one per row, with measures and intervals as text."""
        rows = {
            (SCHEMES[training.scheme], format_title(training.init_model)): {
                str(row.Index): with_interval(row.value, row.low, row.high, ".2f")
                for row in self.measure(self.outputs[training]).itertuples()
            }
            for training in self.table6
        }
        return pd.DataFrame(rows).T.rename_axis(["scheme", "started from"]).reset_index()

    def contrast(self) -> dict[str, dict[str, Estimate]]:
        """Return the effect of each choice on each measure, from training runs that differ only in it.

        The result is a mapping from the choice, in words, to the result of :meth:`compare`. If several pairs
        of runs differ in a choice, each pair has its own key, with the model, or model and scheme, in
        parentheses.
        """
        by_start = {(training.scheme, training.init_model): training for training in self.table6}
        pairs: dict[str, dict[str, tuple[Training, Training]]] = {}
        for scheme, model in by_start:
            start = f"{format_title(model)}, {SCHEMES[scheme]}"
            for choice, where, first, second in (
                ("IOB tags instead of spans", format_title(model), ("iob", model), ("span", model)),
                ("RadGraph's entities learned first", start, (scheme, AFTER_GRAPHS + model), (scheme, model)),
                ("pretrained instead of random weights", start, (scheme, model), (scheme, UNTRAINED + model)),
            ):
                if first in by_start and second in by_start:
                    pairs.setdefault(choice, {})[where] = by_start[first], by_start[second]
        return {
            choice if len(by_model) == 1 else f"{choice} ({where})": self.compare(*pair)
            for choice, by_model in pairs.items()
            for where, pair in by_model.items()
        }

    def check_printed(self, exhibit: OpenExhibit, printed: pd.DataFrame, column: str) -> None:
        """Add to ``exhibit`` checks of Table 6 or 7 against this build's training runs on the same sources.

        For Table 6, the runs are those of the same model with the same scheme; for Table 7, those of the
        build's first IOB model. Rows without a training run get no check. ``printed`` is the whole table;
        ``column`` is ``model`` for Table 6 and ``training_data`` for Table 7.
        """
        if column == "training_data":
            table7_model = ratescore.settings(self.run.profile).initial_models["iob"][0]
            corpora = {"both": BOTH, **{source: source for source in SOURCES}}
            names = {("iob", table7_model, corpus): name for corpus, name in corpora.items()}
        else:
            schemes = {"IOB": "iob", "Span": "span"}
            scheme_of = printed.drop_duplicates("model").set_index("model")["scheme"].map(schemes)
            names = {(scheme_of[name], model, "both"): name for name, model in _HUB_NAMES.items()}
        for training, output in self.outputs.items():
            name = names.get((training.scheme, training.init_model, training.corpus))
            if name is None:
                continue
            for measure, row in self.measure(output).loc[MEASURES].iterrows():
                where = {column: name, "measure": str(measure)}
                estimate = Estimate(row["value"], row["low"], row["high"])
                exhibit.add(check_value(Key(str(measure), name), cell(printed, **where), estimate))


def tabulate_contrasts(contrasts: Mapping[str, Mapping[str, Estimate]]) -> pd.DataFrame:
    """Return the effects from :meth:`NerModels.contrast` as text, one row per choice.

    The gain in F1 that is detected with a power of 80% shows how large an effect could be missed.
    """
    rows = {
        choice: {
            **{f"gain in {name}": f"{gap[name.lower()]:+.3f}" for name in ("F1", "precision", "recall")},
            "difference in F1": phrase(gap["f1"], more="better", less="worse", open="not decided here"),
            "gain in F1 detectable with 80% power": f"{gap['f1'].detectable:.3f}",
        }
        for choice, gap in contrasts.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index")
