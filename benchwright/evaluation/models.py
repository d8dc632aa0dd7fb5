"""A model asked for results over a released benchmark: how good it is, and how quick.

A model is anything with `retrieve(text, k)`, or a function of the two. For a query it returns a
mapping of documents to scores, a list of (document, score) pairs, a list of mappings or objects
with a document id and a score, or a list of document ids, best first. With
`retrieve_many(texts, k)` it is asked for many queries at once.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import isnan
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, NoReturn

from benchwright.datasets.errors import NothingMatchesError
from benchwright.datasets.released import Released, read_released, released_of
from benchwright.errors import CutoffError, FileProblemsError, MeasureParameterError, ModelError
from benchwright.evaluation import shown
from benchwright.evaluation.evaluating import Evaluation, evaluate_hits
from benchwright.files.encodings import as_bytes
from benchwright.formats.side_tables import read_slices
from benchwright.measures import Measure, parse_measures
from benchwright.measures.registry import scored_name
from benchwright.reading.hits import judged_by
from benchwright.reading.memory import hits_of, take_qrels, take_run
from benchwright.reading.memory_columns import DOCUMENT, SCORE, plain_name
from benchwright.reading.scanning import GradeTable
from benchwright.statistics.descriptive import quantile
from benchwright.texts.counting import counted

if TYPE_CHECKING:
    import polars

Answer = list[tuple[Any, Any]]
"""Documents and scores, in the order of the model."""

Progress = Callable[[int, int], None]
"""Called with the queries done so far and all of them."""

EXPECTED = (
    "expected {document: score}, a list of (document, score), or a list of documents, best first"
)


@dataclass(frozen=True, slots=True)
class Asked:
    """The answers by query, and the seconds that each took."""

    answers: dict[str, Answer] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)


def ask(
    model: Any,
    queries: Sequence[tuple[str, str]],
    k: int,
    *,
    batch_size: int,
    progress: Progress | None = None,
) -> Asked:
    """Every query's answer; `queries` are ids and texts.

    Raises
    ------
    ModelError
        If the model fails, or returns what is no list of results; it names the query.
    """
    answers = Asked()
    is_batched = hasattr(model, "retrieve_many")
    for start in range(0, len(queries), batch_size if is_batched else 1):
        batch = queries[start : start + batch_size] if is_batched else queries[start : start + 1]
        begun = perf_counter()
        returned = _many(model, batch, k) if is_batched else [_one(model, batch[0], k)]
        took = (perf_counter() - begun) / len(batch)
        for query, answer in zip(batch, returned, strict=True):
            answers.answers[query[0]] = _answer(query, answer)
            answers.seconds.append(took)
        if progress:
            progress(len(answers.seconds), len(queries))
    return answers


def _one(model: Any, query: tuple[str, str], k: int) -> Any:
    retrieve = getattr(model, "retrieve", model)
    try:
        return retrieve(query[1], k)
    except Exception as error:
        raise _failed(query, error) from error


def _many(model: Any, batch: Sequence[tuple[str, str]], k: int) -> list[Any]:
    try:
        returned = list(model.retrieve_many([text for _, text in batch], k))
    except Exception as error:
        raise _failed(batch[0], error, f" and {len(batch) - 1} more") from error
    if len(returned) != len(batch):
        _refuse(
            batch[0], f"has {len(returned)} answers for {len(batch)} queries; expected one each"
        )
    return returned


def _failed(query: tuple[str, str], error: Exception, more: str = "") -> ModelError:
    reason = f"failed with {type(error).__name__}: {error}. Mend it, or catch this in retrieve"
    return ModelError(qid=query[0], text=f"{_shown(query[1])}{more}", reason=reason)


def _refuse(query: tuple[str, str], reason: str) -> NoReturn:
    raise ModelError(qid=query[0], text=_shown(query[1]), reason=reason)


def _shown(text: str) -> str:
    return f"'{text[:60]}{'…' if len(text) > 60 else ''}'"


def _answer(query: tuple[str, str], returned: Any) -> Answer:
    """The answer as pairs that score as a run's results do."""
    answer = _pairs(returned)
    if answer is None:
        _refuse(query, f"returned {str(returned)[:60]!r}; {EXPECTED}")
    try:
        take_run({query[0]: answer})
    except FileProblemsError as error:
        _refuse(query, f"returned what is no result: {error}")
    return answer


