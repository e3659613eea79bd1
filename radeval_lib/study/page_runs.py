"""Runs of pages, which rebuild exhibits and show them.

A page also shows the paper's words, its provenance, the data that it lacks, and numbers in its prose
(:func:`glue`). Jobs show nothing; they begin at :func:`radeval_lib.study.runs.begin_job` and do not import
this module.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd
from IPython.core.getipython import get_ipython
from IPython.display import HTML, display

from radeval_lib import plots, registry
from radeval_lib.data.manifests import Manifest, load_manifest
from radeval_lib.data.manifests import names as data_sets
from radeval_lib.errors import ResultError
from radeval_lib.papers.exhibits import exhibit, find_file
from radeval_lib.papers.printed_numbers import Printed, find_table, has_table, quotations
from radeval_lib.paths import RECORDED, ROOT, display_path
from radeval_lib.provenance import PRINTED, RECORDED_SCORES, device, note_printed, read_commit
from radeval_lib.registry import ABSENT, CELL_MODEL, RULES, SYNTHETIC
from radeval_lib.stats.base import Estimate
from radeval_lib.study import checks, results, runs, superiority, verdicts
from radeval_lib.study.checks import Check, Key, above
from radeval_lib.study.exhibit_html import as_printed, exhibit_html, paper_prefix
from radeval_lib.study.profiles import command
from radeval_lib.study.results import Result, Sample
from radeval_lib.tables import folded, show, table_html
from radeval_lib.text_format import joined, long_date

if TYPE_CHECKING:
    from radeval_lib.metrics.base import Metric

ENDS_HERE = "radeval_page_ends_here"
"""The metadata key of the output with which a page ends early; its value is the reason."""
_NEEDS = {
    "error_counts": "needs the errors that six radiologists counted in ReXVal, by category: "
    "`radbook data add rexval_counts` says how to get them",
    "note_judgements": "needs the errors that clinicians listed in PriMock57: "
    "`radbook data add primock57` says how to get them",
}
"""What a page needs, by the role for which the repository has no public data."""
_NEEDS_TEXTS = (
    "needs public reports, which `radbook data fetch --open` brings; `make open` then builds this page with "
    "its answer"
)
_CODE = re.compile(r"`([^`]+)`")
_NOUNS = {
    "ner_model": "NER model",
    "ner_corpus": "annotated sentences",
    "summaries": "reports",
    "anatomy_summaries": "reports of the twelve pairs",
}
"""The name of a role in sentences, if it is not the role's key."""


class Basis(NamedTuple):
    """What an exhibit rests on: the first arguments of :meth:`PageRun.exhibit`.

    Attributes
    ----------
    evidence : the kind of data, one of :data:`~radeval_lib.study.verdicts.EVIDENCE`.
    substitutes : a description of what replaces the paper's data and models; empty if nothing does.
    roles : the names of the data and model roles that the exhibit reads.
    implementation : one of :data:`~radeval_lib.study.verdicts.IMPLEMENTATIONS`.
    """

    evidence: str
    substitutes: str
    roles: tuple[str, ...]
    implementation: str = verdicts.PAPERS_OWN

    @property
    def judged(self) -> bool:
        """Whether a result on this basis gets a verdict on the paper."""
        return verdicts.kind(*self[:2], self.implementation) != verdicts.EXPERIMENT

    def with_own(self, *used: str) -> Basis:
        """Return a copy of this basis with our implementation.

        ``used`` describes what else replaces the paper's data and models; it is added to the substitutes.
        """
        substitutes = "; ".join(filter(None, (self.substitutes, *used)))
        return Basis(self.evidence, substitutes, self.roles, verdicts.OURS)


def metric_label(metric: Metric | type[Metric], models: Mapping[str, str]) -> str:
    """Return a metric's title, followed in brackets by the model that replaces its published one, if any:
    ``RaTEScore (our NER model)``, ``BERTScore (MiniLM)``.

    ``models`` has the source of each model role, as in a profile or a stored set.
    """
    title, names = metric.title or metric.name, _model_names()
    for role in metric.needs:
        model = models.get(role, "")
        if model.startswith(CELL_MODEL):
            return f"{title} (our {_name_role(role)})"
        if model == RULES or names.is_packaged(model.removeprefix(names.UNTRAINED)):
            return f"{title} ({names.format_title(model)})"
    return title


