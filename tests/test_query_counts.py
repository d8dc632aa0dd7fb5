"""A page of a list asks the database as often for 20 rows as for 2."""

import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from allauth.mfa.models import Authenticator
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.models import Judgment, KnownGrade, Question
from benchmarks_app import label_facts
from benchmarks_app.common.services import audit
from benchmarks_app.jobs.services import jobs
from benchmarks_app.label_facts import LabelRecord
from benchmarks_app.models import Benchmark, Job, PendingLog, QrelSet, Release, Run, Team, User
from scoring.models import Retrieval, ScoreSet
from scoring.scores.selectors.releases import SCORER_VERSION
from tests import factories
from tests.annotation import making, making_machines
from tests.scoring.making_gates import gate_of, policy_of
from tests.world import addresses

pytestmark = pytest.mark.django_db
FEW, MANY = 2, 20


# --- rows: each function adds those numbered from `first` up to `last` ----------------------------


def queries(of: Benchmark, first: int, last: int) -> None:
    for number in range(first, last):
        factories.query(of, f"n{number}")


def queries_of_families(of: Benchmark, first: int, last: int) -> None:
    for number in range(first, last):
        query = factories.query(of, f"n{number}")
        other = factories.query(of, f"also-n{number}", family=query.family)
        factories.linked(query, other, 0.7)


def run(of: Benchmark, number: int) -> Run:
    owner = factories.user(f"owner{number}")
    return of.runs.create(name=f"run{number}", owner=owner, n_rows=1, n_queries=1, depth=1)


def embedding_pairs(of: Benchmark, first: int, last: int) -> None:
    for number in range(first, last):
        by = factories.user(f"owner{number}")
        team = by.teams.create(name=f"team{number}")
        job = of.jobs.create(kind="measure-pair", title="Measure", state="failed", error="Cut.")
        factories.embedding_pair(of, by, f"pair{number}", team=team, job=job)


def corpora(of: Benchmark, first: int, last: int) -> None:
    for number in range(first, last):
        bench = factories.benchmark(f"corpus{number}", visibility=Benchmark.Visibility.PUBLIC)
        factories.snapshot_row(bench, state="ready")


def corpus_versions(of: Benchmark, first: int, last: int) -> None:
    for number in range(first, last):
        factories.snapshot_row(of, number + 1)
        factories.benchmark(f"beside{number}", corpus=of.corpus)


def runs(of: Benchmark, first: int, last: int) -> None:
    for number in range(first, last):
        run(of, number)


def qrel_sets(of: Benchmark, first: int, last: int) -> None:
    for number in range(first, last):
        factories.qrel_set(of, {("q1", "d1"): number % 4}, name=f"set{number}")


def release(of: Benchmark, number: int) -> Release:
    return of.releases.create(
        major=1,
        minor=number,
        patch=0,
        state=Release.State.PUBLISHED,
        published_at=timezone.now(),
        qrel_set=factories.qrel_set(of, {("q1", "d1"): 1}),
        created_by=factories.user(f"publisher{number}"),
        manifest={"files": {}, "n_queries": 1, "qrels": {"n": 1}},
    )


def gates(of: Benchmark, first: int, last: int) -> None:
    published = of.releases.first() or release(of, 0)
    baseline = of.runs.filter(name="run100").first() or run(of, 100)
    for number in range(first, last):
        policy = policy_of(baseline, factories.user(f"maker{number}"), f"policy{number}")
        gate_of(policy, run(of, number), published)


def releases(of: Benchmark, first: int, last: int) -> None:
    for number in range(first, last):
        release(of, number)


def events(of: Benchmark, first: int, last: int) -> None:
    for number in range(first, last):
        audit.record(actor=factories.user(f"actor{number}"), action="look", benchmark=of)


def background_jobs(of: Benchmark, first: int, last: int) -> None:
    states = [Job.State.DONE, Job.State.FAILED]
    for number in range(first, last):
        starter = factories.user(f"starter{number}")
        title = f"job {number}"  # of those of one title the last is shown
        Job.objects.create(
            kind="test", title=title, benchmark=of, created_by=starter, state=states[number % 2]
        )


def reported_values(of: Benchmark, first: int, last: int) -> None:
    for number in range(first, last):
        factories.reported(of, factories.user(f"reporter{number}"))