def _pairs(returned: Any) -> Answer | None:
    if isinstance(returned, Mapping):
        return list(returned.items())
    if isinstance(returned, str | bytes) or not isinstance(returned, Iterable):
        return None
    rows = list(returned)
    if all(isinstance(row, str | bytes) for row in rows):
        return [(docid, float(-place)) for place, docid in enumerate(rows, start=1)]
    pairs = [_pair(row) for row in rows]
    return None if None in pairs else [pair for pair in pairs if pair is not None]


def _pair(row: Any) -> tuple[Any, Any] | None:
    if isinstance(row, Mapping):
        return _named(row)
    if isinstance(row, Sequence) and not hasattr(row, "_fields") and len(row) == 2:
        return row[0], row[1]
    names = getattr(row, "_fields", None) or [name for name in dir(row) if name[0] != "_"]
    pair = _named({name: name for name in names})
    if pair is None:
        return (row[0], row[1]) if isinstance(row, Sequence) and len(row) == 2 else None
    return getattr(row, pair[0]), getattr(row, pair[1])


def _named(row: Mapping[str, Any]) -> tuple[Any, Any] | None:
    """The document and the score of a row by their names; `id` is a document's here."""
    documents = [row[name] for name in _known(row, (*DOCUMENT, "id"))]
    scores = [row[name] for name in _known(row, SCORE)]
    return (documents[0], scores[0]) if len(documents) == len(scores) == 1 else None


def _known(row: Mapping[str, Any], names: Sequence[str]) -> Iterator[str]:
    return (name for name in row if isinstance(name, str) and plain_name(name) in names)


OVERALL = "all"

Slices = Mapping[str, Collection[str | bytes]]