def _model_names() -> Any:
    """Return the module with the names of models, imported by name so that pages without models do not depend
    on it."""
    return registry.module("radeval_lib.models.catalog")


def _name_role(role: str) -> str:
    """Return the name of a role in sentences."""
    return _NOUNS.get(role, role.replace("_", " "))


def data_title(source: str) -> str:
    """Return the words for a data role's source in sentences: ``the generator``, ``nothing`` if it is absent,
    otherwise the titles of its data sets, joined by "and". Empty if ``source`` names a model."""
    named = {SYNTHETIC: "the generator", ABSENT: "nothing"}
    if source in named:
        return named[source]
    if registry.is_recorded(source):
        return str(_recording(source).about["title"]).partition(":")[0]
    return " and ".join(dict.fromkeys(data.title.partition(":")[0] for data in _manifests(source)))


def _manifests(source: str) -> list[Manifest]:
    """Return the manifests of the data sets in a role's source."""
    return [load_manifest(name) for name in registry.datasets_of(source) if name in data_sets()]


def _recording(source: str) -> Any:
    """Return the stored scores that are a role's source."""
    return registry.module("radeval_lib.data.recorded").load(registry.dataset_of(source))


def evidence_words(source: str) -> str:
    """Return the evidence of a data role's source in words: ``public data, scored on 4 July 2023``."""
    if any(data.reader for data in _manifests(source)):
        return "private data"
    evidence = registry.module(registry.LOADERS["data"]).classify(source)
    if evidence == "recorded":
        return f"public data, scored on {long_date(_recording(source).scored_on)}"
    words = {SYNTHETIC: "generated reports", ABSENT: "nothing", "open": "public data"}
    return words.get(evidence, f"{evidence} data")


