"""Runs of pages, which rebuild exhibits and show them.

A page also shows quotations of the paper, the provenance of its numbers, the data that it lacks, and numbers
in prose (:func:`glue`). Jobs show nothing; they begin with :func:`radeval_lib.study.runs.begin_job` and do
not import this module.
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
from radeval_lib.registry import ABSENT, JOB_MODEL, RULES, SYNTHETIC
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
_NEED_CLAUSES = {
    "error_counts": "needs the errors that six radiologists counted in ReXVal, by category: "
    "`radbook data add rexval_counts` says how to get them",
    "note_judgements": "needs the errors that clinicians listed in PriMock57: "
    "`radbook data add primock57` says how to get them",
}
"""A mapping from a role without public data in the repository to the clause that says what a page needs."""
_REPORTS_CLAUSE = (
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
"""A mapping from role to its name in sentences, for roles whose key is not the name."""


class Basis(NamedTuple):
    """The evidence and implementation of an exhibit, as arguments of :meth:`PageRun.exhibit`.

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

        ``used`` describes what else replaces the paper's data and models, and is added to the substitutes.
        """
        substitutes = "; ".join(filter(None, (self.substitutes, *used)))
        return Basis(self.evidence, substitutes, self.roles, verdicts.OURS)


def metric_label(metric: Metric | type[Metric], models: Mapping[str, str]) -> str:
    """Return a metric's title, followed in brackets by any model that replaces the published one, such as
    ``RaTEScore (our NER model)`` or ``BERTScore (MiniLM)``.

    ``models`` is a mapping from model role to source, as in a profile or a stored set.
    """
    title, catalog = metric.title or metric.name, _load_catalog()
    for role in metric.required_roles:
        model = models.get(role, "")
        if model.startswith(JOB_MODEL):
            return f"{title} (our {_name_role(role)})"
        if model == RULES or catalog.is_packaged(model.removeprefix(catalog.UNTRAINED)):
            return f"{title} ({catalog.format_title(model)})"
    return title


def _load_catalog() -> Any:
    """Return the module with the names of models; it is imported by name, so that pages without models do not
    depend on it."""
    return registry.module("radeval_lib.models.catalog")


def _name_role(role: str) -> str:
    """Return the name of a role in sentences."""
    return _NOUNS.get(role, role.replace("_", " "))


def data_title(source: str) -> str:
    """Return the name of a data role's source in sentences: ``the generator``, ``nothing`` if it is absent,
    otherwise the titles of its data sets with "and" between them. Empty if ``source`` names a model."""
    names = {SYNTHETIC: "the generator", ABSENT: "nothing"}
    if source in names:
        return names[source]
    if registry.is_recorded(source):
        return str(_load_recording(source).description["title"]).partition(":")[0]
    return " and ".join(dict.fromkeys(item.title.partition(":")[0] for item in _load_manifests(source)))


def _load_manifests(source: str) -> list[Manifest]:
    """Return the manifests of the data sets in a role's source."""
    return [load_manifest(name) for name in registry.datasets_of(source) if name in data_sets()]


def _load_recording(source: str) -> Any:
    """Return the stored scores that are a role's source."""
    return registry.module("radeval_lib.data.recorded").load(registry.dataset_of(source))


def evidence_words(source: str) -> str:
    """Return the evidence of a data role's source in words: ``public data, scored on 4 July 2023``."""
    if any(manifest.reader for manifest in _load_manifests(source)):
        return "private data"
    evidence = registry.module(registry.LOADERS["data"]).classify(source)
    if evidence == "recorded":
        return f"public data, scored on {long_date(_load_recording(source).scored_on)}"
    words = {SYNTHETIC: "generated reports", ABSENT: "nothing", "open": "public data"}
    return words.get(evidence, f"{evidence} data")