def members(of: Benchmark, first: int, last: int) -> None:
    for number in range(first, last):
        factories.member(of, f"member{number}", "annotator")
        of.invitations.create(
            role="viewer",
            secret_digest=str(number),
            created_by=factories.user(f"member{number}"),
            expires_at=timezone.now() + timedelta(days=1),
        )


def pools(of: Benchmark, first: int, last: int) -> None:
    for number in range(first, last):
        making.pool(of, {"q1": ["d1", "d2"]}, name=f"pool{number}")


def judgments(of: Benchmark, first: int, last: int) -> None:
    small_pool = making.pool(of, {f"q{number}": ["d1"] for number in range(first, last)})
    for number, slot in enumerate(small_pool.slots.all()):
        making.judge(slot, factories.user(f"judge{first + number}"), number % 4)


def stale_labels(of: Benchmark, first: int, last: int) -> None:
    pool = of.pools.first() or making.pool(of, {f"q{n}": [f"d{n}"] for n in range(MANY)})
    for slot in pool.slots.order_by("queue_position")[first:last]:
        query, docid = slot.query, slot.entry.document.docid
        of.judgments.create(
            query=query,
            docid=docid,
            kind="grade",
            grade=1,
            pool=pool,
            slot=slot,
            actor=factories.user("ann"),
            client_id=uuid.uuid4(),
            content_hash="earlier",
            purpose="label",
        )


def disputes(of: Benchmark, first: int, last: int) -> None:
    """Documents that two people of a file disagree about, each of another query."""
    for number in range(first, last):
        query = factories.query(of, f"d{number}")
        for rater, grade in (("w1", 3), ("w2", number % 2)):
            of.judgments.create(
                query=query,
                docid=f"disputed{number}",
                kind="import",
                grade=grade,
                actor=factories.user("keeper"),
                rater=rater,
                client_id=uuid.uuid4(),
            )


def benchmarks(of: Benchmark, first: int, last: int) -> None:
    for number in range(first, last):
        other = factories.benchmark(f"more{number}")
        factories.member(other, "olga", "owner")
        run(other, number)
        factories.query(other)


def security_keys(of: Benchmark, first: int, last: int) -> None:
    """Of the owner, who looks."""
    for number in range(first, last):
        user, data = User.objects.get(username="olga"), {"name": f"key {number}"}
        Authenticator.objects.create(user=user, type="webauthn", data=data)


def pools_of_benchmarks(of: Benchmark, first: int, last: int) -> None:
    for number in range(first, last):
        other = factories.benchmark(f"more{number}")
        factories.member(other, "olga", "annotator")
        making.pool(other, {"q1": ["d1", "d2"]})


def uploads(of: Benchmark, first: int, last: int) -> None:
    for number in range(first, last):
        owner = factories.user(f"giver{number}")
        name, done = f"{number}.run", "run"
        of.uploads.create(owner=owner, name=name, sha256=str(number), size=1, imported_as=done)
        factories.waiting_upload(of, name, b"1 Q0 d%d 1 2.5 s\n" % number, owner)


def scored(of: Benchmark, number: int) -> ScoreSet:
    on = of.releases.first() or release(of, 0)
    score_set = ScoreSet.objects.create(
        run=run(of, number),
        release=on,
        scorer_version=SCORER_VERSION,
        n_queries=1,
        n_missing=0,
        n_extra=0,
    )
    for measure in ("nDCG@10", "RR@10", "R@100", "Judged@10"):
        score_set.scores.create(measure=measure, mean=number / 100, n=1, judged_share=1)
    return score_set


def scores(of: Benchmark, first: int, last: int) -> None:
    for number in range(first, last):
        scored(of, number)


def submissions(of: Benchmark, first: int, last: int) -> None:
    for number in range(first, last):
        score_set = scored(of, number)
        phase = of.phases.first() or of.phases.create(release=score_set.release, name="test")
        phase.submissions.create(
            run=score_set.run, name=f"s{number}", submitter=score_set.run.owner, state="scored"
        )


def phases(of: Benchmark, first: int, last: int) -> None:
    for number in range(first, last):
        of.phases.create(release=release(of, number), name=f"phase {number}")