@dataclass(frozen=True)
class PageRun(runs.Run):
    """A run of a page, which rebuilds exhibits."""

    def labels(self, metrics: Mapping[str, Metric]) -> dict[str, str]:
        """Return the label of each metric by its title (:func:`metric_label`). If the page reads stored
        scores, their models replace the profile's."""
        models = dict(self.whole_profile.models)
        for source in self.recorded_sources():
            models |= {role: model["name"] for role, model in _recording(source).about["models"].items()}
        return {title: metric_label(metric, models) for title, metric in metrics.items()}

    def evidence_words(self, role: str) -> str:
        """Return the evidence of a data role in words: ``public data, scored on 4 July 2023``."""
        return evidence_words(self.source_of("data", role))

    def source(self, role: str) -> str:
        """Return the name of a data role's source in sentences: ``the generator`` or a data set's title."""
        return data_title(self.source_of("data", role))

    def substitutes(self, wanted: Mapping[str, str]) -> str:
        """Return a description of what replaces the paper's data and models in this run, such as ``encoder
        MiniLM with mean pooling (paper: MedCPT)``; empty if nothing does.

        ``wanted`` has the paper's source by role.
        """
        descriptions, model_title = [], _model_names().format_title
        for role, papers_own in wanted.items():
            source = self.source_of("models" if role in self.declared.models else "data", role)
            if source == papers_own:
                continue
            data = data_title(source)
            named = f"{_name_role(role)} from {data}" if data else f"{_name_role(role)} {model_title(source)}"
            if source.startswith(CELL_MODEL):
                named = f"{_name_role(role)} trained in this build"
            # The paper uses the vector of the first token; the packaged encoder was trained for the mean.
            elif role == "encoder" and _model_names().is_packaged(source):
                named += " with mean pooling"
            descriptions.append(f"{named} (paper: {data_title(papers_own) or model_title(papers_own)})")
        return "; ".join(descriptions)

    def basis(self, data: Mapping[str, str], models: Mapping[str, str] | None = None) -> Basis:
        """Return the basis of an exhibit that is rebuilt from these data and models.

        The evidence is the weakest of the data roles'. If a model is not the paper's, or the data are
        generated, the implementation is ours, because the result is then about our model or generator.

        Parameters
        ----------
        data, models : the paper's source by role; at least one data role.
        """
        models = models or {}
        evidence = max(map(self.evidence, data), key=verdicts.STRENGTH.index)
        changed = any(self.source_of("models", role) != papers_own for role, papers_own in models.items())
        implementation = verdicts.OURS if changed or evidence == SYNTHETIC else verdicts.PAPERS_OWN
        return Basis(evidence, self.substitutes({**data, **models}), (*data, *models), implementation)

    @contextmanager
    def exhibit(
        self,
        exhibit_id: str,
        evidence: str,
        substitutes: str = "",
        roles: Sequence[str] | None = None,
        implementation: str = verdicts.PAPERS_OWN,
        *,
        rests_on: Sequence[str] = (),
        remaining: str | None = None,
        folded: bool = False,
    ) -> Iterator[OpenExhibit]:
        """Yield an exhibit of this page, to which a ``with`` block adds checks.

        When the block ends, the exhibit is recorded and shown with its verdict and checks, unless the block
        raised an error. :meth:`basis` returns the arguments from ``evidence`` to ``implementation``.

        Parameters
        ----------
        exhibit_id : id in the ledger, e.g. ``rales.table3``.
        evidence : the kind of data, one of :data:`~radeval_lib.study.verdicts.EVIDENCE`.
        substitutes : a description of what replaces the paper's data or models.
        roles : the data and model roles that it rests on; those without files are ignored.
        implementation : the paper's or ours. With ours, or on generated data, the exhibit is our experiment:
            its checks run but are neither shown nor recorded. Their names and results become its table,
            unless the block sets one.
        rests_on : what else it rests on: printed tables (``table3``, or ``rrs/table1`` of another paper),
            released numbers (``released/settings``), data sets and roles that the page reads itself, and
            notebooks with jobs. The ledger's entry on the paper and the exhibit's own transcription are
            always included. With ``roles``, all jobs that the page has read are included. For our
            experiments, all models are included, and all data unless ``roles`` is given or the data are
            generated.
        remaining : the part of the exhibit that is not checked; default: ``remaining`` in the ledger.
        folded : whether only the name and the verdict are visible until the reader clicks.

        Raises
        ------
        LedgerError, ResultError
            If the ledger has no such exhibit, or assigns it to another page, or if this run has not read
            something that the exhibit rests on.
        NotebookError
            If the page has read the numbers of a paper that it does not declare.
        """
        entry = exhibit(exhibit_id)
        if entry.notebook != self.notebook:
            problem = f"{exhibit_id} belongs to notebook {entry.notebook!r}, not to {self.notebook!r}"
            remedy = "Record it on that page, or correct `notebook` of the exhibit."
            raise ResultError(problem, display_path(find_file(entry.paper)), remedy)
        if evidence == "synthetic":  # the generator is ours
            implementation = verdicts.OURS
        rebuilt = OpenExhibit(exhibit_id)
        yield rebuilt
        judged = Basis(evidence, substitutes, (), implementation).judged
        if not judged and rebuilt.rebuilt is None and rebuilt.checks:
            rows = [(check.name, check.computed) for check in rebuilt.checks]
            rebuilt.table(pd.DataFrame(rows, columns=["what", "found"]))
        rebuilt.result = results.record(
            self,
            exhibit_id,
            evidence=evidence,
            checks=rebuilt.checks if judged else (),
            remaining=entry.remaining_on(evidence) if remaining is None else remaining,
            substitutes=substitutes,
            rests_on=self._basis_names(exhibit_id, evidence, judged, roles, rests_on),
            implementation=implementation,
            table=rebuilt.rebuilt,
            samples=rebuilt.samples,
        )
        display(HTML(exhibit_html(rebuilt.result, folded=folded)))

    def _basis_names(
        self, exhibit_id: str, evidence: str, judged: bool, roles: Sequence[str] | None, others: Sequence[str]
    ) -> list[str]:
        """Return the names of all that an exhibit rests on, from ``roles`` and ``rests_on`` of
        :meth:`exhibit`; ``judged`` is False for our experiment."""
        paper = exhibit_id.partition(".")[0]
        note_printed(paper, find_file(paper))
        self.require_papers()
        names = [f"{paper}/paper"]
        if has_table(exhibit_id):
            note_printed(paper, path := find_table(exhibit_id))
            names.append(f"{paper}/{path.stem}")
        names += [inner if (inner := f"{paper}/{name}") in PRINTED else name for name in others]
        read = {*self.reading.files, *self.reading.models}
        data = {name for name in self.reading.files if not name.startswith("cells/")}
        if not judged:
            generated = evidence in ("synthetic", "definition")
            names += sorted(read - data if generated or roles is not None else read)
        if roles is not None:
            by_jobs = self.reading.files.keys() - data
            names += sorted(read & {*roles, *by_jobs, RECORDED_SCORES})
        return names

    def experiment(
        self,
        exhibit_id: str,
        used: str,
        table: pd.DataFrame | None = None,
        *,
        evidence: str = "synthetic",
        rests_on: Sequence[str] = (),
        samples: Iterable[Sample] = (),
    ) -> None:
        """Record and show an exhibit that is our experiment, without checks.

        Parameters
        ----------
        exhibit_id, evidence, rests_on : as in :meth:`exhibit`.
        used : a description of what replaces the paper's data and models.
        table : the rebuilt table, which is stored with the result.
        samples : the cases on which the intervals of the table rest; none if it has no intervals.
        """
        with self.exhibit(
            exhibit_id, evidence, used, implementation=verdicts.OURS, rests_on=rests_on
        ) as rebuilt:
            if table is not None:
                rebuilt.table(table)
            rebuilt.samples.extend(samples)

    def implemented(self, *exhibit_ids: str, table: pd.DataFrame | None = None) -> None:
        """Record and show exhibits that the library implements: definitions, guidelines or worked examples.

        A test compares each with released code or with values computed by hand. The ledger names function and
        test under ``implemented``, and what is not implemented under ``remaining``, ``implementation``.
        """
        for exhibit_id in exhibit_ids:
            left = exhibit(exhibit_id).remaining.get("implementation", "")
            with self.exhibit(exhibit_id, "definition", remaining=left, folded=True) as shown:
                if table is not None:
                    shown.table(table)

    def claim(self, name: str, *parts: bool | Check | None) -> HTML | None:
        """Record whether this build supports a claim that the page makes, and return a warning if it does
        not.

        Call it in the cell after the paragraph that makes the claim.

        Parameters
        ----------
        name : the claim's name on its page, in letters and underscores.
        parts : the parts of the claim: checks, or computed truth values, None if a part is inconclusive. The
            claim holds if all hold, fails if one fails, and is otherwise inconclusive.

        Returns
        -------
        HTML or None
            None if the claim holds, otherwise a box with the warning.
        """
        outcomes = [part.holds if isinstance(part, Check) else part for part in parts]
        # ``is False`` below needs truth values of Python, not of NumPy.
        outcomes = [None if outcome is None else bool(outcome) for outcome in outcomes]
        holds = False if False in outcomes else None if None in outcomes or not outcomes else True
        results.write_json(self.results_dir / f"claim_{name}.json", {"holds": holds})
        if holds:
            return None
        verb = "contradict" if holds is False else "do not decide"
        return HTML(
            '<div class="admonition warning"><p class="admonition-title">Not borne out in this build</p>'
            f"<p>The numbers of this build {verb} the claim above.</p></div>"
        )

    def record_headline(
        self, name: str, *, evidence: str, holds: bool | None, rests_on: Sequence[str], **texts: str
    ) -> None:
        """Record the numbers of a finding for the front page.

        Parameters
        ----------
        name : the finding's id in ``headlines.yml``.
        evidence, holds : as in :class:`~radeval_lib.study.results.HeadlineNumbers`.
        rests_on : the names of what the numbers rest on (:meth:`radeval_lib.provenance.Reading.of`).
        texts : the numbers, formatted, by their name in the finding's sentences; raises KeyError if one is
            missing.
        """
        entry, read = results.headlines()[name], self.provenance(rests_on)
        f"{entry.text} {entry.line}".format(**texts)  # raises KeyError before anything is written
        made = results.HeadlineNumbers(evidence=evidence, holds=holds, texts=texts, provenance=read)
        results.write_json(self.results_dir / f"headline_{name}.json", made.model_dump())


