"""Searching a corpus of any length by words: BM25 in a file, by SQLite's FTS5.

An index for people who look for what systems missed: it is read from disk and needs no memory
worth mentioning. What makes baselines (`retrieval.sparse`) is exact to the last digit and lives in
memory. Both cut texts into the same words and stems. ADR 40 says why there are two.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from benchwright.retrieval.errors import StoreError
from benchwright.retrieval.sparse.analysis import ANALYSIS, stem_features, words_of

BATCH = 1_000
# Features of more documents than this share tell nothing apart, and cost the most to look up.
COMMON_SHARE = 0.2
# In a small corpus every word is cheap.
FEW_DOCUMENTS = 20_000
MOST_FEATURES = 64
# Steps of SQLite's machine between two looks at the clock, and how often it may look.
STEPS, MOST_LOOKS = 100_000, 2_000


class WordHit(NamedTuple):
    """A document that has words of the query, and its BM25 (k1 = 1.2, b = 0.75), above 0."""

    docid: str
    score: float


def write_word_index(
    path: Path,
    documents: Iterable[tuple[str, str]],
    *,
    language: str,
    progress: Callable[[int], None] | None = None,
) -> int:
    """Write the index of documents (id, text) to `path`, whole or not at all; returns how many."""
    partial = path.with_suffix(".part")
    partial.parent.mkdir(parents=True, exist_ok=True)
    partial.unlink(missing_ok=True)
    features = _Features(language)
    with closing(sqlite3.connect(partial, isolation_level=None)) as database:
        database.executescript(
            """
            PRAGMA journal_mode = OFF;
            PRAGMA synchronous = OFF;
            CREATE TABLE documents (number INTEGER PRIMARY KEY, docid TEXT NOT NULL);
            CREATE TABLE common (feature TEXT PRIMARY KEY) WITHOUT ROWID;
            CREATE VIRTUAL TABLE texts USING fts5(features, content = '', tokenize = 'ascii');
            CREATE VIRTUAL TABLE counted USING fts5vocab(texts, row);
            """
        )
        n = 0
        rest = iter(documents)
        while batch := list(islice(rest, BATCH)):
            rows = [
                (n + at, docid, features.joined(text)) for at, (docid, text) in enumerate(batch)
            ]
            database.execute("BEGIN")
            database.executemany("INSERT INTO documents VALUES (?, ?)", [row[:2] for row in rows])
            database.executemany(
                "INSERT INTO texts (rowid, features) VALUES (?, ?)", [row[::2] for row in rows]
            )
            database.execute("COMMIT")
            n += len(batch)
            if progress:
                progress(n)
        if n > FEW_DOCUMENTS:
            database.execute(
                "INSERT INTO common SELECT term FROM counted WHERE doc > ?", [n * COMMON_SHARE]
            )
        database.execute("INSERT INTO texts (texts) VALUES ('optimize')")
        database.execute("DROP TABLE counted")
    partial.replace(path)
    return n


def search_words(path: Path, words: str, *, language: str) -> Iterator[WordHit]:
    """Documents with any of the words, best first; of equal ones the greater id goes first.

    Without a word that is in the corpus there is none. Common words are looked for only where all
    are common.

    Raises
    ------
    StoreError
        If there is no index, or finding them takes too long.
    """
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            features = _Features(language).of(words)[:MOST_FEATURES]
            telling_features = _telling(database, features)
            if not telling_features:
                return
            looks = iter(range(MOST_LOOKS))
            database.set_progress_handler(lambda: next(looks, None) is None, STEPS)
            # The words stand between quotation marks, of which features have none.
            yield from map(
                WordHit._make,
                database.execute(
                    "SELECT docid, -bm25(texts) FROM texts JOIN documents ON number = texts.rowid"
                    " WHERE texts MATCH ? ORDER BY bm25(texts), docid DESC",
                    [" OR ".join(f'"{feature}"' for feature in telling_features)],
                ),
            )
    except sqlite3.Error as error:
        raise StoreError(folder=path, reason=f"cannot be searched: {error}.") from error


def excerpt(text: str, words: str, *, language: str, n_words: int = 40) -> list[tuple[str, bool]]:
    """The part of a text with most of the words, in pieces; true are those that were looked for.

    Examples
    --------
    >>> excerpt("Rotate the log files daily.", "rotating logs", language="en")
    [('Rotate', True), (' the ', False), ('log', True), (' files daily.', False)]
    """
    features = _Features(language)
    query_features = set(features.of(words))
    # "a", "in", "of" say nothing about a place in a text.
    long_features = {
        feature for feature in query_features if len(feature) > 2 or not feature.isascii()
    } or query_features
    spans = [
        (start, end, bool(long_features & set(features.of(text[start:end]))))
        for start, end in _word_spans(text)
    ]
    if not spans:
        return [(text, False)] if text else []
    first = _best_window(spans, n_words)
    window = spans[first : first + n_words]
    begin = 0 if first == 0 else window[0][0]
    finish = len(text) if first + n_words >= len(spans) else window[-1][1]
    pieces: list[tuple[str, bool]] = [("… ", False)] if begin else []
    at = begin
    for start, end, is_match in window:
        if is_match:
            pieces += [(text[at:start], False), (text[start:end], True)]
            at = end
    pieces.append((text[at:finish] + (" …" if finish < len(text) else ""), False))
    return [piece for piece in pieces if piece[0]]


def index_name(language: str) -> str:
    """What tells indexes of one corpus apart: how its texts were cut into features."""
    return f"{language}-{ANALYSIS}"


class _Features:
    """The stems of words in a language, each word's worked out once."""

    def __init__(self, language: str) -> None:
        self.expand = stem_features(language)
        self.features_of: dict[str, list[str]] = {}

    def of(self, text: str) -> list[str]:
        """Each feature once, in the order of the text."""
        return list(dict.fromkeys(self._all(text)))

    def joined(self, text: str) -> str:
        return " ".join(self._all(text))

    def _all(self, text: str) -> list[str]:
        words = words_of(text)
        new = list({word for word in words if word not in self.features_of})
        if len(self.features_of) + len(new) > 200_000:
            self.features_of.clear()
            new = list(set(words))
        self.features_of.update(zip(new, self.expand(new), strict=True))
        return [feature for word in words for feature in self.features_of[word]]


def _telling(database: sqlite3.Connection, features: list[str]) -> list[str]:
    """The features that tell documents apart; all of them where none does."""
    marks = ", ".join("?" * len(features))
    rows = database.execute(f"SELECT feature FROM common WHERE feature IN ({marks})", features)
    common = {feature for (feature,) in rows}
    return [feature for feature in features if feature not in common] or features


def _word_spans(text: str) -> Iterator[tuple[int, int]]:
    start = None
    for at, character in enumerate(text):
        if character.isalnum():
            start = at if start is None else start
        elif start is not None:
            yield start, at
            start = None
    if start is not None:
        yield start, len(text)


def _best_window(spans: list[tuple[int, int, bool]], n_words: int) -> int:
    """Where the window with most matches begins, a few words before its first one."""
    matches = [is_match for *_, is_match in spans]
    n_here = sum(matches[:n_words])
    best, most = 0, n_here
    for begin in range(1, max(1, len(spans) - n_words + 1)):
        n_here += matches[begin + n_words - 1] - matches[begin - 1]
        if n_here > most:
            best, most = begin, n_here
    first = next((at for at in range(best, len(spans)) if matches[at]), 0)
    return max(0, min(first - n_words // 5, len(spans) - n_words)) if most else 0
