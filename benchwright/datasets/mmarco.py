"""MS MARCO's passages and mMARCO's translations: collection, queries and qrels as tables."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from benchwright.datasets.collection import Loaded, Shortened, looked_over
from benchwright.datasets.errors import LanguageMissingError
from benchwright.datasets.named import brought, from_catalog, named
from benchwright.datasets.naming import language_named, language_of_member, listed
from benchwright.datasets.places import Where, open_place
from benchwright.datasets.reading import choose, parts_in, read_chosen
from benchwright.detection import DOCUMENT_KINDS, FileKind, Part
from benchwright.detection.collections import split_named
from benchwright.fetching.download import FetchLimits, Tell

# Files of MS MARCO itself say no language.
UNNAMED = "en"
QUERY_KINDS = (FileKind.QUERIES, FileKind.TOPICS)


def load_mmarco(
    where: Where,
    doc_lang: str | None = None,
    query_lang: str | None = None,
    split: str = "dev",
    *,
    graded: bool = True,
    max_docs: int | None = None,
    keep_judged: bool = True,
    seed: int = 0,
    cache: Path | str | None = None,
    limits: FetchLimits | None = None,
    progress: Tell | None = None,
) -> Loaded:
    """Return the passages of one language, the queries of the same or another one, and the qrels.

    Parameters
    ----------
    where
        A folder, archive or list of files with `german_collection.tsv`, `german_queries.dev.tsv`
        and `qrels.dev.tsv`, or MS MARCO's own `collection.tsv`, `queries.dev.tsv`; or a name, such
        as `irds:mmarco/v2/de/dev/small`. mMARCO has no qrels of its own: MS MARCO's belong beside
        it, for the ids are the same in all languages.
    doc_lang, query_lang
        Language of the passages and of the queries, by code or in English; files without a
        language in their name are English. Needed where there are several; `query_lang` is
        `doc_lang` where it is not said.
    split
        `dev`, `dev.small`, `train`, as the qrels' file is called. Queries are taken from the file
        of the same name, or from the larger one (`dev` for `dev.small`).
    graded, max_docs, keep_judged, seed, cache, limits, progress
        As for `load_beir`.

    Raises
    ------
    LanguageMissingError
        If there is no such language, or several and none was named.
    SplitMissingError, MissingFileError, NothingMatchesError, FileProblemsError, ArchiveError
        As `load_beir`.
    """
    shortened = Shortened(max_docs, keep_judged, seed)
    named_collection = named(where)
    if named_collection and named_collection.kind == "irds":
        return looked_over(from_catalog(named_collection, graded=graded, tell=progress), shortened)
    place = brought(named_collection, cache, limits, progress) if named_collection else where
    with open_place(place) as source:
        parts, language = _of_languages(parts_in(source), doc_lang, query_lang, source.name)
        name = split_named(split)
        chosen = choose(parts, name, place=source.name, graded=graded)
        collection = read_chosen(place, source, chosen, name)
    collection.lang = language
    return looked_over(collection, shortened)


def _of_languages(
    parts: Sequence[Part], doc_lang: str | None, query_lang: str | None, place: str
) -> tuple[list[Part], str]:
    """The collection of one language and the queries of another; and the queries' language."""
    documents = [part for part in parts if part.kind in DOCUMENT_KINDS]
    queries = [part for part in parts if part.kind in QUERY_KINDS]
    others = [part for part in parts if part not in documents and part not in queries]
    of_documents = _chosen(documents, doc_lang, "doc_lang", place)
    of_queries = _chosen(queries, query_lang or of_documents, "query_lang", place)
    chosen = [part for part in documents if _language(part) == of_documents]
    chosen += [part for part in queries if _language(part) == of_queries]
    return chosen + others, of_queries


def _chosen(parts: Iterable[Part], lang: str | None, argument: str, place: str) -> str:
    there = {_language(part) for part in parts}
    language = language_named(lang) if lang else next(iter(there), "") if len(there) < 2 else ""
    if there and language not in there:
        what = "passages" if argument == "doc_lang" else "queries"
        reason = f"no {what} are in '{lang}'" if lang else f"{what} are in several languages"
        raise LanguageMissingError(
            place=place, reason=reason, there=listed(there), argument=argument, example=min(there)
        )
    return language


def _language(part: Part) -> str:
    return language_of_member(part.member) or UNNAMED