def teams(of: Benchmark, first: int, last: int) -> None:
    for number in range(first, last):
        record = Team.objects.create(name=f"team{number}")
        record.members.add(factories.user("olga"), factories.user(f"mate{number}"))


def queries_of_a_run(of: Benchmark, first: int, last: int) -> None:
    """A release of `last` queries, and a run that is scored on it."""
    queries(of, first, last)
    grades = {(query.qid, "d1"): 1 for query in of.queries.all()}
    qrels = factories.qrel_set(of, grades)
    QrelSet.objects.filter(pk=qrels.pk).update(n_relevant=len(grades))
    qrels.refresh_from_db()
    if not of.runs.exists():
        factories.run(of, "\n".join(f"n{number} Q0 d1 1 1 s" for number in range(MANY)))
    factories.release(qrels, f"{last}.0.0")
    jobs.run_queued()


def holes_of_a_run(of: Benchmark, first: int, last: int) -> None:
    """As `queries_of_a_run`, with a document of each query that nobody judged."""
    if not of.runs.exists():
        lines = (f"n{number} Q0 {docid} 1 1 s" for number in range(MANY) for docid in ("d1", "d2"))
        factories.run(of, "\n".join(lines))
    queries_of_a_run(of, first, last)


def probing_flags(of: Benchmark, first: int, last: int) -> None:
    on = of.releases.first() or release(of, 0)
    phase = of.phases.first() or of.phases.create(release=on, name="a phase")
    evidence = {"depth": 10, "n_queries": 30, "n_differing": 1, "share_equal": 0.99}
    for number in range(first, last):
        sender = factories.user(f"sender{number}")
        earlier = phase.submissions.create(name=f"earlier{number}", submitter=sender)
        sent = phase.submissions.create(name=f"sent{number}", submitter=sender)
        sent.probing_flags.create(
            earlier=earlier,
            kind="single_query",
            evidence={**evidence, "queries": ["q1"], "n_compared": 1},
            settled_by=sender if number % 2 else None,
            settled_at=timezone.now() if number % 2 else None,
        )


def _entries(of: Benchmark, first: int, last: int) -> list[Any]:
    """An entry of a pool for each number, with a slot."""
    docids = [f"d{number}" for number in range(first, last)]
    small_pool = making.pool(of, {f"q{docid}": [docid] for docid in docids}, name=f"from {first}")
    return list(small_pool.slots.select_related("entry").order_by("pk"))


def known_grades(of: Benchmark, first: int, last: int) -> None:
    pool = of.pools.order_by("pk").first() or making.pool(of, {"q": ["d"]})
    for slot in _entries(of, first, last):
        slot.entry.pool = pool
        slot.entry.save()
        KnownGrade.objects.create(
            entry=slot.entry, purpose="gold", grade=1, set_by=factories.user("olga")
        )


def questions(of: Benchmark, first: int, last: int) -> None:
    for slot in _entries(of, first, last):
        asked = {"entry": slot.entry, "slot": slot, "asked_by": factories.user("olga")}
        Question.objects.create(client_id=uuid4(), text="Is it?", **asked)


def own_judgments(of: Benchmark, first: int, last: int) -> None:
    for number, slot in enumerate(_entries(of, first, last), start=first):
        making.judge(slot, factories.user("olga"), number % 4)


def candidate_lists(of: Benchmark, first: int, last: int) -> None:
    for number in range(first, last):
        factories.candidate_list(of, f"list {number}")


def contamination_checks(of: Benchmark, first: int, last: int) -> None:
    for number in range(first, last):
        factories.contamination_check(of, f"list {number}", result={"slices": []})


def contaminated_queries(of: Benchmark, first: int, last: int) -> None:
    row = {"name": "all queries", "n": 1, "n_exact": 1, "n_near": 0, "n_possible": 0, "n_clean": 0}
    check = of.contamination_checks.first() or factories.contamination_check(
        of, result={"slices": [row]}
    )
    for _ in range(first, last):
        check.matches.create(query=factories.query(of), degree="exact", similarity=1)


