"""A collection of known grades, two runs of it, and a pool drawn to estimate them."""

import json
from hashlib import blake2b
from typing import Any

from annotation.models import Judgment, Pool, Slot
from annotation.pools.services.planning import Sharing
from annotation.pools.services.pooling import pool_arguments
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Benchmark, Run, User
from benchwright.pools import Recipe
from tests import factories
from tests.annotation.making import judge

N_QUERIES, N_DOCUMENTS, DEPTH = 26, 8, 5
QIDS = [f"q{n}" for n in range(N_QUERIES)]
# A run answers no question of the last query: it counts 0 all the same.
ANSWERED = QIDS[:-1]


def share(*facts: Any) -> float:
    """From 0 to 1, by the digest of some facts."""
    listed = json.dumps(list(facts)).encode()
    return int.from_bytes(blake2b(listed, digest_size=16).digest()[:7], "big") / 2**56


def grade_of(qid: str, docid: str) -> int:
    """What people would say of every document."""
    quality = share("quality", qid) + 0.7 * share("grade", qid, docid)
    return min(3, int(2.6 * quality))


def ranked(qid: str, name: str) -> list[str]:
    """The good run knows something of the grades, the other nothing."""
    docids = [f"{qid}-d{n}" for n in range(N_DOCUMENTS)]
    knows = 0.9 if name == "good" else 0.0
    return sorted(docids, key=lambda docid: -knows * grade_of(qid, docid) - share(name, docid))


def queries(of: Benchmark) -> None:
    """Twenty-six queries, the first two of one family."""
    first = factories.query(of, QIDS[0])
    factories.query(of, QIDS[1], family=first.family)
    for qid in QIDS[2:]:
        factories.query(of, qid)


def runs(of: Benchmark) -> list[Run]:
    return [
        factories.run(
            of,
            "\n".join(
                f"{qid} Q0 {docid} {rank} {100 - rank} {name}"
                for qid in ANSWERED
                for rank, docid in enumerate(ranked(qid, name), start=1)
            ),
            name=name,
        )
        for name in ("good", "other")
    ]


def estimation_pool(
    of: Benchmark,
    by: User,
    made: list[Run],
    *,
    name: str = "to estimate",
    sharing: Sharing | None = None,
    **recipe: Any,
) -> Pool:
    """As its page builds it."""
    asked = {"measure": "dcg", "labels": 60, "depth": DEPTH, "strategy": "estimate", **recipe}
    arguments = pool_arguments(
        benchmark=of, name=name, runs=made, recipe=Recipe(**asked), seed=7, sharing=sharing
    )
    job = factories.done(jobs.run_here(benchmark=of, user=by, **arguments))
    return Pool.objects.get(pk=job.result["pool"])


def labelled(pool: Pool, by: User, *, but: int = 0) -> list[Judgment]:
    """Somebody grades all drawn documents, but some."""
    slots = Slot.objects.filter(pool=pool).select_related("pool", "query", "entry__document")
    chosen = list(slots.order_by("pk"))[: slots.count() - but]
    return [judge(slot, by, grade_of(slot.query.qid, slot.entry.document.docid)) for slot in chosen]
