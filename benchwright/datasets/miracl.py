"""MIRACL: topics and qrels as TSV, a corpus as JSON lines, or rows with judged passages."""

from collections.abc import Sequence
from pathlib import Path

from benchwright.datasets.collection import Loaded, Shortened, looked_over
from benchwright.datasets.errors import LanguageMissingError
from benchwright.datasets.named import brought, from_catalog, named
from benchwright.datasets.naming import language_named, language_of_member, listed
from benchwright.datasets.places import Where, open_place, paths_of
from benchwright.datasets.reading import choose, parts_in, read_chosen
from benchwright.detection import DOCUMENT_KINDS, Part
from benchwright.detection.collections import split_named
from benchwright.fetching.download import FetchLimits, Tell

HIDES = "MIRACL"


def load_miracl(
    where: Where,
    lang: str | None = None,
    split: str = "dev",
    *,
    corpus: Path | str | None = None,
    graded: bool = True,
    max_docs: int | None = None,
    keep_judged: bool = True,
    seed: int = 0,
    cache: Path | str | None = None,
    limits: FetchLimits | None = None,
    progress: Tell | None = None,
) -> Loaded:
    """Return the passages, the queries and the grades of one language and split.

    Grades are 1 of relevant passages and 0 of those that were judged and are not relevant; both are
    in the qrels, and only the first are ever relevant.

    Parameters
    ----------
    where
        A folder, archive or list of files with `topics.miracl-v1.0-sw-dev.tsv` and its qrels, or
        with rows of positive and negative passages; or a name, such as `irds:miracl/sw/dev`.
    lang
        Code of the language; needed where there are several.
    corpus
        Folder or file of the corpus (`docs-0.jsonl.gz`), which MIRACL has in a repository of its
        own. Without it the judged passages are all there is, and `notes` says what that does.
    split, graded
        `train` or `dev`; the grades of `test-a` and `test-b` are not published, and their queries
        come with `graded=False`.
    max_docs, keep_judged, seed, cache, limits, progress
        As for `load_beir`.

    Raises
    ------
    LanguageMissingError
        If there is no such language, or several and none was named.
    HiddenQrelsError
        If the split has queries, and no grades anywhere.
    SplitMissingError, MissingFileError, NothingMatchesError, FileProblemsError, ArchiveError
        As `load_beir`.
    """
    shortened = Shortened(max_docs, keep_judged, seed)
    named_collection = named(where)
    if named_collection and named_collection.kind == "irds":
        return looked_over(
            from_catalog(named_collection, graded=graded, hides=HIDES, tell=progress), shortened
        )
    place: Where = brought(named_collection, cache, limits, progress) if named_collection else where
    place = place if corpus is None else [*paths_of(place), corpus]
    with open_place(place) as source:
        parts, language = _of_language(parts_in(source), lang, source.name)
        name = split_named(split)
        chosen = choose(parts, name, place=source.name, graded=graded, hides=HIDES)
        collection = read_chosen(place, source, chosen, name)
    collection.lang = language
    return looked_over(collection, shortened)


def _of_language(parts: Sequence[Part], lang: str | None, place: str) -> tuple[list[Part], str]:
    """The files of one language, and those whose names say none."""
    others = [part for part in parts if part.kind not in DOCUMENT_KINDS]
    there = {language_of_member(part.member) for part in others} - {""}
    language = language_named(lang) if lang else next(iter(there), "") if len(there) < 2 else ""
    if there and language not in there:
        reason = f"there is nothing of '{lang}'" if lang else "there are several languages"
        raise LanguageMissingError(
            place=place,
            reason=reason,
            there=listed(there),
            argument="lang",
            example=min(there),
        )
    return [part for part in parts if language_of_member(part.member) in (language, "")], language