def split_slices(of: Benchmark, first: int, last: int) -> None:
    """Slices of queries that are in two splits and read alike."""
    for number in range(first, last):
        queries = [factories.query(of, text=f"number {number}{end}") for end in ("", "!")]
        factories.query_slice(of, f"slice {number}", *queries)
        for query, split in zip(queries, ("train", "test"), strict=True):
            query.family.split = split
            query.family.save()


# --- pages ---------------------------------------------------------------------------------------


def query_draws(of: Benchmark, first: int, last: int) -> None:
    facts = {"seed": 1, "frame": "f", "n_population": 100, "families": ["q1"]}
    for number in range(first, last):
        person = factories.member(of, f"drawer{number}", "maintainer")
        of.query_draws.create(n_drawn=number + 1, created_by=person, **facts)


def query_logs(of: Benchmark, first: int, last: int) -> None:
    for number in range(first, last):
        factories.query_log(of, f"log{number}")
        upload = of.uploads.create(
            owner=factories.user("keeper"), name=f"{number}.csv", stored="x", sha256="x", size=1
        )
        PendingLog.objects.create(upload=upload)


def slices(of: Benchmark, first: int, last: int) -> None:
    asked = of.queries.first() or factories.query(of, "q")
    for number in range(first, last):
        factories.query_slice(of, f"slice{number}", asked)


def slice_members(of: Benchmark, first: int, last: int) -> None:
    into = of.slices.first() or factories.query_slice(of, "slice")
    for number in range(first, last):
        into.members.create(query=factories.query(of, f"n{number}"), source="human")


def judged_cases(of: Benchmark, first: int, last: int) -> None:
    """Case sets, judges and evaluations."""
    keeper = factories.user("keeper")
    for number in range(first, last):
        facts = {"file_name": "", "sha256": "", "n_cases": 1, "n_nodes": 1, "is_ready": True}
        facts["takes_verdicts"] = True
        record = of.case_sets.create(name=f"set{number}", created_by=keeper, **facts)
        of.judges.create(name=f"j{number}", base_url="https://j", model="m", created_by=keeper)
        record.evaluations.create(created_by=keeper, model="m")


def hooks(of: Benchmark, first: int, last: int) -> None:
    """Webhooks, each told something."""
    for number in range(first, last):
        facts = {"url": f"https://ci.example.org/{number}", "events": ["job.failed"]}
        record = of.webhooks.create(created_by=factories.user(f"keeper{number}"), **facts)
        notice = of.notices.create(event="job.failed", path="/")
        notice.deliveries.create(webhook=record)


def told_of_jobs(of: Benchmark, first: int, last: int) -> None:
    """Deliveries of one webhook."""
    owner = factories.user("keeper")
    webhook = of.webhooks.first() or of.webhooks.create(url="https://a.b/", created_by=owner)
    for number in range(first, last):
        notice = of.notices.create(event="job.failed", path=f"/{number}")
        notice.deliveries.create(webhook=webhook, status=200, state="delivered", answer="ok")


def judge_campaigns(of: Benchmark, first: int, last: int) -> None:
    """Campaigns, each with a judge and a prompt of its own."""
    pool = of.pools.first() or making.pool(of, {"q1": ["d1"]})
    for number in range(first, last):
        judge = making_machines.judge(of, f"grader {number}")
        prompt = making_machines.prompt(of, f"{number} {{query}} {{document}}")
        making_machines.campaign(pool, name=f"c{number}", judge=judge, prompt=prompt)


def contradictions(of: Benchmark, first: int, last: int) -> None:
    """Documents that a person and a machine grade far apart, decided and made examples of."""
    pool = of.pools.first() or making.pool(of, {"q1": ["d1"]})
    campaign = of.campaigns.first() or making_machines.campaign(pool)
    keeper = factories.user("keeper")
    for number in range(first, last):
        place = {"query": factories.query(of, f"far{number}"), "docid": "d1"}
        label = making_machines.label(campaign, grade=3, **place)
        more = {"state": "graded", "judgment": label, "number": number + 1}
        making_machines.pair(campaign, **place, **more)
        facts = {"benchmark": of, "actor": keeper, "grade": 0, **place}
        word = Judgment.objects.create(kind="import", client_id=uuid4(), **facts)
        settled = {"kind": "adjudicate", "outcome": "override", "client_id": uuid4()}
        Judgment.objects.create(**facts, **settled)
        word.examples.create(benchmark=of, text="So.", created_by=keeper)


