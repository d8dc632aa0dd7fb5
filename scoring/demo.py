"""What this app adds to the demo: phases, a gate, a live system, cases, embeddings."""

import csv
import io
import json
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.utils import timezone

from benchmarks_app.common.selectors.reading import benchmark_documents
from benchmarks_app.importing.services.demo import FIXTURES, N_WAITING, queries
from benchmarks_app.models import Benchmark, Release, User
from benchwright.live.presets import PRESETS
from benchwright.matrices.static_vectors import encode, is_installed
from scoring.contrastive.services.contrastive import submit_pair
from scoring.gates.services.gating import start_gate
from scoring.gates.services.policies import make_policy
from scoring.live.services.systems import make_live_system
from scoring.models import CaseSet, EmbeddingPair, GatePolicy, LiveSystem, Phase
from scoring.scores.selectors.rankings import ranking_of
from scoring.submissions.services.phases import change_phase, make_phase

OPEN, LATER = "Development", "Final"
LATER_IN = timedelta(days=14)
POLICY = "before release"
CASES = "answers with docstrings"
LIVE = "example search server"
PAIR = "needs and answers (wordllama)"
SUBMITTED, FUSED, DEPTH = "rank fusion", ("bm25", "bm25-stem"), 100
N_DOCUMENTS, LONGEST = 5, 400
OFTEN = 150


def furnish(sender: Any, benchmark: Benchmark, people: Mapping[str, User], **unused: Any) -> None:
    """Phases, a submission with its gate, and cases, each where it is not there yet."""
    release = benchmark.releases.get()
    _phases(release, people["olga"])
    _gate(release, people)
    if not CaseSet.objects.filter(benchmark=benchmark, name=CASES).exists():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "cases.jsonl"
            lines = (json.dumps(case, ensure_ascii=False) for case in _cases(benchmark))
            path.write_text("\n".join(lines), encoding="utf-8")
            call_command("import_cases", benchmark.slug, path, name=CASES)

    if not LiveSystem.objects.filter(benchmark=benchmark, name=LIVE).exists():
        _live(benchmark, people["olga"])
    if is_installed() and not EmbeddingPair.objects.filter(benchmark=benchmark, name=PAIR).exists():
        _pair(benchmark, people["sam"])


def _live(benchmark: Benchmark, owner: User) -> None:
    """How a search server is described; none is asked, for none stands behind the example."""
    preset = PRESETS["opensearch"]
    make_live_system(
        benchmark=benchmark,
        user=owner,
        name=LIVE,
        description=(
            "How an OpenSearch index is described. No server stands behind this example: write the "
            "address of yours, try a query, then ask them all."
        ),
        url=preset.url.replace("INDEX", "docstrings"),
        **preset.fields(),
    )


def _pair(benchmark: Benchmark, user: User) -> None:
    """Needs and the documents that answer them, embedded by the small model of the demo.

    One need of each document that is graded 3: two rows of one document would both be right.
    """
    answers = _best_documents()
    # {docid: the first query that it answers directly}
    query_of = {
        answers[query["_id"]]: query for query in reversed(queries()) if query["_id"] in answers
    }
    texts = benchmark_documents(benchmark, query_of)
    files = {
        "z1.npy": _saved(encode([query["text"] for query in query_of.values()])),
        "z2.npy": _saved(
            encode([f"{texts[docid].title}\n{texts[docid].text}" for docid in query_of])
        ),
        "ids.txt": "\n".join(query["_id"] for query in query_of.values()).encode(),
    }
    uploads = {
        name.partition(".")[0]: SimpleUploadedFile(name, content) for name, content in files.items()
    }
    submit_pair(
        benchmark=benchmark,
        user=user,
        uploads=uploads,
        name=PAIR,
        description="Does a need find the docstring that answers it, by mean token vectors?",
    )


def _saved(matrix: Any) -> bytes:
    packed = io.BytesIO()
    np.save(packed, matrix)
    return packed.getvalue()


