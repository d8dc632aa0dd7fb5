"""How evenly families are split, beside scikit-learn's StratifiedGroupKFold on the same data.

It makes k folds of equal size by one label a row: so do we, with k splits of equal shares and the
labels as slices. Uneven is, over all folds and labels, how far a label's share of a fold is from
its share of everything: the largest such difference, and the mean. Its greedy draw is tried with
as many seeds as ours. The real queries are those of BENCHWRIGHT_TEST_DATA.
"""

import csv
import gzip
import os
import random
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchwright.splits.balancing import balanced
from tests.performance.timing import median_seconds, missing
from tests.performance.toy import size

DATA = Path(
    os.environ.get("BENCHWRIGHT_TEST_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")
)
FOLDS = 5
SEEDS = range(size(5, 1))


class Rows(NamedTuple):
    """Queries: the family and the label of each."""

    name: str
    families: list[int]
    labels: list[int]


class Told(NamedTuple):
    largest: float
    mean: float
    size: float
    """How far the largest or smallest fold is from its share, in queries."""


def made(n_families: int, n_labels: int, seed: int) -> Rows:
    """Families of skewed sizes, whose queries mostly share a label."""
    rng = random.Random(seed)
    families, labels = [], []
    for family in range(n_families):
        label = int(n_labels * rng.random() ** 2)
        for _ in range(min(1 + int(rng.expovariate(0.4)), 30)):
            families.append(family)
            labels.append(label if rng.random() < 0.8 else rng.randrange(n_labels))
    return Rows(f"made: {n_families:,} families, {n_labels} labels", families, labels)


def variants(folder: Path) -> Rows:
    """People's wordings of 250 topics; the label is how many words a wording has."""
    lines = (folder / "core17_uqv" / "queries_robust-uqv.txt").read_text("utf-8").splitlines()
    rows = [(line.split("-")[0], min(len(line.split(";")[-1].split()), 9)) for line in lines]
    return _numbered("core17_uqv: topics, by words", rows)


def intents(folder: Path) -> Rows:
    """Questions of Banking77 in families by their first four words, labelled by their intent."""
    with gzip.open(folder / "banking77" / "train.csv.gz", "rt", newline="") as table:
        rows = [
            (" ".join(row["text"].lower().split()[:4]), row["category"])
            for row in csv.DictReader(table)
        ]
    return _numbered("banking77: first words, by intent", rows)


def _numbered(name: str, rows: Sequence[tuple[Any, Any]]) -> Rows:
    families: dict[Any, int] = {}
    labels: dict[Any, int] = {}
    return Rows(
        name,
        [families.setdefault(family, len(families)) for family, _ in rows],
        [labels.setdefault(label, len(labels)) for _, label in rows],
    )


def ours(rows: Rows, seed: int) -> np.ndarray:
    """The fold of each row."""
    n_families, n_labels = max(rows.families) + 1, max(rows.labels) + 1
    contents = np.zeros((n_families, n_labels + 1))
    np.add.at(contents, (rows.families, 0), 1)
    np.add.at(contents, (rows.families, np.array(rows.labels) + 1), 1)
    totals = contents.sum(axis=0)
    rarest = np.where(contents[:, 1:] > 0, totals[1:], np.inf).min(axis=1)
    drawn = random.Random(seed).sample(range(n_families), n_families)
    order = sorted(drawn, key=lambda family: (-contents[family, 0], rarest[family]))
    return balanced(contents, [1 / FOLDS] * FOLDS, order, seed)[rows.families]


def scikit_learn(rows: Rows, seed: int) -> np.ndarray:
    from sklearn.model_selection import StratifiedGroupKFold

    split = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=seed)
    result = np.zeros(len(rows.families), dtype=int)
    for fold, (_, inside) in enumerate(
        split.split(np.zeros(len(rows.families)), rows.labels, rows.families)
    ):
        result[inside] = fold
    return result


def told(rows: Rows, folds: np.ndarray) -> Told:
    labels = np.array(rows.labels)
    overall = np.bincount(labels) / labels.size
    shares = np.array(
        [
            np.bincount(labels[folds == fold], minlength=overall.size) / (folds == fold).sum()
            for fold in range(FOLDS)
        ]
    )
    off = np.abs(shares - overall)
    sizes = np.bincount(folds, minlength=FOLDS)
    return Told(off.max(), off.mean(), float(np.abs(sizes - labels.size / FOLDS).max()))


def averaged(rows: Rows, split: Callable[[Rows, int], np.ndarray]) -> Told:
    results = [told(rows, split(rows, seed)) for seed in SEEDS]
    return Told(*(sum(values) / len(results) for values in zip(*results, strict=True)))


def main() -> list[str]:
    contenders = {"benchwright": ours, "scikit-learn": scikit_learn}
    if find_spec("sklearn") is None:
        missing(contenders.popitem()[0])
    folder = DATA / "query_families"
    sets = [made(500, 6, seed=1), made(3_000, 20, seed=2)]
    if folder.is_dir():
        sets += [variants(folder), intents(folder)]
    print(f"\nSplits: {FOLDS} equal ones; mean over {len(SEEDS)} seeds; less is more even")
    lines = [
        "| data | largest family | | largest deviation | mean deviation | size off by | time |",
        "|---|---:|---|---:|---:|---:|---:|",
    ]
    for rows in sets:
        largest = max(Counter(rows.families).values())
        seconds = median_seconds(
            {name: partial(split, rows, 0) for name, split in contenders.items()}
        )
        for name, split in contenders.items():
            result = averaged(rows, split)
            line = (
                f"| {rows.name} | {largest} | {name} | {result.largest:.2%} | {result.mean:.3%} | "
                f"{result.size:.1f} | {seconds[name]:.2f} s |"
            )
            print(f"  {line}")
            lines.append(line)
    return lines


if __name__ == "__main__":
    main()