def live_systems(of: Benchmark, first: int, last: int) -> None:
    for number in range(first, last):
        factories.live_run(factories.live_system(of), name=f"live{number}")


def baselines(of: Benchmark, first: int, last: int) -> None:
    """Runs that were made here, and timed."""
    for number in range(first, last):
        run = factories.timed(factories.run(of, "q1 Q0 d1 1 1.0 s", name=f"bm25 {number}"))
        Run.objects.filter(pk=run.pk).update(kind="baseline", metadata={"system": "bm25"})
        recipe = {"system": "bm25", "language": "en", "depth": 100, "n_queries": 1}
        Retrieval.objects.create(run=run, indexing_seconds=1.0, **recipe)


PAGES: dict[str, tuple[Callable[[Benchmark, int, int], None], Callable[[Benchmark], dict]]] = {
    "log-list": (query_logs, lambda of: {"slug": of.slug}),
    "query-draw-list": (query_draws, lambda of: {"slug": of.slug}),
    "query-list": (queries, lambda of: {"slug": of.slug}),
    "api:query-list": (queries, lambda of: {"slug": of.slug}),
    "corpus-list": (corpora, lambda of: {}),
    "api:corpus-list": (corpora, lambda of: {}),
    "corpus-detail": (corpus_versions, lambda of: {"slug": of.slug}),
    "api:run-list": (runs, lambda of: {"slug": of.slug}),
    "run-list": (runs, lambda of: {"slug": of.slug}),
    "qrels-list": (qrel_sets, lambda of: {"slug": of.slug}),
    "slice-list": (slices, lambda of: {"slug": of.slug}),
    "slice-detail": (slice_members, lambda of: {"slug": of.slug, "slice_name": "slice"}),
    "annotation:slice-coverage": (slices, lambda of: {"slug": of.slug}),
    "api:upload-list": (uploads, lambda of: {"slug": of.slug}),
    "person-list": (members, lambda of: {}),
    "api:event-list": (events, lambda of: {"slug": of.slug}),
    "api:member-list": (members, lambda of: {"slug": of.slug}),
    "api:slice-list": (slices, lambda of: {"slug": of.slug}),
    "api:slice-members": (slice_members, lambda of: {"slug": of.slug, "slice_name": "slice"}),
    "release-list": (releases, lambda of: {"slug": of.slug}),
    "api:release-list": (releases, lambda of: {"slug": of.slug}),
    "activity-list": (events, lambda of: {"slug": of.slug}),
    "api:job-list": (background_jobs, lambda of: {"slug": of.slug}),
    "job-list": (background_jobs, lambda of: {"slug": of.slug}),
    "people-list": (members, lambda of: {"slug": of.slug}),
    "api:invitation-list": (members, lambda of: {"slug": of.slug}),
    "api:case-list": (disputes, lambda of: {"slug": of.slug}),
    "annotation:adjudicate": (disputes, lambda of: {"slug": of.slug}),
    "annotation:pool-list": (pools, lambda of: {"slug": of.slug}),
    "annotation:pool-top-up": (candidate_lists, lambda of: {"slug": of.slug}),
    "annotation:judgment-list": (judgments, lambda of: {"slug": of.slug}),
    "annotation:stale-list": (
        stale_labels,
        lambda of: {"slug": of.slug, "pk": of.pools.get().pk},
    ),
    "api:stale-list": (
        stale_labels,
        lambda of: {"slug": of.slug, "pk": of.pools.get().pk},
    ),
    "family-list": (queries_of_families, lambda of: {"slug": of.slug}),
    "api:family-list": (queries_of_families, lambda of: {"slug": of.slug}),
    "scoring:submission-list": (submissions, lambda of: {"slug": of.slug}),
    "api:submission-list": (submissions, lambda of: {"slug": of.slug}),
    "scoring:phase-list": (phases, lambda of: {"slug": of.slug}),
    "api:phase-list": (phases, lambda of: {"slug": of.slug}),
    "team-list": (teams, lambda of: {}),
    "api:team-list": (teams, lambda of: {}),
    "home": (benchmarks, lambda of: {}),
    "contamination-list": (contamination_checks, lambda of: {"slug": of.slug}),
    "contamination-detail": (
        contaminated_queries,
        lambda of: {"slug": of.slug, "pk": of.contamination_checks.get().pk},
    ),
    "api:contamination-list": (contamination_checks, lambda of: {"slug": of.slug}),
    "leak-report-detail": (split_slices, lambda of: {"slug": of.slug}),
    "api:benchmark-list": (benchmarks, lambda of: {}),
    "api:candidates-list": (candidate_lists, lambda of: {"slug": of.slug}),
    "api:log-list": (query_logs, lambda of: {"slug": of.slug}),
    "api:query-draw-list": (query_draws, lambda of: {"slug": of.slug}),
    "api:pool-list": (pools, lambda of: {"slug": of.slug}),
    "api:qrels-list": (qrel_sets, lambda of: {"slug": of.slug}),
    "annotation:queue": (pools_of_benchmarks, lambda of: {}),
    "import-new": (uploads, lambda of: {"slug": of.slug}),
    "scoring:leaderboard-release": (scores, lambda of: {"slug": of.slug, "version": "1.0.0"}),
    **{
        name: (gates, lambda of: {"slug": of.slug})
        for name in ("scoring:gate-list", "api:gate-list", "api:gate-policy-list")
    },
    "scoring:comparison": (scores, lambda of: {"slug": of.slug}),
    "scoring:leaderboard-csv": (scores, lambda of: {"slug": of.slug, "version": "1.0.0"}),
    **{
        name: (scores, lambda of: {"slug": of.slug, "version": "1.0.0"})
        for name in (
            "scoring:leaderboard-history",
            "api:leaderboard-detail",
            "api:leaderboard-slices",
            "api:leaderboard-history",
        )
    },
    "scoring:reported-list": (reported_values, lambda of: {"slug": of.slug}),
    "api:reported-list": (reported_values, lambda of: {"slug": of.slug}),
    "scoring:run-queries": (
        queries_of_a_run,
        lambda of: {"slug": of.slug, "pk": of.runs.get().pk},
    ),
    **{
        name: (holes_of_a_run, lambda of: {"slug": of.slug, "pk": of.runs.get().pk})
        for name in ("scoring:run-holes", "api:run-queries", "api:run-holes")
    },
    **{
        name: (holes_of_a_run, lambda of: {"slug": of.slug})
        for name in ("scoring:top-up-new", "api:top-up-list")
    },
    **{
        name: (hooks, lambda of: {"slug": of.slug}) for name in ("webhook-list", "api:webhook-list")
    },
    **{
        name: (
            told_of_jobs,
            lambda of: {"slug": of.slug, "pk": of.webhooks.earliest("pk").pk},
        )
        for name in ("webhook-detail", "api:webhook-delivery-list")
    },
    **{
        name: (judged_cases, lambda of: {"slug": of.slug})
        for name in (
            "scoring:contextual-list",
            "scoring:contextual-verdicts",
            "judge-list",
            "api:contextual-set-list",
            "api:judge-list",
            "api:contextual-evaluation-list",
        )
    },
    **{
        name: (judge_campaigns, lambda of: {"slug": of.slug})
        for name in ("annotation:campaign-list", "api:campaign-list")
    },
    **{
        name: (
            contradictions,
            lambda of: {"slug": of.slug, "pk": of.campaigns.get().pk},
        )
        for name in ("annotation:contradiction-list", "api:contradiction-list")
    },
    **{
        name: (contradictions, lambda of: {"slug": of.slug})
        for name in ("annotation:example-list", "api:example-list")
    },
    "scoring:live-list": (live_systems, lambda of: {"slug": of.slug}),
    "api:live-list": (live_systems, lambda of: {"slug": of.slug}),
    "scoring:baseline-list": (baselines, lambda of: {"slug": of.slug}),
    "api:baseline-list": (baselines, lambda of: {"slug": of.slug}),
    "scoring:contrastive-list": (embedding_pairs, lambda of: {"slug": of.slug}),
    "api:contrastive-list": (embedding_pairs, lambda of: {"slug": of.slug}),
    "scoring:probing-list": (probing_flags, lambda of: {"slug": of.slug}),
    "api:probing-list": (probing_flags, lambda of: {"slug": of.slug}),
    "benchmark-detail": (background_jobs, lambda of: {"slug": of.slug}),
    "account-detail": (benchmarks, lambda of: {}),
    "factor-list": (security_keys, lambda of: {}),
    "annotation:known-grade-list": (
        known_grades,
        lambda of: {"slug": of.slug, "pk": of.pools.order_by("pk").first().pk},
    ),
    "api:known-grade-list": (
        known_grades,
        lambda of: {"slug": of.slug, "pk": of.pools.order_by("pk").first().pk},
    ),
    "annotation:question-list": (questions, lambda of: {"slug": of.slug}),
    "api:question-list": (questions, lambda of: {"slug": of.slug}),
    "api:own-judgments": (own_judgments, lambda of: {}),
    "api:own-questions": (questions, lambda of: {}),
    "annotation:my-question-list": (questions, lambda of: {}),
    "annotation:my-judgment-list": (own_judgments, lambda of: {}),
}