@dataclass
class OpenExhibit:
    """An exhibit while a page rebuilds it, as :meth:`PageRun.exhibit` yields it.

    ``rebuilt`` is its table, if any; ``result`` is None until the ``with`` block has ended.
    """

    id: str
    checks: list[Check] = field(default_factory=list)
    rebuilt: pd.DataFrame | None = None
    samples: list[Sample] = field(default_factory=list)
    result: Result | None = None

    def add(self, made: Check | Iterable[Check]) -> list[Check]:
        """Add one or more checks, and return them as a list."""
        new = [made] if isinstance(made, Check) else list(made)
        self.checks += new
        return new

    def value(
        self, name: Key | str, printed: Printed | str, computed: Estimate | float, **settings: Any
    ) -> Check:
        """Add and return the check of a printed number (:func:`radeval_lib.study.checks.check_value`)."""
        return self.add(checks.check_value(name, printed, computed, **settings))[0]

    def states(self, name: Key | str, claim: str, finding: str, holds: bool | None, **settings: Any) -> Check:
        """Add and return the check of a statement (:func:`radeval_lib.study.checks.check_statement`)."""
        return self.add(checks.check_statement(name, claim, finding, holds, **settings))[0]

    def leads(
        self, name: Key | str, claim: str, values: Mapping[str, Printed | float], **settings: Any
    ) -> list[Check]:
        """Add and return the checks of a claim of superiority
        (:func:`radeval_lib.study.superiority.check_superiority`)."""
        return self.add(superiority.check_superiority(name, claim, values, **settings))

    def groups(self, frame: pd.DataFrame, **settings: Any) -> list[Check]:
        """Add and return the checks of one printed cell per group
        (:func:`radeval_lib.study.checks.check_groups`)."""
        return self.add(checks.check_groups(frame, **settings))

    def sample(self, n: float, of: str, *, trainings: int = 0, draws: int = 0, resamples: int = 0) -> None:
        """Add the cases on which intervals and leads rest (:class:`radeval_lib.study.results.Sample`). ``n``
        is a whole number, also as a float."""
        self.samples.append(Sample(int(n), of, trainings, draws, resamples))

    def table(self, rebuilt: pd.DataFrame) -> None:
        """Set the rebuilt table, which is stored with the result and can be downloaded."""
        self.rebuilt = rebuilt