@dataclass(frozen=True)
class PageRun(runs.Run):
    """The run of a page, with methods that record and show exhibits."""

    def labels(self, metrics: Mapping[str, Metric]) -> dict[str, str]:
        """Return a mapping from the title of each metric to its label (:func:`metric_label`). If the page
        reads stored scores, their models replace the profile's."""
        models = dict(self.whole_profile.models)
        for source in self.recorded_sources():
            stored_models = _load_recording(source).description["models"]
            models |= {role: model["name"] for role, model in stored_models.items()}
        return {title: metric_label(metric, models) for title, metric in metrics.items()}

    def evidence_words(self, role: str) -> str:
        """Return the evidence of a data role in words, such as ``public data, scored on 4 July 2023``."""
        return evidence_words(self.source_of("data", role))

    def source(self, role: str) -> str:
        """Return the name of a data role's source in sentences: ``the generator`` or a data set's title."""
        return data_title(self.source_of("data", role))

    def substitutes(self, papers_sources: Mapping[str, str]) -> str:
        """Return a description of what replaces the paper's data and models in this run, such as ``encoder
        MiniLM with mean pooling (paper: MedCPT)``; empty if nothing does.

        ``papers_sources`` is a mapping from role to the paper's source.
        """
        descriptions, model_title = [], _load_catalog().format_title
        for role, papers_own in papers_sources.items():
            source = self.source_of("models" if role in self.declared.models else "data", role)
            if source == papers_own:
                continue
            data = data_title(source)
            words = f"{_name_role(role)} from {data}" if data else f"{_name_role(role)} {model_title(source)}"
            if source.startswith(JOB_MODEL):
                words = f"{_name_role(role)} trained in this build"
            # The paper uses the vector of the first token; the packaged encoder was trained for the mean.
            elif role == "encoder" and _load_catalog().is_packaged(source):
                words += " with mean pooling"
            descriptions.append(f"{words} (paper: {data_title(papers_own) or model_title(papers_own)})")
        return "; ".join(descriptions)

    def basis(self, data: Mapping[str, str], models: Mapping[str, str] | None = None) -> Basis:
        """Return the basis of an exhibit that is rebuilt from these data and models.

        The evidence is the weakest among the data roles. If a model is not the paper's, or the data are
        generated, the implementation is ours, because the result is then about our model or generator.

        Parameters
        ----------
        data, models : mappings from role to the paper's source; ``data`` must not be empty.

        Raises
        ------
        NotebookError, ProfileError
            If :meth:`source_of` raises it.
        ValueError
            If the profile declares the source of a data role absent.
        """
        models = models or {}
        evidence = max(map(self.evidence, data), key=verdicts.STRENGTH.index)
        is_changed = any(self.source_of("models", role) != papers_own for role, papers_own in models.items())
        implementation = verdicts.OURS if is_changed or evidence == SYNTHETIC else verdicts.PAPERS_OWN
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
        roles : the data and model roles that the exhibit rests on; those that the page has not read are
            ignored.
        implementation : the paper's or ours. With ours, or on generated data, the exhibit is our experiment:
            its checks run but are neither shown nor recorded. Their names and results become its table,
            unless the block sets one.
        rests_on : further inputs of the exhibit: printed tables (``table3``, or ``rrs/table1`` of another
            paper), released numbers (``released/settings``), data sets and roles that the page reads itself,
            and notebooks with jobs. The ledger's entry on the paper and the exhibit's own transcription are
            always included. With ``roles``, all jobs and stored scores that the page has read are included.
            For our experiments, all models and jobs are included, and all data unless ``roles`` is given or
            ``evidence`` is ``synthetic`` or ``definition``.
        remaining : the part of the exhibit that is not checked; by default, ``remaining`` in the ledger.
        folded : whether only the name and the verdict are visible until the reader clicks.

        Raises
        ------
        LedgerError
            If the ledger has no such exhibit.
        ResultError
            If the ledger assigns the exhibit to another page, ``evidence`` has another value, this run has
            not read something that the exhibit rests on, an exhibit that gets a verdict has no checks, two
            checks share key and reading, or two discrepancies explain one check.
        NotebookError
            If the page has read the numbers of a paper that it does not declare.
        """
        entry = exhibit(exhibit_id)
        if entry.notebook != self.notebook:
            problem = f"{exhibit_id} belongs to notebook {entry.notebook!r}, not to {self.notebook!r}"
            remedy = "Record it on that page, or correct `notebook` in its entry."
            raise ResultError(problem, display_path(find_file(entry.paper)), remedy)
        if evidence == "synthetic":  # the generator is ours
            implementation = verdicts.OURS
        draft = OpenExhibit(exhibit_id)
        yield draft
        judged = Basis(evidence, substitutes, (), implementation).judged
        if not judged and draft.rebuilt is None and draft.checks:
            rows = [(check.name, check.computed) for check in draft.checks]
            draft.table(pd.DataFrame(rows, columns=["check", "computed"]))
        draft.result = results.record(
            self,
            exhibit_id,
            evidence=evidence,
            checks=draft.checks if judged else (),
            remaining=entry.remaining_on(evidence) if remaining is None else remaining,
            substitutes=substitutes,
            rests_on=self._list_inputs(exhibit_id, evidence, judged, roles, rests_on),
            implementation=implementation,
            table=draft.rebuilt,
            samples=draft.samples,
        )
        display(HTML(exhibit_html(draft.result, folded=folded)))

    def _list_inputs(
        self, exhibit_id: str, evidence: str, judged: bool, roles: Sequence[str] | None, others: Sequence[str]
    ) -> list[str]:
        """Return the names of all inputs of an exhibit, given ``roles`` and ``rests_on`` (here ``others``) of
        :meth:`exhibit`; ``judged`` is False for our experiment."""
        paper = exhibit_id.partition(".")[0]
        note_printed(paper, find_file(paper))
        self.require_papers()
        names = [f"{paper}/paper"]
        if has_table(exhibit_id):
            note_printed(paper, path := find_table(exhibit_id))
            names.append(f"{paper}/{path.stem}")
        names += [own_name if (own_name := f"{paper}/{name}") in PRINTED else name for name in others]
        read_names = {*self.inputs.files, *self.inputs.models}
        data_sources = {name for name in self.inputs.files if not name.startswith("jobs/")}
        if not judged:
            generated = evidence in ("synthetic", "definition")
            names += sorted(read_names - data_sources if generated or roles is not None else read_names)
        if roles is not None:
            job_sources = self.inputs.files.keys() - data_sources
            names += sorted(read_names & {*roles, *job_sources, RECORDED_SCORES})
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
        samples : the cases on which the table's intervals rest; empty if the table has none.

        Raises the errors of :meth:`exhibit`.
        """
        with self.exhibit(
            exhibit_id, evidence, used, implementation=verdicts.OURS, rests_on=rests_on
        ) as rebuilt:
            if table is not None:
                rebuilt.table(table)
            rebuilt.samples.extend(samples)

    def implemented(self, *exhibit_ids: str, table: pd.DataFrame | None = None) -> None:
        """Record and show exhibits that the library implements: definitions, guidelines or worked examples.

        A test compares each with released code or with values computed by hand. The ledger names the function
        and the test under ``implemented``, and any missing part under ``remaining``, ``implementation``.
        Raises the errors of :meth:`exhibit`.
        """
        for exhibit_id in exhibit_ids:
            remaining = exhibit(exhibit_id).remaining.get("implementation", "")
            with self.exhibit(exhibit_id, "definition", remaining=remaining, folded=True) as draft:
                if table is not None:
                    draft.table(table)

    def claim(self, name: str, *parts: bool | Check | None) -> HTML | None:
        """Record whether this build supports a claim of the page, and return a warning if it does not.

        Call it in the cell after the paragraph that makes the claim.

        Parameters
        ----------
        name : the claim's name on its page, in letters and underscores.
        parts : the parts of the claim: checks, or computed booleans, None if a part is inconclusive. The
            claim holds if all hold, fails if one fails, and is otherwise inconclusive.

        Returns
        -------
        HTML or None
            None if the claim holds, otherwise a box with the warning.
        """
        outcomes = [part.holds if isinstance(part, Check) else part for part in parts]
        # ``is False`` below needs booleans of Python, not of NumPy.
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
        name : the finding's id in ``headlines.yml``; raises KeyError for any other.
        evidence : the kind of data behind the numbers, one of
            :data:`~radeval_lib.study.verdicts.EVIDENCE`.
        holds : whether the numbers support the finding; None if they are inconclusive.
        rests_on : the names of the inputs on which the numbers rest
            (:meth:`radeval_lib.provenance.Inputs.of`); raises ResultError for an input that was not read.
        texts : the formatted number for each name in the finding's sentences; raises KeyError if one is
            missing.
        """
        entry, origin = results.headlines()[name], self.provenance(rests_on)
        f"{entry.text} {entry.line}".format(**texts)  # raises KeyError before anything is written
        numbers = results.HeadlineNumbers(evidence=evidence, holds=holds, texts=texts, provenance=origin)
        results.write_json(self.results_dir / f"headline_{name}.json", numbers.model_dump())


@dataclass
class OpenExhibit:
    """An exhibit that a page is rebuilding, yielded by :meth:`PageRun.exhibit`.

    ``rebuilt`` is the rebuilt table, if any; ``result`` is None until the ``with`` block has ended.
    """

    id: str
    checks: list[Check] = field(default_factory=list)
    rebuilt: pd.DataFrame | None = None
    samples: list[Sample] = field(default_factory=list)
    result: Result | None = None

    def add(self, new: Check | Iterable[Check]) -> list[Check]:
        """Add one or more checks, and return them as a list."""
        added = [new] if isinstance(new, Check) else list(new)
        self.checks += added
        return added

    def value(
        self, name: Key | str, printed: Printed | str, computed: Estimate | float, **settings: Any
    ) -> Check:
        """Add and return the check of a printed number (:func:`radeval_lib.study.checks.check_value`, whose
        errors are raised)."""
        return self.add(checks.check_value(name, printed, computed, **settings))[0]

    def states(self, name: Key | str, claim: str, computed: str, holds: bool | None, **options: Any) -> Check:
        """Add and return the check of a statement (:func:`radeval_lib.study.checks.check_statement`)."""
        return self.add(checks.check_statement(name, claim, computed, holds, **options))[0]

    def leads(
        self, name: Key | str, claim: str, values: Mapping[str, Printed | float], **settings: Any
    ) -> list[Check]:
        """Add and return the checks of a claim of superiority
        (:func:`radeval_lib.study.superiority.check_superiority`, whose errors are raised)."""
        return self.add(superiority.check_superiority(name, claim, values, **settings))

    def groups(self, frame: pd.DataFrame, **settings: Any) -> list[Check]:
        """Add and return one check per group of a printed table
        (:func:`radeval_lib.study.checks.check_groups`, whose errors are raised)."""
        return self.add(checks.check_groups(frame, **settings))

    def sample(self, n: float, cases: str, *, trainings: int = 0, draws: int = 0, resamples: int = 0) -> None:
        """Add the cases on which intervals and leads rest (:class:`radeval_lib.study.results.Sample`). ``n``
        is an integer, or a float with an integer value."""
        self.samples.append(Sample(int(n), cases, trainings, draws, resamples))

    def table(self, rebuilt: pd.DataFrame) -> None:
        """Set the rebuilt table, which is stored with the result and can be downloaded."""
        self.rebuilt = rebuilt


def begin(notebook: str, **parameters: Any) -> PageRun:
    """Return the run of a page, after setting the style of figures; parameters and errors are those of
    :func:`radeval_lib.study.runs.begin_job`."""
    plots.use_style()
    return runs.begin_job(notebook, run_class=PageRun, **parameters)


def show_quotes(exhibit_id: str) -> HTML:
    """Return the paper's words about an exhibit as HTML quotations; excerpts from one place are separated by
    an ellipsis.

    Raises
    ------
    LedgerError, PrintedError
        If the ledger has no such exhibit, or the exhibit has no quotations.
    """
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
    """End a page early, and show what it needs, if data for the rest are missing.

    Data are missing if one of the roles has no source or its source is not in the data root; and, unless
    ``generated`` is set, if its source is the generator. Later cells of the notebook then do nothing, and the
    book leaves them out.

    Parameters
    ----------
    roles : the data roles that the rest of the page needs, at least one.
    one_set : whether the page also ends if the roles have different data sets.
    dataset : a data set whose files the page reads itself; the page also ends if it is neither a source of
        the first role nor in the data root.
    generated : whether generated data suffice.

    Raises
    ------
    NotebookError, ProfileError
        If the page does not declare a role or ``dataset``, or the profile does not configure a role.
    ChecksumError
        If the file of ``dataset`` differs from its manifest entry.
    """
    insufficient = (ABSENT,) if generated else ("synthetic", ABSENT)
    if missing_roles := [role for role in roles if run.evidence(role) in insufficient]:
        clause = _NEED_CLAUSES.get(missing_roles[0], _REPORTS_CLAUSE)
        statement, reason = _CODE.sub(r"<code>\1</code>", clause), f"it {clause}"
    elif reason := _explain_early_end(run, roles, one_set, dataset):
        statement = _CODE.sub(r"<code>\1</code>", f"is left out: {escape(reason)}")
    else:
        return
    display(HTML(f"<p>The rest of this page {statement}.</p>"), metadata={ENDS_HERE: reason})
    display(provenance(run))
    if (shell := get_ipython()) is not None:
        shell.input_transformers_cleanup.append(lambda lines: [])  # every later cell becomes empty


def show_attempts(rows: Mapping[str, str]) -> HTML:
    """Return a folded table of attempts to refute a page's finding; ``rows`` maps attempts to results."""
    table = pd.DataFrame({"result": rows.values()}, index=list(rows))
    return folded(show(table, "What we tried against it"))