# What is asked for behind an address, where there is no list without.
ASKED = {
    name: lambda of: f"?runs={of.runs.get().pk}"
    for name in ("scoring:top-up-new", "api:top-up-list")
} | {
    name: lambda of: "?state=all"
    for name in ("annotation:contradiction-list", "api:contradiction-list")
}

# Of the site as a whole: for its managers.
OF_MANAGERS = {"person-list"}
# Named as lists, and never longer with more rows.
NO_LISTS = {
    "api:comparison-list": "compares the runs it is asked for: GET is one comparison",
    "api:document-grades-list": "takes grades and shows none: GET is answered 405",
    "api:export-list": "the formats of a release are those of the program",
    "api:gate-rehearsal-list": "takes runs to rehearse with and shows none: GET is answered 405",
    "api:fetch-list": "takes the name of a collection and shows none: GET is answered 405",
}


def test_every_list_is_counted():
    named = {address.name for address in addresses()}
    lists = {name for name in named if name.endswith("-list")}

    assert lists - set(NO_LISTS) <= set(PAGES) <= named
    assert set(NO_LISTS) <= lists - set(PAGES)


@pytest.mark.parametrize("name", PAGES)
def test_page_asks_as_often_for_20_rows_as_for_2(name, benchmark, owner, signed_in):
    add, _ = PAGES[name]
    owner.is_staff = name in OF_MANAGERS
    owner.save()
    client = signed_in(owner)

    add(benchmark, 0, FEW)
    few, short = asked(client, _address(name, benchmark))
    add(benchmark, FEW, MANY)
    many, long = asked(client, _address(name, benchmark))

    assert len(long) > len(short), "the rows are not on the page"
    assert len(many) == len(few), "\n".join(sql for sql in many if sql not in few)