def begin(notebook: str, **parameters: Any) -> PageRun:
    """Return the run of a page, after setting the book's style of figures; parameters and errors are those of
    :func:`radeval_lib.study.runs.begin_job`."""
    plots.use_style()
    return runs.begin_job(notebook, kind=PageRun, **parameters)


def show_quotes(exhibit_id: str) -> HTML:
    """Return the paper's words about an exhibit as HTML quotations; excerpts from one place are joined by an
    ellipsis."""
    places: dict[str, list[str]] = {}
    for location, words in quotations(exhibit_id):
        places.setdefault(location, []).append(as_printed(words))
    paper = paper_prefix(exhibit(exhibit_id))
    items = [
        f"<blockquote>“{' … '.join(pieces)}” <footer>{paper}{escape(location)}</footer></blockquote>"
        for location, pieces in places.items()
    ]
    return HTML(f'<div class="quotes">{"".join(items)}</div>')


def only_with_data(
    run: PageRun, *roles: str, one_set: bool = False, dataset: str = "", generated: bool = False
) -> None:
    """End a page, and show what it needs, if data for the rest of it are missing.

    They are missing if one of the roles has no source or its source is not in the data root; and, unless
    ``generated`` is set, if its source is the generator. Later cells of the notebook then do nothing, and the
    book leaves them out.

    Parameters
    ----------
    roles : data roles, at least one.
    one_set : whether the page also ends if the roles have different data sets.
    dataset : a data set whose files the page reads itself; the page also ends if it is neither a source of
        the first role nor in the data root.
    generated : whether the page can go on with generated data.
    """
    insufficient = (ABSENT,) if generated else ("synthetic", ABSENT)
    if without_data := [role for role in roles if run.evidence(role) in insufficient]:
        needs = _NEEDS.get(without_data[0], _NEEDS_TEXTS)
        statement, reason = _CODE.sub(r"<code>\1</code>", needs), f"it {needs}"
    elif reason := _reason_to_end(run, roles, one_set, dataset):
        statement = _CODE.sub(r"<code>\1</code>", f"is left out: {escape(reason)}")
    else:
        return
    display(HTML(f"<p>The rest of this page {statement}.</p>"), metadata={ENDS_HERE: reason})
    display(provenance(run))
    if (shell := get_ipython()) is not None:
        shell.input_transformers_cleanup.append(lambda lines: [])  # every later cell becomes empty


