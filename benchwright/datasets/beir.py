"""Collections in BEIR's layout, and dataset repositories with the configs of the same names."""

from pathlib import Path

from benchwright.datasets.collection import Loaded, Shortened, looked_over
from benchwright.datasets.named import brought, from_catalog, named
from benchwright.datasets.places import Where, open_place
from benchwright.datasets.reading import choose, parts_in, read_chosen
from benchwright.detection.collections import split_named
from benchwright.fetching.download import FetchLimits, Tell


def load_beir(
    where: Where,
    split: str = "test",
    *,
    graded: bool = True,
    max_docs: int | None = None,
    keep_judged: bool = True,
    seed: int = 0,
    cache: Path | str | None = None,
    limits: FetchLimits | None = None,
    progress: Tell | None = None,
) -> Loaded:
    """Return corpus, queries and the qrels of one split.

    Parameters
    ----------
    where
        A folder, zip or tar with `corpus.jsonl`, `queries.jsonl`, `qrels/*.tsv` (or their
        Parquet), a list of files, or a name: `beir:scifact`, `hub:owner/name`, `irds:beir/scifact`.
    graded
        False for corpus and queries without any qrels.
    max_docs, keep_judged, seed
        So many documents at most, drawn with a seed; those that the qrels name stay, unless
        `keep_judged` is False. A cut corpus makes every system look better, and `notes` says so.
    cache, limits
        Where a download is kept, and how much may come from where.
    progress
        Called with what is done, of how much (0: not known), and a sentence, while a named
        collection comes.

    Raises
    ------
    SplitMissingError, MissingFileError
        If there is no such split, or no corpus, queries or qrels.
    NothingMatchesError
        If no query of the qrels is among the queries.
    FileProblemsError, ArchiveError
        If a file cannot be read.
    """
    shortened = Shortened(max_docs, keep_judged, seed)
    named_collection = named(where)
    if named_collection and named_collection.kind == "irds":
        return looked_over(from_catalog(named_collection, graded=graded, tell=progress), shortened)
    place = brought(named_collection, cache, limits, progress) if named_collection else where
    with open_place(place) as source:
        name = split_named(split)
        parts = parts_in(source)
        chosen = choose(parts, name, place=source.name, graded=graded, has_own_queries=False)
        collection = read_chosen(place, source, chosen, name)
    return looked_over(collection, shortened)