def _address(name: str, of: Benchmark) -> str:
    _, arguments = PAGES[name]
    return reverse(name, kwargs=arguments(of)) + (ASKED[name](of) if name in ASKED else "")


def asked(client: Any, url: str) -> tuple[list[str], bytes]:
    """The statements a page takes, and the page."""
    client.get(url)  # sessions, content types, sizes that are kept for a minute
    with CaptureQueriesContext(connection) as captured:
        response = client.get(url)
    assert response.status_code == 200
    return [query["sql"] for query in captured], response.content


# --- lists that ask for more than an address ------------------------------------------------------


def test_stale_labels_ask_as_often_for_20_rows_as_for_2(benchmark, owner, signed_in, monkeypatch):
    client, url = signed_in(owner), reverse("scoring:freshness", args=[benchmark.slug])
    long_ago = timezone.now() - timedelta(days=900)

    def shown(last: int) -> tuple[list[str], bytes]:
        queries_of_a_run(benchmark, max(0, benchmark.queries.count()), last)
        rows = [LabelRecord(f"n{number}", "d1", "as it was", long_ago) for number in range(last)]
        monkeypatch.setattr(label_facts, "RECORDERS", [lambda qrel_set: rows])
        return asked(client, url)

    few, short = shown(FEW)
    many, long = shown(MANY)

    assert (short.count(b"labelled long ago"), long.count(b"labelled long ago")) == (3, 21)
    assert len(many) == len(few), "\n".join(sql for sql in many if sql not in few)