def _best_documents() -> dict[str, str]:
    """The first document of a query that was graded 3, by query id."""
    return {qid: answer.partition(":")[0] for qid, answer in _answers().items()}


def _phases(release: Release, owner: User) -> None:
    """One that is open now, on dev; the one of test, which the release opened, opens later."""
    if Phase.objects.filter(release=release, name=OPEN).exists():
        return
    description = "Try things out here: as often as you like, within twenty runs a day."
    make_phase(release=release, split="dev", user=owner, name=OPEN, description=description)
    change_phase(
        phase=Phase.objects.get(release=release, split="test"),
        user=owner,
        name=LATER,
        opens_at=timezone.now() + LATER_IN,
        daily_limit=1,
        total_limit=3,
        description="Three runs of each team, on queries of families that nobody tuned on.",
    )


def _gate(release: Release, people: Mapping[str, User]) -> None:
    """Whether what Sam submits may take the place of BM25; the policy was there before."""
    benchmark = release.benchmark
    baseline = benchmark.runs.get(name="bm25")
    if not GatePolicy.objects.filter(benchmark=benchmark, name=POLICY).exists():
        owner = people["olga"]
        make_policy(benchmark=benchmark, name=POLICY, baseline=baseline, content={}, user=owner)
    if not benchmark.runs.filter(name=SUBMITTED).exists():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{SUBMITTED}.run"
            path.write_text("".join(_fused(benchmark)), encoding="utf-8")
            call_command("submit_run", benchmark.slug, path, user="sam", name=SUBMITTED)
    candidate = benchmark.runs.get(name=SUBMITTED)
    policy = GatePolicy.objects.get(benchmark=benchmark, name=POLICY)
    start_gate(policy=policy, candidate=candidate, release=release, user=people["olga"])


def _fused(benchmark: Benchmark) -> Iterator[str]:
    """Two lexical runs in one: each document by the sum of 1 / (60 + its rank)."""
    rankings = [ranking_of(benchmark.runs.get(name=name), DEPTH) for name in FUSED]
    for query in queries():
        scores: dict[str, float] = defaultdict(float)
        for ranking in rankings:
            for rank, docid in enumerate(ranking.get(query["_id"], []), start=1):
                scores[docid] += 1 / (60 + rank)
        best = sorted(scores, key=lambda docid: (-scores[docid], docid))[:DEPTH]
        for rank, docid in enumerate(best, start=1):
            yield f"{query['_id']} Q0 {docid} {rank} {scores[docid]:.8f} fusion\n"


def _cases(benchmark: Benchmark) -> Iterator[dict[str, Any]]:
    """What a judge model is asked: a need, the best document in words, and what BM25 found.

    One of each family that a document answers directly.
    """
    answers, families = _answers(), set()
    ranking = ranking_of(benchmark.runs.get(name="bm25"), N_DOCUMENTS)
    texts = benchmark_documents(
        benchmark, {docid for docids in ranking.values() for docid in docids}
    )
    for query in queries()[:-N_WAITING]:
        if query["family"] in families or query["_id"] not in answers:
            continue
        families.add(query["family"])
        documents = [texts[docid] for docid in ranking[query["_id"]]]
        yield {
            "id": query["_id"],
            "input": f"{query['text']} ({query['description']})",
            "expected_output": answers[query["_id"]],
            "retrieval_context": [
                f"{document.title}\n{document.text}"[:LONGEST] for document in documents
            ],
            "slices": ["asked often" if query["frequency"] >= OFTEN else "asked rarely"],
        }


def _answers() -> dict[str, str]:
    """The first document of a query that was graded 3, and why; by query id."""
    with (FIXTURES / "grades.tsv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    direct = [row for row in rows if row["grade"] == "3"]
    return {row["query-id"]: f"{row['corpus-id']}: {row['reason']}" for row in reversed(direct)}
