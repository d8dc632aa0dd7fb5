"""Case sets of a run: its queries as requests, the first documents it has for each as nodes.

A job makes one, some documents at a time. The set keeps what it was made of, so that it can say
whether it still is what would be made today.
"""

import shutil
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from random import Random
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.db import transaction

from benchmarks_app.common.selectors.images import (
    EXTENSIONS,
    images_asked_about,
    query_images_asked_about,
)
from benchmarks_app.common.selectors.reading import corpus_documents, run_path
from benchmarks_app.common.services import audit
from benchmarks_app.jobs.services import jobs
from benchmarks_app.jobs.services.jobs import RunningJob
from benchmarks_app.models import CorpusVersion, Job, Query, Run, Slice, User
from benchmarks_app.queries.selectors import sliceable_queries
from benchmarks_app.slices.selectors import confirmed_members
from benchwright.contextual.cases import ALL, CASE_LIMITS, MAX_ID, MAX_SLICES
from benchwright.corpora.store import StoredDocument
from benchwright.files.external_sort import batched
from benchwright.ids import storable
from benchwright.judges.messages import KeptImage
from benchwright.recipes.parameters import MAX_SEED
from benchwright.runs.store import query_ids, tops_of
from benchwright.texts.counting import counted
from scoring.contextual.selectors import QUERY_FIELDS, answer_columns, answer_of, cases_digest
from scoring.contextual.services.errors import CaseSetNameError, CasesOfRunError
from scoring.contextual.services.images import store_images
from scoring.contextual.services.importing import create_set
from scoring.models import CaseSet, CaseSource, ContextualCase

JOB_KIND = "cases-of-run"
DOCUMENTS_AT_ONCE = 2_000
ANY_ANSWER = "(No expected answer was written down: any correct answer to the input.)"


@dataclass(frozen=True)
class Recipe:
    """How cases are made of a run: all queries, those of a slice, or a sample of either."""

    depth: int = 10
    slice_name: str = ""
    n_sample: int | None = None
    seed: int | None = None
    expected: str = ""

    def with_seed(self) -> "Recipe":
        """A sample has a seed, a new one where none was given; what is no sample has none."""
        if self.n_sample is None:
            return replace(self, seed=None)
        seed = Random(uuid4().int).randint(0, MAX_SEED) if self.seed is None else self.seed
        return replace(self, seed=seed)


# --- starting --------------------------------------------------------------------------------


@transaction.atomic
def start_cases_of_run(*, run: Run, user: User, name: str = "", **recipe: Any) -> Job:
    """Start a job that makes a case set of a run; `recipe` is what `Recipe` holds.

    Raises
    ------
    CaseSetNameError
        If the name is in use.
    CasesOfRunError
        If the corpus has no texts, or there is no such slice or source of answers.
    """
    arguments = cases_arguments(run=run, name=name, **recipe)
    return jobs.start(benchmark=run.benchmark, user=user, **arguments)


def cases_arguments(*, run: Run, name: str = "", **recipe: Any) -> dict[str, Any]:
    """What `jobs.start` or `jobs.run_here` need to make a case set of a run."""
    case_recipe = Recipe(**recipe).with_seed()
    _refuse_impossible(run, case_recipe)
    name = name.strip() or _free_name(run, case_recipe)
    if CaseSet.objects.filter(benchmark=run.benchmark, name=name).exists():
        raise CaseSetNameError(name=name)
    parameters = {"run": run.pk, "name": name, "recipe": asdict(case_recipe)}
    return {"kind": JOB_KIND, "title": f"Make cases of '{run}'", "parameters": parameters}


def _refuse_impossible(run: Run, recipe: Recipe) -> None:
    benchmark = run.benchmark
    if benchmark.current_corpus_version is None or not benchmark.corpus.has_texts:
        reason = f"{benchmark.corpus} has no texts that a judge could read. Import its documents."
        raise CasesOfRunError(reason=reason)
    slices = Slice.objects.filter(benchmark=benchmark)
    if recipe.slice_name and not slices.filter(name=recipe.slice_name).exists():
        raise CasesOfRunError(reason=f"There is no slice '{recipe.slice_name}'. Choose another.")
    if recipe.expected and not _says(run, recipe.expected):
        there = ", ".join(answer_columns(benchmark)) or "none"
        raise CasesOfRunError(
            reason=f"No query has '{recipe.expected}'; fields that hold a text: {there}."
        )


def _says(run: Run, expected: str) -> bool:
    """Whether any query has something under a column or field."""
    queries = sliceable_queries(run.benchmark)
    if expected in QUERY_FIELDS:
        return queries.exclude(**{expected: ""}).exists()
    return queries.filter(metadata__has_key=expected).exists()


def _free_name(run: Run, recipe: Recipe) -> str:
    which = [f"first {recipe.depth}"]
    which += [recipe.slice_name] if recipe.slice_name else []
    which += [f"sample of {recipe.n_sample}"] if recipe.n_sample else []
    name, n = f"{run.name[:60]}, {', '.join(which)}"[:110], 1
    names = frozenset(run.benchmark.case_sets.values_list("name", flat=True))
    free = name
    while free in names:
        n += 1
        free = f"{name} ({n})"
    return free


