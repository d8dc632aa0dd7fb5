"""What a model returns for a query, whatever shape it has, as documents and scores."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, NoReturn

from benchwright.errors import FileProblemsError, ModelError
from benchwright.reading.memory import take_run
from benchwright.reading.memory_columns import DOCUMENT, SCORE, plain_name

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