def show_attempts(rows: Mapping[str, str]) -> HTML:
    """Return a folded table of the attempts to refute a page's finding; ``rows`` has the result of each."""
    table = pd.DataFrame({"result": rows.values()}, index=list(rows))
    return folded(show(table, "What we tried against it"))


def _reason_to_end(run: PageRun, roles: Sequence[str], one_set: bool, dataset: str) -> str:
    """Return the clause that says which data a page lacks, so that it ends early; empty if it lacks none.

    Parameters are those of :func:`only_with_data`.
    """
    if lacks := "; ".join(filter(None, map(run.lacks, roles))):
        return lacks
    sets = [registry.datasets_of(run.source_of("data", role)) for role in roles]
    if one_set and any(other != sets[0] for other in sets):
        sources = joined([f"{role!r} is {run.source(role)}" for role in roles])
        return f"it needs one data set for several roles, but here {sources}"
    if dataset and dataset not in sets[0] and run.find(dataset) is None:
        named = load_manifest(dataset).title.partition(":")[0]
        how = f"`radbook data status {dataset}` says how to get it"
        return f"{named}, which it reads, is not in the data root. {how}"
    return ""


def provenance(run: PageRun) -> HTML:
    """Return the folded table of what this page's numbers rest on, after a sentence for each set of stored
    scores."""
    head = read_commit()
    rows = {
        "notebook": f'<a href="../../sources/{run.notebook}.md">notebooks/{run.notebook}.md</a>',
        "rebuild": f"<code>{command(run.notebook, run.profile.name)}</code>",
        "commit": f"{head['commit'] or 'unknown'}{' and changes' if head['dirty'] else ''}",
        "seed": str(run.seed),
        "threads": str(run.whole_profile.threads),
        "device": device(run.whole_profile.device),
    }
    run.require_papers()
    read = run.reading.of()
    rows |= read["data"]
    for role, model in read["models"].items():
        rows[f"model: {role}"] = escape(", ".join(model.values()))
    frame = pd.DataFrame({"": rows.keys(), "value": rows.values()})
    body = table_html(frame, index=False, raw=("value",))
    sentences = []
    if any((ROOT / name).is_relative_to(RECORDED) for name in read["data"]):
        recordings = registry.module("radeval_lib.study.recordings")
        sources = [run.whole_profile.roles.get(role, "") for role in run.declared.data]
        sentences = recordings.sentences(recordings.sets_read(read["data"], sources))
    scored = "".join(f'<p class="scored">{escape(line)}</p>' for line in sentences)
    summary = "<summary>Provenance</summary>"
    return HTML(f'{scored}<details class="provenance">{summary}{body}</details>')


def glue(**values: str) -> None:
    """Store strings under names, so that the page's Markdown can insert them with ``{glue:text}`name```.

    Parameters
    ----------
    values : the strings, by name, formatted as the page shall show them.

    Raises
    ------
    TypeError
        If a value is not a string, because a number would be shown with all its digits.
    """
    import myst_nb  # imported here because it loads Sphinx

    for name, value in values.items():
        if not isinstance(value, str):
            raise TypeError(f"glue({name}=...) got a {type(value).__name__}; format it as a string")
        myst_nb.glue(name, value, display=False)


def phrase(estimate: Estimate, *, more: str, less: str, open: str) -> str:
    """Return one of three phrases by an estimate's interval: ``more`` if it lies above 0, ``less`` if it lies
    below 0, and ``open`` if it contains 0 or an end is NaN."""
    return {True: more, False: less, None: open}[above(estimate.low, estimate.high)]