# --- choosing --------------------------------------------------------------------------------


def _chosen(run: Run, recipe: Recipe) -> tuple[list[str], int]:
    """The ids of the queries, by their bytes, and how many of the choice the run has nothing for.

    Raises
    ------
    CasesOfRunError
        If there are none, or more than a set may have.
    """
    queries = sliceable_queries(run.benchmark)
    if recipe.slice_name:
        slices = Slice.objects.filter(benchmark=run.benchmark, name=recipe.slice_name)
        queries = queries.filter(pk__in=confirmed_members(slices).values("query"))
    there = frozenset(queries.values_list("qid", flat=True).iterator(chunk_size=10_000))
    answered = [qid for qid in query_ids(run_path(run)) if qid in there]
    if not answered:
        which = f"of the slice '{recipe.slice_name}'" if recipe.slice_name else "of the collection"
        raise CasesOfRunError(reason=f"{run} has nothing for any query {which}.")
    n_lacking = len(there) - len(answered)
    if recipe.n_sample is not None and recipe.n_sample < len(answered):
        drawn = Random(recipe.seed).sample(answered, recipe.n_sample)
        answered = sorted(drawn, key=str.encode)
    if len(answered) > settings.CASES_MAX:
        reason = f"{len(answered):,} queries; a set holds at most {settings.CASES_MAX:,} cases."
        raise CasesOfRunError(reason=f"{reason} Draw a sample.")
    return answered, n_lacking


# --- making ----------------------------------------------------------------------------------