def _explain_early_end(run: PageRun, roles: Sequence[str], one_set: bool, dataset: str) -> str:
    """Return the clause that says which data a page lacks and why it ends early; empty if it lacks none.

    The parameters are those of :func:`only_with_data`.
    """
    if missing := "; ".join(filter(None, map(run.explain_absence, roles))):
        return missing
    sets = [registry.datasets_of(run.source_of("data", role)) for role in roles]
    if one_set and any(other != sets[0] for other in sets):
        sources = joined([f"{role!r} is {run.source(role)}" for role in roles])
        return f"it needs one data set for several roles, but here {sources}"
    if dataset and dataset not in sets[0] and run.find(dataset) is None:
        title = load_manifest(dataset).title.partition(":")[0]
        hint = f"`radbook data status {dataset}` says how to get it"
        return f"{title}, which it reads, is not in the data root. {hint}"
    return ""


def provenance(run: PageRun) -> HTML:
    """Return a folded table of the inputs of a page's numbers, below a sentence for each set of stored scores
    that the page reads; raise NotebookError if the page has read the numbers of a paper that it does not
    declare."""
    state = read_commit()
    rows = {
        "notebook": f'<a href="../../sources/{run.notebook}.md">notebooks/{run.notebook}.md</a>',
        "rebuild": f"<code>{command(run.notebook, run.profile.name)}</code>",
        "commit": f"{state['commit'] or 'unknown'}{' and changes' if state['dirty'] else ''}",
        "seed": str(run.seed),
        "threads": str(run.whole_profile.threads),
        "device": device(run.whole_profile.device),
    }
    run.require_papers()
    inputs = run.inputs.of()
    rows |= inputs["data"]
    for role, model in inputs["models"].items():
        rows[f"model: {role}"] = escape(", ".join(model.values()))
    frame = pd.DataFrame({"": rows.keys(), "value": rows.values()})
    body = table_html(frame, index=False, raw=("value",))
    sentences = []
    if any((ROOT / name).is_relative_to(RECORDED) for name in inputs["data"]):
        recordings = registry.module("radeval_lib.study.recordings")
        sources = [run.whole_profile.roles.get(role, "") for role in run.declared.data]
        sentences = recordings.sentences(recordings.sets_read(inputs["data"], sources))
    scored = "".join(f'<p class="scored">{escape(line)}</p>' for line in sentences)
    summary = "<summary>Provenance</summary>"
    return HTML(f'{scored}<details class="provenance">{summary}{body}</details>')


def glue(**values: str) -> None:
    """Store strings under names, so that the page's Markdown can insert them with ``{glue:text}`name```.

    Parameters
    ----------
    values : the strings by name, formatted as the page is to show them.

    Raises
    ------
    TypeError
        If a value is not a string, because a number would be shown with all its digits.
    """
    import myst_nb  # imported here because it loads Sphinx

    for name, value in values.items():
        if not isinstance(value, str):
            raise TypeError(f"glue({name}=...) got {type(value).__name__}; format it as a string")
        myst_nb.glue(name, value, display=False)


def phrase(estimate: Estimate, *, more: str, less: str, open: str) -> str:
    """Return the phrase for an estimate's interval: ``more`` if the interval is above 0, ``less`` if it is
    below 0, and ``open`` if it contains 0 or a bound is NaN."""
    return {True: more, False: less, None: open}[above(estimate.low, estimate.high)]
