"""Runs and qrels of known sizes, the same bytes at every call: `made_files("M", folder)`.

Scores are below one and have six decimals, so they are different or equal at 32 bits as at 64, and
some of them tie. A tenth of the judged documents was not retrieved.
"""

import random
import sys
from pathlib import Path
from typing import NamedTuple

from tests.performance.toy import size as sized

N_DOCUMENTS = 8_800_000
TAG = "made-bm25"


class Size(NamedTuple):
    """How much is made; `str()` tells it to a reader."""

    n_queries: int
    depth: int
    n_judged: int

    def __str__(self) -> str:
        return f"{self.n_queries:,} queries x {self.depth:,} results, {self.n_judged} judged each"


class Made(NamedTuple):
    """The paths of what was made."""

    qrels: Path
    run: Path


SIZES = sized(
    {"S": Size(50, 1000, 100), "M": Size(1000, 1000, 100), "L": Size(6980, 1000, 1)},
    {"S": Size(5, 20, 5), "M": Size(6, 20, 5), "L": Size(7, 20, 1)},
)


def made_files(name: str, folder: Path, *, seed: int = 1) -> Made:
    """Qrels and a run in TREC's formats, in a folder that is there."""
    size, rng = SIZES[name], random.Random(f"{seed} {name}")
    files = Made(folder / f"{name}.qrels", folder / f"{name}.run")
    with files.run.open("w") as run, files.qrels.open("w") as qrels:
        for number in range(size.n_queries):
            _write_query(1_000_000 + 7 * number, size, rng, run.write, qrels.write)
    return files


def _write_query(qid, size, rng, write_run, write_qrels):
    docids = rng.sample(range(1_000_000, N_DOCUMENTS), size.depth)
    scores = sorted(rng.choices(range(1_000_000), k=size.depth), reverse=True)
    write_run(
        "".join(
            f"{qid} Q0 D{docid} {rank} 0.{score:06d} {TAG}\n"
            for rank, (docid, score) in enumerate(zip(docids, scores, strict=True), start=1)
        )
    )
    results = [docid for docid in rng.sample(docids, size.n_judged) if rng.random() < 0.9]
    others = range(N_DOCUMENTS, N_DOCUMENTS + size.n_judged - len(results))
    rows = [(docid, rng.choice((0, 0, 1, 2, 3))) for docid in (*results, *others)]
    rows[0] = (rows[0][0], 1)  # nobody asks what nothing answers
    write_qrels("".join(f"{qid} 0 D{docid} {grade}\n" for docid, grade in rows))


if __name__ == "__main__":
    print(*made_files(sys.argv[1], Path(sys.argv[2])))
