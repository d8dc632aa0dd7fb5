"""A case set, a judge that the stub plays, and evaluations, for tests of contextual precision."""

import io
import json
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile

from benchmarks_app.collections.services import uploading
from benchmarks_app.jobs.services import jobs
from benchmarks_app.judges.services.judges import make_judge
from benchmarks_app.models import Benchmark, Job, JudgeEndpoint, User
from scoring.contextual.services.evaluating import start_evaluation
from scoring.contextual.services.images import receive_images
from scoring.contextual.services.importing import import_arguments
from scoring.models import (
    CaseOutcome,
    CaseSet,
    ContextualEvaluation,
)
from tests import factories

# By the stub's rule a node helps that says "useful", or holds an image.
HELPS, NOT = "This is useful.", "Something else."


def case(number: int, *nodes: Any, **more: Any) -> dict[str, Any]:
    """A case whose texts name it: faults are scripted by them."""
    return {
        "id": f"c{number}",
        "input": f"question {number} of many",
        "expected_output": "the answer",
        "retrieval_context": list(nodes),
        **more,
    }


CASES = [
    case(1, HELPS, NOT, slices=["easy"]),  # 1
    case(2, NOT, HELPS, slices=["easy", "short"]),  # 1/2
    case(3, NOT, NOT, slices=["hard"]),  # 0
    case(4, HELPS, NOT, HELPS, slices=["hard"]),  # (1 + 2/3) / 2 = 5/6
]
SCORES = [1.0, 0.5, 0.0, 5 / 6]


def lines(cases: list[dict[str, Any]]) -> bytes:
    return "\n".join(json.dumps(case) for case in cases).encode()


def png(colour: str = "red", size: tuple[int, int] = (8, 6), kind: str = "PNG") -> bytes:
    from PIL import Image

    out = io.BytesIO()
    Image.new("RGB", size, colour).save(out, kind)
    return out.getvalue()


def import_job(
    of: Benchmark,
    user: User,
    cases: list[dict[str, Any]] | bytes = CASES,
    images: dict[str, bytes] | None = None,
    name: str = "",
) -> Job:
    """The finished job of an import, whether it went well or not."""
    content = cases if isinstance(cases, bytes) else lines(cases)
    sent = [SimpleUploadedFile(name, data) for name, data in (images or {}).items()]
    file = SimpleUploadedFile("cases.jsonl", content)
    return jobs.run_here(
        benchmark=of,
        user=user,
        **import_arguments(
            benchmark=of,
            name=name,
            cases=uploading.receive_upload(benchmark=of, owner=user, file=file),
            images=receive_images(benchmark=of, owner=user, images=sent),
        ),
    )


def case_set(of: Benchmark, user: User, *args: Any, **more: Any) -> CaseSet:
    factories.done(import_job(of, user, *args, **more))
    return CaseSet.objects.ready().filter(benchmark=of).latest("pk")


def judge(of: Benchmark, user: User, url: str = "http://127.0.0.1:9/v1", **facts: Any) -> Any:
    """A judge at an address of the loopback, which tests allow."""
    facts = {"name": "stub", "model": "tiny", "max_attempts": 2, "timeout_seconds": 5, **facts}
    return make_judge(benchmark=of, user=user, base_url=url, **facts)


def evaluation(of: CaseSet, by: JudgeEndpoint, user: User, **more: Any) -> ContextualEvaluation:
    """An evaluation that was started; its job waits."""
    return start_evaluation(case_set=of, judge=by, user=user, **more)


def judged(of: CaseSet, by: JudgeEndpoint, user: User, **more: Any) -> ContextualEvaluation:
    """An evaluation of made-up verdicts: each case helps by its first node."""
    made = evaluation(of, by, user, **more)
    for outcome in made.outcomes.select_related("case"):
        n = outcome.case.n_nodes
        verdicts = [{"node": k + 1, "is_relevant": k == 0, "reason": "so"} for k in range(n)]
        CaseOutcome.objects.filter(pk=outcome.pk).update(
            state="scored",
            score=1.0 if n else 0.0,
            is_success=bool(n),
            verdicts=verdicts,
            reason="The first one helps.",
            answers=[{"kind": "verdicts", "text": "{}", "model": "tiny", "seconds": 0.1}],
        )
    Job.objects.filter(pk=made.job_id).update(state="done")
    ContextualEvaluation.objects.filter(pk=made.pk).update(
        state="done", n_scored=made.n_cases, n_success=made.n_cases, mean=1.0
    )
    made.refresh_from_db()
    return made