def make_cases_of_run(job: RunningJob) -> None:
    """The handler: chooses the queries, and writes their cases in batches."""
    run = Run.objects.select_related("benchmark__corpus").get(pk=job.parameters["run"])
    recipe = Recipe(**job.parameters["recipe"])
    version = run.benchmark.current_corpus_version
    if version is None:
        raise CasesOfRunError(reason=f"{run.benchmark.corpus} has no documents any more.")
    job.progress(0, 0, "choosing the queries")
    qids, n_lacking = _chosen(run, recipe)
    case_set = _begun(job, run, version, recipe, len(qids))
    making = _Making(job, case_set, run, version, recipe)
    for batch in batched(qids, max(1, DOCUMENTS_AT_ONCE // recipe.depth)):
        cases = making.cases(batch)
        with job.fenced():
            ContextualCase.objects.bulk_create(cases, batch_size=200)
        job.progress(making.n_cases, len(qids), "writing the cases")
    notes = making.notes(n_lacking)
    with job.commit() as result:
        CaseSet.objects.filter(pk=case_set.pk).update(
            is_ready=True,
            staged_by=None,
            n_nodes=making.n_nodes,
            n_images=len(making.digests),
            slices=dict(sorted(making.slices.items())),
            notes=notes,
        )
        CaseSource.objects.filter(case_set=case_set).update(n_without=making.n_without)
        audit.record(
            actor=job.row.created_by,
            action="import-cases",
            benchmark=run.benchmark,
            target=case_set.name,
            n=len(qids),
        )
        result["made"] = [f"case set '{case_set.name}' of {counted(len(qids), 'case')}"]
        result["notes"] = notes
        result["url"] = case_set.get_absolute_url()


def _begun(
    job: RunningJob, run: Run, version: CorpusVersion, recipe: Recipe, n_cases: int
) -> CaseSet:
    """The set without its cases, which nobody sees yet, and what it is made of."""
    case_set = CaseSet(
        benchmark=run.benchmark,
        name=job.parameters["name"],
        file_name="",
        sha256=cases_digest(run=run.sha256, corpus=version.sha256, recipe=astuple(recipe)),
        n_cases=n_cases,
        n_nodes=0,
        created_by=job.row.created_by,
        staged_by=job.row.pk,
    )
    create_set(job, case_set)
    with job.fenced():
        CaseSource.objects.create(
            case_set=case_set,
            run=run,
            run_sha256=run.sha256,
            corpus_version=version,
            **asdict(recipe),
        )
    return case_set


class _Making:
    """Makes the cases of some queries at a time, and counts what is to be said of all of them."""

    def __init__(
        self, job: RunningJob, case_set: CaseSet, run: Run, version: CorpusVersion, recipe: Recipe
    ) -> None:
        self.job, self.case_set, self.run = job, case_set, run
        self.version, self.recipe = version, recipe
        self.n_cases = self.n_nodes = self.n_without = self.n_unknown = self.n_cut = 0
        self.slices: Counter[str] = Counter()
        # Of images that the set has a copy of.
        self.digests: set[str] = set()

    def cases(self, qids: Sequence[str]) -> list[ContextualCase]:
        tops = tops_of(run_path(self.run), qids, self.recipe.depth)
        docids = {docid for ranked in tops.values() for docid in ranked}
        documents = corpus_documents(self.version, docids)
        images = images_asked_about(self.run.benchmark, docids)
        self._copy(image for of_document in images.values() for image in of_document)
        nodes = {docid: self._node(documents.get(docid), images.get(docid, ())) for docid in docids}
        rows = Query.objects.filter(benchmark=self.run.benchmark, qid__in=qids)
        queries = {query.qid: query for query in rows}
        pictured = query_images_asked_about(self.run.benchmark, queries.values())
        self._copy(image for of_query in pictured.values() for image in of_query)
        slices = _slices_of(self.run, qids)
        return [
            self._case(
                queries[qid],
                [{"image": _name_of(image)} for image in pictured[qid]],
                [nodes[docid] for docid in tops[qid]],
                slices.get(qid, []),
            )
            for qid in qids
        ]

    def _copy(self, images: Iterable[KeptImage]) -> None:
        """Give the set the images that it has not yet: they go with it, and with no other."""
        fresh = {image.sha256: image for image in images if image.sha256 not in self.digests}
        for digest, image in fresh.items():
            shutil.copyfile(image.path, self.job.folder / digest)
        named = [replace(image, name=_name_of(image)) for image in fresh.values()]
        store_images(self.job, self.case_set, named)
        for digest in fresh:
            (self.job.folder / digest).unlink()
        self.digests.update(fresh)

    def _node(self, document: StoredDocument | None, images: Sequence[KeptImage]) -> list[Any]:
        """Images, then title and text; where the corpus lacks the document, an empty text."""
        self.n_unknown += document is None
        words = (document.title, document.text) if document else ()
        text = "\n".join(part for part in words if part)
        self.n_cut += len(text) > CASE_LIMITS.max_characters
        pictures = [{"image": _name_of(image)} for image in images]
        return [*pictures, text[: CASE_LIMITS.max_characters]] if text or not pictures else pictures

    def _case(
        self,
        query: Query,
        pictured: list[dict[str, str]],
        nodes: list[list[Any]],
        slices: list[str],
    ) -> ContextualCase:
        expected = self.recipe.expected
        answer = answer_of(query, expected)[: CASE_LIMITS.max_characters] if expected else ""
        is_name = len(query.qid) <= MAX_ID and query.qid.isprintable()
        words = query.text if query.text.strip() else "" if pictured else query.qid
        question = [*pictured, *([words] if words else [])]
        content: dict[str, Any] = {
            "id": query.qid if is_name else f"query-{query.pk}",
            "input": question,
            "expected_output": [answer or ANY_ANSWER],
            "retrieval_context": nodes,
            **({"slices": slices} if slices else {}),
        }
        self.n_cases += 1
        self.n_nodes += len(nodes)
        self.n_without += not answer
        self.slices.update(slices)
        texts = [*_texts_of([question]), *content["expected_output"], *_texts_of(nodes)]
        return ContextualCase(
            case_set=self.case_set,
            number=self.n_cases,
            case_id=str(content["id"]),
            query=query,
            content=storable(content),
            slices=slices,
            n_nodes=len(nodes),
            n_bytes=sum(len(text.encode()) for text in texts),
            n_images=sum(map(len, [question, *nodes])) - len(_texts_of([question, *nodes])),
        )

    def notes(self, n_lacking: int) -> list[str]:
        """What is worth knowing of the set, in sentences."""
        n_wanted, limit = self.recipe.n_sample or 0, CASE_LIMITS.max_characters
        sentences = {
            f"The sample was to have {n_wanted:,} queries; there are fewer.": n_wanted
            > self.n_cases,
            f"{self.run} has nothing for {counted(n_lacking, 'query')}: "
            f"{'it is' if n_lacking == 1 else 'they are'} left out.": n_lacking,
            f"{self.n_without:,} of {self.n_cases:,} cases have no expected answer: what leads to "
            "any correct one helps.": self.n_without,
            f"{self._counted(self.n_unknown)} not in the corpus: their nodes are empty.": (
                self.n_unknown
            ),
            f"{self._counted(self.n_cut)} cut at {limit:,} characters.": self.n_cut,
        }
        return [sentence for sentence, is_so in sentences.items() if is_so]

    @staticmethod
    def _counted(n: int) -> str:
        return f"{counted(n, 'document')} {'is' if n == 1 else 'are'}"


def _name_of(image: KeptImage) -> str:
    return f"{image.sha256}.{EXTENSIONS[image.media_type]}"


def _texts_of(nodes: Iterable[list[Any]]) -> list[str]:
    return [part for node in nodes for part in node if isinstance(part, str)]


def _slices_of(run: Run, qids: Sequence[str]) -> dict[str, list[str]]:
    """{query id: names of its slices}, as many as a case may have."""
    members = confirmed_members(Slice.objects.filter(benchmark=run.benchmark))
    of_batch = members.filter(query__qid__in=qids).exclude(slice__name=ALL)
    names: dict[str, list[str]] = {}
    for qid, name in of_batch.order_by("slice__name").values_list("query__qid", "slice__name"):
        names.setdefault(qid, []).append(name[:MAX_ID])
    return {qid: of[:MAX_SLICES] for qid, of in names.items()}
