"""What a new snapshot of a corpus changes: two sorted files, read side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from benchwright.corpora.store import CorpusReader

EXAMPLES = 10
# Documents compared so far, of about how many.
Progress = Callable[[int, int], None]


@dataclass(slots=True)
class Difference:
    """Counts of documents, ids of the first few of each, and which watched ones are touched.

    `changed` have another title or text, `described` other metadata or another parent alone.
    A watched id is that of a document, or of the document that passages are of: it has `moved`
    if anything it says has changed, and is `gone` if nothing of it is left.
    """

    n_added: int = 0
    n_changed: int = 0
    n_described: int = 0
    n_removed: int = 0
    n_unchanged: int = 0
    examples: dict[str, list[str]] = field(default_factory=dict)
    moved: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)


def difference(
    before: CorpusReader,
    after: CorpusReader,
    *,
    watched: Set[str] = frozenset(),
    progress: Progress | None = None,
) -> Difference:
    """Return what `after` changes of `before`; a few row groups are in memory."""
    changes = Difference()
    total = max(before.n_documents, after.n_documents)
    n_seen = 0
    for both in _side_by_side(before, after):
        n_seen += len(both)
        _count(both, changes, watched)
        if progress:
            progress(min(n_seen, total), total)
    touched, changes.moved = changes.moved, set()
    lacking = after.missing(touched) & after.missing_parents(touched)
    changes.moved, changes.gone = touched - lacking, lacking
    return changes


def _side_by_side(before: CorpusReader, after: CorpusReader) -> Iterator[pl.DataFrame]:
    """Yield the rows of both, joined by id, a range of ids at a time."""
    olds, news = _Rows(before), _Rows(after)
    while True:
        ends = [rows.last for rows in (olds, news) if rows.last is not None]
        if not ends:
            return
        end = min(ends, key=str.encode)
        old, new = olds.up_to(end), news.up_to(end)
        yield old.join(new, on="docid", how="full", coalesce=True, suffix="_new")


class _Rows:
    """The rows of one corpus that have not been given yet."""

    def __init__(self, reader: CorpusReader) -> None:
        import polars as pl

        self._frames = reader.frames()
        self._parent = [] if reader.has_parents else [pl.lit("").alias("parent")]
        self._rest: pl.DataFrame | None = None
        self._fill()

    @property
    def last(self) -> str | None:
        return None if self._rest is None else self._rest[-1, "docid"]

    def _fill(self) -> None:
        import polars as pl

        frame = next(self._frames, None)
        more = [*self._parent, pl.lit(value=True).alias("is_there")]
        self._rest = None if frame is None else frame.with_columns(*more)

    def up_to(self, end: str) -> pl.DataFrame:
        """Take the rows whose id is `end` or before it."""
        import polars as pl

        if self._rest is None:
            return _no_rows()
        whole = self._rest
        is_before = whole["docid"] <= end
        n = int(is_before.sum())
        if n == len(whole):
            self._fill()
        else:
            self._rest = whole[n:]
        return whole[:n].select("docid", pl.exclude("docid"))


def _no_rows() -> pl.DataFrame:
    import polars as pl

    texts = dict.fromkeys(("docid", "title", "text", "metadata", "parent"), pl.String())
    return pl.DataFrame(schema={**texts, "is_there": pl.Boolean()})


def _count(both: pl.DataFrame, changes: Difference, watched: Set[str]) -> None:
    import polars as pl

    def differs(*columns: str) -> pl.Expr:
        return pl.any_horizontal(pl.col(c).ne_missing(pl.col(f"{c}_new")) for c in columns)

    is_old, is_new = pl.col("is_there").is_not_null(), pl.col("is_there_new").is_not_null()
    kinds = both.select(
        "docid",
        pl.col("parent"),
        pl.col("parent_new"),
        pl.when(~is_old)
        .then(pl.lit("added"))
        .when(~is_new)
        .then(pl.lit("removed"))
        .when(differs("title", "text"))
        .then(pl.lit("changed"))
        .when(differs("metadata", "parent"))
        .then(pl.lit("described"))
        .otherwise(pl.lit("unchanged"))
        .alias("kind"),
    )
    counts = dict(kinds.group_by("kind").len().iter_rows())
    changes.n_added += counts.get("added", 0)
    changes.n_changed += counts.get("changed", 0)
    changes.n_described += counts.get("described", 0)
    changes.n_removed += counts.get("removed", 0)
    changes.n_unchanged += counts.get("unchanged", 0)
    touched = kinds.filter(pl.col("kind") != "unchanged")
    for kind in ("added", "changed", "described", "removed"):
        examples = changes.examples.setdefault(kind, [])
        lacking = EXAMPLES - len(examples)
        if counts.get(kind) and lacking:
            examples += touched.filter(pl.col("kind") == kind)["docid"].head(lacking).to_list()
    if watched:
        _watch(touched, changes, watched)


def _watch(touched: pl.DataFrame, changes: Difference, watched: Set[str]) -> None:
    for docid, parent, parent_new, kind in touched.iter_rows():
        # Metadata alone is not what a label was given for; another parent is.
        if kind == "described" and parent == parent_new:
            continue
        if docid in watched and kind in {"changed", "removed"}:
            changes.moved.add(docid)
        changes.moved.update({parent, parent_new} & watched)
