"""Families against given groups: precision and recall beside two baselines, and time at scale.

The baselines are exact match, and MinHash of `datasketch` (128 permutations, shingles of 3
characters) at the threshold that is best for it on each set. Ours is shown at the threshold that
is best for it, as the same two things: pairs, and families held together by them; and as it is
used, with its defaults. The sets are those of BENCHWRIGHT_TEST_DATA.
"""

import csv
import gzip
import io
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchwright.families import GroupingOptions, QueryText, exact_key, grouped, similar_pairs
from benchwright.families.clustering import clusters_of
from benchwright.families.linking import static_embeddings
from benchwright.matrices import static_vectors
from tests.performance.timing import missing
from tests.performance.toy import size

DATA = Path(
    os.environ.get("BENCHWRIGHT_TEST_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")
)
THRESHOLDS = [round(0.2 + 0.05 * step, 2) for step in range(size(16, 8))]
MOST_ROWS = size(None, 300)  # of each set
N_PERMUTATIONS, SHINGLE = 128, 3
LIMITS = {
    "10,000 x 10,000": (10, None),
    "100,000 queries": (600, 2 << 30),
    "100,000 queries of a log": (600, 2 << 30),
    "1,000,000 queries of a log": (1_800, 2 << 30),
}


class Score(NamedTuple):
    precision: float
    recall: float
    threshold: float | None = None

    @property
    def f1(self) -> float:
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0

    def __str__(self) -> str:
        return f"{self.f1:.3f} ({self.precision:.3f} / {self.recall:.3f})"


class Given(NamedTuple):
    """Texts and the group each belongs to."""

    name: str
    texts: list[str]
    groups: Any

    @property
    def n_pairs(self) -> int:
        return _pairs_in(self.groups.tolist())


# --- the sets --------------------------------------------------------------------------------


def _given(name: str, rows: Iterator[tuple[str, str]]) -> Given:
    texts, groups = zip(*islice(rows, MOST_ROWS), strict=True)
    return Given(name, list(texts), np.unique(groups, return_inverse=True)[1])


def _table(path: Path) -> Iterator[dict[str, str]]:
    content = path.read_bytes()
    text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode("utf-8")
    yield from islice(csv.DictReader(io.StringIO(text, newline="")), MOST_ROWS)


def _user_variants(folder: Path) -> Iterator[tuple[str, str]]:
    for line in (folder / "core17_uqv" / "queries_robust-uqv.txt").read_text("utf-8").splitlines():
        whose, _, text = line.partition(";")
        if text.strip():
            yield text, whose.split("-")[0]