@dataclass(frozen=True, slots=True)
class SliceScores:
    """Means over some of the queries; `judged_share` is that of the results that were looked at.

    A mean is found by any name of its measure, and with `@K`, or without a cutoff, whatever its
    cutoff is: `scores["MRR"]`, `scores["nDCG@K"]`.
    """

    name: str
    n_queries: int
    means: Mapping[str, float]
    judged_share: float

    def __getitem__(self, name: str) -> float:
        return self.means[scored_name(name, self.means)]


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds per query: the middle one, and the one that 95 % do not pass.

    Where a model is asked for many queries at once, each has the mean of its batch.
    """

    p50: float
    p95: float
    is_batched: bool


@dataclass(frozen=True, slots=True, repr=False)
class ModelEvaluation:
    """What a model reached; printing it shows a table, `as_dict` is for JSON.

    `scores["head"]["nDCG@K"]` is a mean of a slice; `all` is every query, unless a slice has that
    name.
    """

    benchmark: str
    split: str
    k: int
    overall: SliceScores
    slices: Mapping[str, SliceScores]
    latency: Latency
    per_query: Mapping[str, Mapping[str, float]]
    answers: Mapping[str, Answer]
    notes: tuple[str, ...]

    def __getitem__(self, name: str) -> SliceScores:
        if name == OVERALL and name not in self.slices:
            return self.overall
        return self.slices[name]

    def __repr__(self) -> str:
        batched = ", asked in batches" if self.latency.is_batched else ""
        return "\n".join(
            [
                f"{self.benchmark}, split {self.split}: the first {self.k} of each query",
                *_table([self.overall, *self.slices.values()]),
                f"seconds a query: {self.latency.p50:.4f} median, "
                f"{self.latency.p95:.4f} at 95 %{batched}",
                *self.notes,
            ]
        )

    def _repr_html_(self) -> str:
        """A row a slice, as a notebook shows it."""
        rows = [self.overall, *self.slices.values()]
        head = f"{self.benchmark}, split {self.split}: the first {self.k} of each query"
        return shown.table(
            ["slice", "queries", *self.overall.means, "judged"],
            [
                [row.name, row.n_queries, *map(float, row.means.values()), row.judged_share]
                for row in rows
            ],
            notes=[head, *self.notes],
        )

    def to_frame(self) -> "polars.DataFrame":
        """A row a slice, as a frame of polars: `slice`, `n_queries`, each mean, `judged_share`."""
        return shown.polars_frame(self._rows())

    def to_pandas(self) -> Any:
        """As `to_frame`, of pandas."""
        return shown.pandas_frame(self._rows())

    def _rows(self) -> list[dict[str, Any]]:
        return [
            {
                "slice": of.name,
                "n_queries": of.n_queries,
                **of.means,
                "judged_share": of.judged_share,
            }
            for of in (self.overall, *self.slices.values())
        ]

    def as_dict(self) -> dict[str, Any]:
        """Everything but the answers, as JSON can hold it: an undefined number is None."""
        return {
            "benchmark": self.benchmark,
            "split": self.split,
            "k": self.k,
            "overall": _plain(self.overall),
            "slices": {name: _plain(scores) for name, scores in self.slices.items()},
            "latency": {
                "p50": self.latency.p50,
                "p95": self.latency.p95,
                "is_batched": self.latency.is_batched,
            },
            "per_query": {qid: _defined(values) for qid, values in self.per_query.items()},
            "notes": list(self.notes),
        }


def evaluate_model(
    model: Any,
    benchmark: Any,
    k: int = 10,
    *,
    split: str | None = None,
    slices: Slices | Path | str | None = None,
    measures: Iterable[str | Measure] | None = None,
    ties: str = "trec",
    batch_size: int = 32,
    progress: Progress | None = None,
) -> ModelEvaluation:
    """How good a model's first `k` results are, overall and on every slice.

    Parameters
    ----------
    model
        Something with `retrieve(text, k)` or `retrieve_many(texts, k)`, or a function `(text, k)`.
        Its higher scores are better.
    benchmark
        A release, as a folder or zip in BEIR's layout; or an object whose `slices` maps names to
        queries, each with `text` and `relevant` (documents, or documents with grades).
    split
        Whose qrels; the only one, or `test`, unless named. Only queries that it grades are asked.
    slices
        Queries of each slice, or a table of query and slice; the benchmark's own `slices.tsv`
        unless given.
    measures
        nDCG, RR and R at `k` unless given. A grade is relevant from where the release's scale says
        so (its `manifest.json`), or from 1.
    batch_size
        How many queries `retrieve_many` is asked for at once.

    Raises
    ------
    ModelError
        If the model fails, or returns what is no list of results; it names the query.
    MissingFileError, FileProblemsError, ArchiveError, BenchmarkObjectError
        If the benchmark cannot be read.
    NothingMatchesError
        If no query of the qrels is among the queries.
    CutoffError, MeasureParameterError, UnknownMeasureError
        If a measure is none, or looks at more results than `k`.
    """
    if k < 1:
        raise CutoffError(cutoff=k)
    if hasattr(benchmark, "slices"):
        released = released_of(benchmark)
    else:
        released = read_released(Path(benchmark), split)
    names = _measures(measures, k, released.threshold)
    queries = [(qid, released.texts[qid]) for qid in released.qrels if qid in released.texts]
    if not queries and released.qrels:
        graded = counted(len(released.qrels), "query")
        problem = f"none of the {graded} of the qrels has a text. Look whether both are of one set."
        raise NothingMatchesError(place=released.name, said=problem)
    table = GradeTable(take_qrels(released.qrels).content)
    answers = ask(model, queries, k, batch_size=max(1, batch_size), progress=progress)

    evaluation = evaluate_hits(
        judged_by(table.judged, released.unlisted),
        hits_of(answers.answers, table.grades, ties=ties, depth=k).content,
        parse_measures([*names, f"Judged@{k}"]),
        allow_empty=True,
        top_grade=released.top_grade,
    )
    return ModelEvaluation(
        benchmark=released.name,
        split=released.split,
        k=k,
        overall=_scores(OVERALL, evaluation, table.judged),
        slices={
            name: _scores(name, evaluation, members)
            for name, members in _members(slices, released, table).items()
        },
        latency=_latency(answers.seconds, is_batched=hasattr(model, "retrieve_many")),
        per_query=evaluation.with_text_ids().per_query,
        answers=answers.answers,
        notes=tuple(_notes(released, answers.answers)),
    )


def _measures(
    measures: Iterable[str | Measure] | None, k: int, threshold: int
) -> tuple[Measure, ...]:
    rel = f"(rel={threshold})" if threshold != 1 else ""
    parsed = parse_measures(measures or (f"nDCG@{k}", f"RR{rel}@{k}", f"R{rel}@{k}"))
    for measure in parsed:
        if isinstance(measure.cutoff, int) and measure.cutoff > k:
            reason = f"looks at {measure.cutoff} results, and the model is asked for {k}. Raise k."
            raise MeasureParameterError(name=str(measure), reason=reason)
    return parsed


def _members(
    slices: Slices | Path | str | None, released: Released, table: GradeTable
) -> dict[str, list[bytes]]:
    """Graded queries of each slice that has any."""
    if slices is None:
        named: Slices = released.slices
    elif isinstance(slices, Mapping):
        named = slices
    else:
        named = read_slices(Path(slices))
    members = {
        name: [qid for qid in dict.fromkeys(map(as_bytes, qids)) if qid in table.judged]
        for name, qids in named.items()
    }
    return {name: qids for name, qids in members.items() if qids}


def _scores(name: str, evaluation: Evaluation[bytes], members: Collection[bytes]) -> SliceScores:
    """The means over some of the queries, of the values that all of them have."""
    *measures, judged = (
        (
            str(measure),
            measure.over_all([evaluation.per_query[qid][str(measure)] for qid in members]),
        )
        for measure in evaluation.measures
    )
    return SliceScores(name, len(members), means=dict(measures), judged_share=judged[1])


def _latency(seconds: Sequence[float], *, is_batched: bool) -> Latency:
    ordered = sorted(seconds)
    return Latency(quantile(ordered, 0.5), quantile(ordered, 0.95), is_batched)


def _notes(released: Released, answers: Mapping[str, Answer]) -> Iterator[str]:
    unanswered = sum(not answer for answer in answers.values())
    if unanswered:
        verb = "was" if unanswered == 1 else "were"
        yield f"{counted(unanswered, 'query')} {verb} answered with nothing; each counts 0."
    textless = len(released.qrels.keys() - released.texts.keys())
    if textless:
        have, were, count = ("has", "was", "counts") if textless == 1 else ("have", "were", "count")
        queries = counted(textless, "query")
        yield f"{queries} of the qrels {have} no text, {were} not asked, and {count} 0."
    rising = sum(_rises(answer) for answer in answers.values())
    if rising:
        yield (
            f"{rising} answers begin with a lower score than follows; the higher score is the "
            "better one here. Negate scores that are distances."
        )


def _rises(answer: Answer) -> bool:
    return any(after > before for (_, before), (_, after) in pairwise(answer))


# --- for people and for JSON ---------------------------------------------------------------


def _table(rows: Sequence[SliceScores]) -> Iterator[str]:
    names = list(rows[0].means)
    cells = [["slice", "queries", *names, "judged"]]
    for row in rows:
        numbers = (*row.means.values(), row.judged_share)
        cells.append([row.name, f"{row.n_queries:,}", *(f"{number:.4f}" for number in numbers)])
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        padded = [cell.rjust(width) for cell, width in zip(line, widths, strict=True)]
        padded[0] = line[0].ljust(widths[0])
        yield "  ".join(padded)


def _plain(scores: SliceScores) -> dict[str, Any]:
    return {
        "n_queries": scores.n_queries,
        "means": _defined(scores.means),
        **_defined({"judged_share": scores.judged_share}),
    }


def _defined(values: Mapping[str, float]) -> dict[str, float | None]:
    return {name: None if isnan(value) else value for name, value in values.items()}