def _typos(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted((folder / "dl19_typos").glob("queries*.tsv")):
        for line in path.read_text("utf-8").splitlines():
            qid, text = line.split("\t")
            yield text, qid


def _variations(path: Path) -> Iterator[tuple[str, str]]:
    seen = set()
    for row in _table(path):
        if row["q_id"] not in seen:
            seen.add(row["q_id"])
            yield row["original_query"], row["q_id"]
        if row["valid"].lower() == "true":
            yield row["variation"], row["q_id"]


def _intents(folder: Path) -> Iterator[tuple[str, str]]:
    for name in ("train.csv.gz", "test.csv"):
        for row in _table(folder / "banking77" / name):
            yield row["text"], row["category"]


def sets(folder: Path) -> Iterator[Given]:
    penha = folder / "penha_dl19_variations"
    yield _given("user variants", _user_variants(folder))
    yield _given("typos", _typos(folder))
    yield _given("variations, DL19", _variations(penha / "variations_trec2019_labeled.csv"))
    yield _given("variations, ANTIQUE", _variations(penha / "variations_antique_labeled.csv.gz"))
    yield _given("Banking77 intents", _intents(folder))


# --- precision and recall ----------------------------------------------------------------------


def _pairs_in(labels: Sequence[Any]) -> int:
    return sum(n * (n - 1) // 2 for n in Counter(labels).values())


def of_families(labels: Sequence[int], given: Given, threshold: float | None = None) -> Score:
    """Pairs in one family, against pairs in one group."""
    right = _pairs_in(list(zip(labels, given.groups.tolist(), strict=True)))
    result = _pairs_in(labels)
    return Score(right / result if result else 0.0, right / given.n_pairs, threshold)


@dataclass
class Pairs:
    """Places of two texts, and how alike they are."""

    a: Any
    b: Any
    similarity: Any

    def at(self, threshold: float) -> tuple[Any, Any]:
        """The pairs that are found at this threshold."""
        near = self.similarity >= threshold - 1e-6
        return self.a[near], self.b[near]

    def score(self, given: Given, threshold: float) -> Score:
        a, b = self.at(threshold)
        right = int((given.groups[a] == given.groups[b]).sum())
        return Score(right / max(a.size, 1), right / given.n_pairs, threshold)

    def family_score(self, given: Given, threshold: float) -> Score:
        labels = clusters_of(len(given.texts), *self.at(threshold))
        return of_families(labels.tolist(), given, threshold)


@dataclass
class MinHashPairs(Pairs):
    """Pairs as an index of `datasketch` made for the threshold finds them, and the estimate."""

    values: Any

    def at(self, threshold: float) -> tuple[Any, Any]:
        from datasketch import MinHashLSH

        a, b = super().at(threshold)
        index = MinHashLSH(threshold=threshold, num_perm=N_PERMUTATIONS)
        result = np.zeros(a.size, bool)
        for band in range(index.b):
            rows = slice(band * index.r, (band + 1) * index.r)
            result |= (self.values[a, rows] == self.values[b, rows]).all(axis=1)
        return a[result], b[result]


def best(pairs: Pairs, given: Given) -> tuple[Score, Score]:
    """Of pairs and of families, each at the threshold with the highest F1."""
    alone = max(
        (pairs.score(given, threshold) for threshold in THRESHOLDS), key=lambda score: score.f1
    )
    held = max(
        (pairs.family_score(given, threshold) for threshold in THRESHOLDS),
        key=lambda score: score.f1,
    )
    return alone, held


def by_minhash(texts: Sequence[str]) -> MinHashPairs | None:
    """Pairs that an index of `datasketch` with the lowest threshold finds."""
    try:
        from datasketch import MinHash, MinHashLSH
    except ImportError:
        return None
    signatures = []
    for text in texts:
        folded = " ".join(text.lower().split())
        shingles = {folded[n : n + SHINGLE] for n in range(max(1, len(folded) - SHINGLE + 1))}
        signature = MinHash(num_perm=N_PERMUTATIONS)
        signature.update_batch([shingle.encode() for shingle in shingles])
        signatures.append(signature)
    index = MinHashLSH(threshold=THRESHOLDS[0], num_perm=N_PERMUTATIONS)
    for number, signature in enumerate(signatures):
        index.insert(number, signature)
    values = np.array([signature.hashvalues for signature in signatures])
    found_a, found_b, found_s = [], [], []
    for number, signature in enumerate(signatures):
        others = np.array([place for place in index.query(signature) if place > number], np.int64)
        if others.size:
            estimate = (values[others] == values[number]).mean(axis=1)
            near = estimate >= THRESHOLDS[0]
            found_a.append(np.full(int(near.sum()), number))
            found_b.append(others[near])
            found_s.append(estimate[near])
    pairs = (np.concatenate(part) for part in (found_a, found_b, found_s))
    return MinHashPairs(*pairs, values)


def compared(given: Given) -> list[str]:
    """The rows of one set: exact match, MinHash, ours; a failure is told loudly."""
    ours = Pairs(*(getattr(similar_pairs(given.texts, threshold=THRESHOLDS[0]), name)
                   for name in ("a", "b", "similarity")))  # fmt: skip
    exact = of_families([hash(exact_key(text)) for text in given.texts], given)
    rows: list[tuple[str, Score, Score]] = [("exact match", exact, exact)]
    theirs = by_minhash(given.texts)
    if theirs is None:
        missing("datasketch")
    else:
        rows.append(("MinHash, its best", *best(theirs, given)))
    rows.append(("ours, its best", *best(ours, given)))
    lines = [
        f"| {given.name} | {name} | {_told(pairs)} | {_told(families)} |"
        for name, pairs, families in rows
    ]
    lines += [f"| {given.name} | {name} |  | {figure} |" for name, figure in as_used(given)]
    for line in lines:
        print(f"  {line}")
    *others, (_, *own) = rows
    for name, *scores in others:
        for mine, score, what in zip(own, scores, ("pairs", "families"), strict=True):
            assert mine.f1 > score.f1, f"{given.name}: {name} is better in {what}"
    return lines


def as_used(given: Given) -> Iterator[tuple[str, Score]]:
    """Families of the defaults, and with the signal of static vectors where the extra is there."""
    queries = [QueryText(str(n), text) for n, text in enumerate(given.texts)]
    ways = {"ours, as it is used": lambda: None}
    if static_vectors.is_installed():
        ways["ours, with paraphrases"] = lambda: static_embeddings(queries)
    else:
        missing("wordllama")
    for name, paraphrases in ways.items():
        grouping = grouped(queries, GroupingOptions(), paraphrases=paraphrases())
        label = {qid: n for n, family in enumerate(grouping.families) for qid in family.members}
        yield name, of_families([label[query.qid] for query in queries], given)


def _told(score: Score) -> str:
    at = "" if score.threshold is None else f" at {score.threshold:.2f}"
    return f"{score}{at}"


def across_the_line(folder: Path) -> str:
    """What of Banking77's test stands in its train."""
    train = [row["text"] for row in _table(folder / "banking77" / "train.csv.gz")]
    test = [row["text"] for row in _table(folder / "banking77" / "test.csv")]
    letters, keys = {text.strip() for text in train}, {exact_key(text) for text in train}
    exact = {n for n, text in enumerate(test) if text.strip() in letters}
    equal = {n for n, text in enumerate(test) if exact_key(text) in keys}
    near = {at: set(similar_pairs(test, train, threshold=at).a.tolist()) for at in (0.8, 0.6)}
    assert exact <= equal <= near[0.8]
    return (
        f"Of {len(test):,} test questions of Banking77, {len(exact)} are in train letter for "
        f"letter, {len(equal)} but for case and punctuation, {len(near[0.8]):,} nearly (from 0.80 "
        f"on), {len(near[0.6]):,} possibly (from 0.60 on)."
    )


# --- time and memory ---------------------------------------------------------------------------


def made_queries(folder: Path, n: int) -> list[str]:
    """Distinct texts like those of a log: real ones, and these with words changed or mistyped."""
    rng = random.Random(7)
    base = [" ".join(text.split()) for texts_of in sets(folder) for text in texts_of.texts]
    words = [word for text in base for word in text.split()]
    texts = dict.fromkeys(base)
    while len(texts) < n:
        texts[_changed(rng.choice(base).split(), words, rng)] = None
    return _some_of(texts, n, rng)


def made_log(folder: Path, n: int) -> list[str]:
    """Distinct texts of real words, of as many needs a query at any size: one in up to 5 wordings.

    (`made_queries` changes the same real queries, so that each has the more wordings the more
    queries there are.)
    """
    rng = random.Random(7)
    words = [word for texts_of in sets(folder) for text in texts_of.texts for word in text.split()]
    texts: dict[str, None] = {}
    while len(texts) < n:
        need = [rng.choice(words) for _ in range(rng.randint(5, 14))]
        texts[" ".join(need)] = None
        texts |= dict.fromkeys(_changed(need, words, rng) for _ in range(rng.randint(0, 4)))
    return _some_of(texts, n, rng)


def _changed(text: Sequence[str], words: Sequence[str], rng: random.Random) -> str:
    """A text with up to three of its words replaced."""
    changed = list(text)
    for _ in range(rng.randint(1, 3)):
        changed[rng.randrange(len(changed))] = rng.choice(words)
    return " ".join(changed)


def _some_of(texts: Iterable[str], n: int, rng: random.Random) -> list[str]:
    shuffled = list(texts)
    rng.shuffle(shuffled)
    return shuffled[:n]


def in_a_process(words: Sequence[str]) -> tuple[float, int]:
    """Seconds of a whole process, and the most memory it took, in bytes."""
    started = time.perf_counter()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, words
    return time.perf_counter() - started, used.ru_maxrss * 1024


def timed(folder: Path) -> list[str]:
    lines = []
    half = size(10_000, 1_000)
    texts = made_queries(folder, 2 * half)
    started = time.perf_counter()
    pairs = similar_pairs(texts[:half], texts[half:], threshold=0.6)
    seconds = time.perf_counter() - started
    lines.append(_row("10,000 x 10,000", f"{len(pairs):,} pairs", seconds, None))
    for name, made, n in (
        ("100,000 queries", made_queries, size(100_000, 1_000)),
        ("100,000 queries of a log", made_log, size(100_000, 1_000)),
        ("1,000,000 queries of a log", made_log, size(1_000_000, 2_000)),
    ):
        lines.append(_families_of(name, made(folder, n)))
    return lines


def _families_of(name: str, texts: Sequence[str]) -> str:
    """The line of the table for what the command makes of these."""
    with tempfile.TemporaryDirectory() as work:
        queries = Path(work) / "queries.tsv"
        queries.write_text("".join(f"{n}\t{text}\n" for n, text in enumerate(texts)))
        output = Path(work) / "families.tsv"
        program = [sys.executable, "-m", "benchwright.cli.start", "families", str(queries)]
        seconds, memory = in_a_process([*program, "-o", str(output)])
        n = len({line.split("\t")[1] for line in output.read_text().splitlines()[1:]})
    return _row(name, f"{n:,} families", seconds, memory)


def _row(name: str, found: str, seconds: float, memory: int | None) -> str:
    limit_seconds, limit_memory = LIMITS[name]
    memory_words = f"{memory / 2**20:,.0f} MiB" if memory else ""
    line = f"| {name} | {found} | {seconds:.1f} s | {memory_words} |"
    print(f"  {line}")
    assert seconds < limit_seconds, f"{name}: slower than {limit_seconds} s"
    assert not (limit_memory and memory) or memory < limit_memory, f"{name}: too much memory"
    return line


def main() -> list[str]:
    folder = DATA / "query_families"
    if not folder.is_dir():
        print(f"  families: the real queries are not at {folder} (BENCHWRIGHT_TEST_DATA)")
        return []
    print("\nFamilies: F1 (precision / recall) of pairs and of families against given groups")
    lines = ["| set | | pairs: F1 (precision / recall) | families: F1 (precision / recall) |",
             "|---|---|---|---|"]  # fmt: skip
    for texts_of in sets(folder):
        lines += compared(texts_of)
    result = across_the_line(folder)
    print(f"  {result}")
    lines += ["", result, "", "| | found | time | memory |", "|---|---|---|---|"]
    return lines + timed(folder)


if __name__ == "__main__":
    main()
