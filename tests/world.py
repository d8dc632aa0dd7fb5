"""Two whole benchmarks with everything that has an address, and the cast of `conftest.py`.

Built once for a module of tests that only look, or that take back what they do.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.core import signing
from django.http import QueryDict
from django.test import Client
from django.test.client import ClientHandler
from django.urls import URLPattern, URLResolver, get_resolver

from annotation.judging.services.judging import record_judgment
from annotation.judging.services.tokens import Shown
from annotation.models import Judgment, KnownGrade, Pool, Question
from benchmarks_app.charts.drawing import bundle_digest
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Benchmark, Role, User
from benchmarks_app.notices.services.mailing import stop_token
from benchmarks_app.people.services import people, teams
from benchmarks_app.people.services.api_tokens import create_api_token
from benchmarks_app.queries.services import draw_families
from benchmarks_app.releases.services.drafting import create_draft
from benchmarks_app.splits.views.splits import TOKEN_SALT
from scoring.comparisons.forms import asked_comparison, asked_release
from scoring.comparisons.services import comparing
from scoring.contextual.services.evaluating import cancel_evaluation
from scoring.contextual.services.people import ask_people
from tests import factories
from tests.annotation import making_machines
from tests.annotation.making import begun
from tests.scoring import making_contextual
from tests.scoring.making_gates import gate_of, policy_of, rehearsal_of

CAST = {
    "vi": "viewer",
    "ada": "annotator",
    "sam": "submitter",
    "bo": "adjudicator",
    "mia": "maintainer",
    "olga": "owner",
}
RUN = """
1 Q0 d-empty-title 1 3.0 s
1 Q0 d-tab 2 2.0 s
q-quote Q0 d-quote 1 3.0 s
q-cjk Q0 d-cjk 1 3.0 s
"""
OTHER_RUN = """
1 Q0 123 1 3.0 s
q-quote Q0 d-line 1 3.0 s
"""


@dataclass
class World:
    benchmark: Benchmark
    other: Benchmark
    arguments: dict[str, Any]  # by the URL name, or the name of the URL's argument
    foreign: dict[str, Any]  # the same of the other benchmark
    sessions: dict[str, str]
    files: Path
    handlers: dict[bool, ClientHandler] = field(
        default_factory=dict
    )  # by whether forms need a token

    def client(self, person: str, **options: Any) -> Client:
        """A fresh client, signed in as one of the cast; `anonymous` is not."""
        client = Client(**options)
        # What a request goes through is made once, not by every client anew.
        checked = client.handler.enforce_csrf_checks
        client.handler = self.handlers.setdefault(checked, client.handler)
        if person in self.sessions:
            client.cookies = SimpleCookie({settings.SESSION_COOKIE_NAME: self.sessions[person]})
        return client


def build(*, files: Path, prepared: Callable[[Benchmark], None] | None = None) -> World:
    """`files` is the folder that the storage keeps its files in meanwhile.

    `prepared` is called with the benchmark before anything is made of it.
    """
    benchmark, other = (factories.tiny_benchmark(slug) for slug in ("stdlib", "other"))
    Benchmark.objects.update(may_embed=True)
    if prepared:
        prepared(benchmark)
    cast = {name: factories.member(benchmark, name, role) for name, role in CAST.items()}
    cast["cy"] = factories.member(other, "cy", "owner")
    cast["gil"] = factories.user("gil", is_staff=True)
    return World(
        benchmark=benchmark,
        other=other,
        arguments=_objects(benchmark, cast["olga"], cast["sam"], "1.0.0"),
        foreign=_objects(other, cast["cy"], cast["cy"], "3.0.0"),
        sessions={name: session_of(person) for name, person in cast.items()},
        files=files,
    )


def session_of(person: User) -> str:
    """The key of a session in which somebody is signed in."""
    client = Client()
    client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
    return client.cookies[settings.SESSION_COOKIE_NAME].value


def _named(pk: int, *groups: str) -> dict[str, int]:
    """The number by each name; "api:run- detail query" names api:run-detail and api:run-query."""
    words = (group.split() for group in groups)
    return {f"{begin}{end}": pk for begin, *ends in words for end in ends}


def _objects(of: Benchmark, owner: User, submitter: User, version: str) -> dict[str, Any]:
    """An object of each kind that an address names."""
    runs = [
        factories.run(of, lines, owner=owner, name=f"{of.slug}-{name}")
        for name, lines in (("first", RUN), ("second", OTHER_RUN))
    ]
    factories.timed(runs[0])
    pool = factories.depth_pool(of, runs)
    qrels = of.qrel_sets.get()
    factories.release(qrels, version, by=owner)
    draft = create_draft(user=owner, qrel_set=qrels)
    jobs.run_queued()
    compared = factories.simulation(qrels, runs)
    guest = factories.member(of, f"guest-of-{of.slug}", "viewer")
    begun(pool)
    invited = people.invite(benchmark=of, role=Role.VIEWER, actor=owner, days=3)
    submission = factories.submission(of.phases.get(), RUN, by=submitter)
    failed = jobs.Job.objects.create(
        kind="score-runs", title="Lost", benchmark=of, created_by=owner, state="failed"
    )
    running = jobs.Job.objects.create(
        kind="score-runs",
        title="At work",
        benchmark=of,
        created_by=owner,
        state="running",
        token=uuid4(),
    )
    membership = guest.memberships.get()
    query = of.queries.get(qid="1")
    waiting = factories.waiting_upload(of, "queries.csv", b"qid,text\nq-new,what is new\n", owner)
    return {
        "slug": of.slug,
        "version": version,
        "export": "hub",
        "docid": "d-quote",
        "sha256": factories.corpus_image(of).sha256,
        "number": factories.snapshot(of).number,
        "name": "qrels.trec",
        "chapter_name": "pools",
        "file_name": "searchindex.js",
        "chart": "coverage",
        "key": _compared(of, owner, runs),
        "part": 0,
        "run": runs[0].pk,
        "reference": runs[1].pk,
        **_split(of),
        "format": "csv",
        "secret": invited.secret,
        **_logs(of),
        "slice_name": factories.rule_slice(of, "short").name,
        "uidb64": "MQ",
        "token": "a-token",
        "digest": bundle_digest(),
        **_named(query.pk, "query- detail", "api:query- detail search"),
        **_named(query.pk, "annotation: query-search found-grade pair-detail"),
        **_named(
            draw_families(benchmark=of, n=1, user=owner).pk,
            "query-draw- queries",
            "api:query-draw- queries",
        ),
        **_named(query.family_id, "family- detail decide"),
        **_named(query.family_id, "api:family- detail merge split verdict confirm"),
        "annotation:adjudicate-item": _dispute(of, owner),
        **_named(runs[0].pk, "run- detail export", "api:run- detail query withdraw export"),
        "qrels_name": qrels.name,
        **_named(qrels.pk, "qrels- download map", "api:qrels- detail download map"),
        "qrels-delete": factories.qrel_set(of, {("1", "d1"): 1}).pk,
        **_named(draft.pk, "release- draft draft-check draft-delete draft-edit"),
        **_named(draft.pk, "api:release- draft draft-check draft-publish"),
        **_named(invited.invitation.pk, "invitation- revoke", "api:invitation- detail"),
        **_named(membership.pk, "member- role remove blindness", "api:member- detail"),
        **_named(membership.user_id, "person- delete export", "api:account- delete export"),
        **_named(waiting.pk, "import- decide preview remove", "api:upload- detail import"),
        "kind": "md",
        **_gates(of, runs, owner, version),
        **_named(failed.pk, "job- detail progress retry", "api:job- detail events retry"),
        **_named(running.pk, "job- cancel", "api:job- cancel"),
        **_named(
            pool.pk,
            "annotation:pool- detail progress charts chart people release settings sparing",
            "annotation:pool- sparing-stop queue waive state",
            "annotation: judge judge-exchange judge-later judge-ask judgment-create judgment-undo",
            "annotation: cant-judge-create stop start practice stale-list stale-offer",
            "annotation:known-grade- list import share settled",
            "api:pool- detail people report start exchange stop release waive sparing queue",
            "api: stale-list known-grade-list known-grade-settled known-grade-detail",
        ),
        **_named(_drawn(pool).pk, "annotation:pool- estimates", "api:pool- estimates"),
        "factor-remove": 0,  # nobody of the cast has one: `test_factors` removes some
        "api-token-revoke": create_api_token(user=owner, name="nightly", days=3).token.pk,
        "annotation:pool-simulation-chart": compared.pk,
        **_around(pool, owner),
        **_named(
            factories.reported(of, owner).pk,
            "scoring:reported- delete edit",
            "api:reported- detail",
        ),
        **_submitting(of, owner, submission),
        **_paired(of, submitter),
        **_live(of, owner, runs[0]),
        "wish": "0.02_40_10__0.1_30_3",
        "exact": runs[0].pk,
        "approximate": runs[1].pk,
        "tolerance": "1e-06",
        "k": 2,
        **_run_pages(runs[0].pk, submission),
        **_contextual(of, owner),
        **_campaigns(pool, owner),
        **_webhook(of, owner),
    }


def _webhook(of: Benchmark, owner: User) -> dict[str, Any]:
    """A webhook with what it was told, and a link out of a mail."""
    sent = factories.delivery(of, owner)
    return {
        **_named(sent.webhook_id, "webhook- detail secret test delete resend"),
        **_named(sent.webhook_id, "api:webhook- detail secret test delivery-list resend"),
        "delivery": sent.pk,
        "stop": stop_token(owner, "job.failed"),
    }


def _drawn(pool: Pool) -> Pool:
    """A pool for estimates of which nothing is labelled; it is closed, and nobody judges it."""
    fields = {"n_documents": 9, "n_queries": 4, "frame": "", "last_query": 0}
    record = Pool.objects.create(
        benchmark=pool.benchmark,
        name="drawn",
        strategy="estimate",
        state="closed",
        parameters={"depth": 3, "measure": "p", "labels": 5, "population": fields},
        statistics=pool.statistics,
        seed=7,
        n_entries=1,
        created_by=pool.created_by,
    )
    entry = pool.entries.select_related("query", "document").first()
    record.entries.create(query=entry.query, document=entry.document, priority=0)
    return record


def _campaigns(pool: Pool, owner: User) -> dict[str, Any]:
    """What addresses of campaigns name: to be started, under way, and one with its labels."""
    judge = making_machines.judge(pool.benchmark, "grader")
    ready, under_way = (
        making_machines.campaign(pool, judge=judge, name=name, created_by=owner)
        for name in ("ready", "under way")
    )
    entry = pool.entries.select_related("query", "document").first()
    for campaign in (ready, under_way):
        making_machines.pair(campaign, entry.query, entry.document.docid)
    graded = making_machines.campaign(pool, judge=judge, name="graded", created_by=owner)
    label = making_machines.label(graded, entry.query, entry.document.docid, 1)
    place = {"query": entry.query, "docid": entry.document.docid}
    making_machines.pair(graded, **place, state="graded", judgment=label)
    # The machine says what the second did of two people of a file who disagree.
    disputed = {"query": pool.benchmark.queries.get(qid="1"), "docid": "d-quote"}
    apart = making_machines.label(graded, grade=0, **disputed)
    pair = making_machines.pair(graded, **disputed, number=2, state="graded", judgment=apart)
    word = Judgment.objects.filter(kind="import", **disputed).earliest("pk")
    example = word.examples.create(benchmark=pool.benchmark, text="Quoted.", created_by=owner)
    # Not queued: what is done here for others would do it as well, and ask the judge.
    facts = {"kind": "judge-pool", "title": "Ask", "state": "running", "token": uuid4()}
    job = jobs.Job.objects.create(benchmark=pool.benchmark, created_by=owner, **facts)
    under_way.state, under_way.job = "running", job
    under_way.save()
    return {
        **_named(ready.pk, "annotation:campaign- detail calibration progress start try delete"),
        **_named(ready.pk, "api:campaign- detail calibration failed start try"),
        **_named(under_way.pk, "annotation:campaign- pause cancel", "api:campaign- pause cancel"),
        **_named(graded.pk, "annotation: campaign-publish contradiction-list contradiction-settle"),
        **_named(graded.pk, "annotation: example-new", "api: campaign-publish contradiction-list"),
        **_named(example.pk, "annotation:example- withdraw", "api:example- detail"),
        "pair": pair.pk,
    }


def _contextual(of: Benchmark, owner: User) -> dict[str, Any]:
    """What addresses of cases, judges and verdicts name."""
    cases = [making_contextual.case(n, "a", {"image": "a.png"}) for n in range(1, 5)]
    case_set = making_contextual.case_set(of, owner, cases, {"a.png": making_contextual.png()})
    address = "https://judge.example.org/v1"
    judge = making_contextual.judge(of, owner, address)
    done = making_contextual.judged(case_set, judge, owner)
    ask_people(case_set=case_set, user=owner, is_asked=True)
    # What is under way keeps its set and its judge from being deleted: it has others.
    beside = making_contextual.case_set(of, owner, name="beside")
    other = making_contextual.judge(of, owner, address, name="other")
    waiting, ended = (making_contextual.evaluation(beside, other, owner) for _ in range(2))
    cancel_evaluation(evaluation=ended, user=owner)
    # Not queued: what is done here for others would do it as well, and ask the judge.
    jobs.Job.objects.filter(pk=waiting.job_id).update(state="running", token=uuid4())
    return {
        "image": case_set.images.get().pk,
        "judge_name": judge.name,
        **_named(
            case_set.pk,
            "scoring:contextual- set set-delete set-people image evaluation-new estimate compare",
            "scoring:contextual- verdict-case verdict-image",
            "api:contextual- verdicts set-detail set-cases set-image set-estimate",
        ),
        **_named(judge.pk, "judge- detail edit try trial delete", "api:judge- detail try"),
        **_named(
            done.pk,
            "scoring:contextual- evaluation progress evaluation-delete chart export case",
            "api:contextual-evaluation- detail cases",
        ),
        **_named(waiting.pk, "scoring:contextual- cancel", "api:contextual-evaluation- cancel"),
        **_named(ended.pk, "scoring:contextual- retry", "api:contextual-evaluation- retry"),
    }


def _submitting(of: Benchmark, owner: User, submission: Any) -> dict[str, Any]:
    """What addresses of submissions, phases and teams name."""
    team = teams.make_team(name=f"team of {of.slug}", user=owner)
    acts = "withdraw leave-out send-on"
    return {
        **_named(submission.pk, f"scoring:submission- detail state {acts}"),
        **_named(submission.pk, f"api:submission- detail {acts}"),
        **_named(
            submission.phase_id, "scoring:phase- detail edit close", "api:phase- detail close"
        ),
        **_named(team.pk, "team- detail add link leave", "api:team- detail members link"),
        "ticket": teams.team_link_secret(team=team, user=owner),
    }


def _paired(of: Benchmark, submitter: User) -> dict[str, Any]:
    """What addresses of pairs of embeddings name."""
    pair = factories.measured_pair(of, submitter)
    return {
        "contrastive_chart": "accuracy",
        **_named(pair.pk, "scoring:contrastive- detail state delete ranks-csv chart"),
        **_named(pair.pk, "api:contrastive- detail ranks"),
    }


def _live(of: Benchmark, owner: User, run: Any) -> dict[str, Any]:
    """What addresses of live systems name, and those of how long a run's queries took."""
    system = factories.live_system(of, owner).pk
    return {
        **_named(system, "scoring:live- detail edit delete try ask", "api:live- detail try ask"),
        **_named(run.pk, "scoring:run- latency latency-chart"),
    }


def _run_pages(run: int, submission: Any) -> dict[str, Any]:
    """What addresses of a run's scores name, and a submission that looks like probing."""
    evidence = {"depth": 10, "n_queries": 40, "n_differing": 1, "share_equal": 0.99}
    flag = submission.probing_flags.create(
        kind="single_query", evidence={**evidence, "queries": ["1"], "n_compared": 2}
    )
    return {
        "qid": "1",
        "measure": "nDCG@10",
        "run_chart": "grades",
        **_named(
            run,
            "scoring:run- scores queries queries-csv query slices reading holes holes-csv chart",
            "scoring:run- top-up withdraw",
            "scoring:contextual- run run-new",
            "api:run- scores queries holes latencies contextual",
        ),
        **_named(flag.pk, "scoring:probing- settle", "api:probing- settle"),
    }


def _compared(of: Benchmark, owner: User, runs: list[Any]) -> str:
    """The key of a stored comparison."""
    asked = QueryDict(mutable=True)
    asked.setlist("runs", [str(run.pk) for run in runs])
    release = asked_release(asked, of)
    return comparing.answer(asked_comparison(asked, owner, release).question, owner).key


def _gates(of: Benchmark, runs: list[Any], owner: User, version: str) -> dict[str, int]:
    major, minor, patch = version.split(".")
    release = of.releases.get(major=major, minor=minor, patch=patch)
    policy = policy_of(runs[0], owner)
    gate = gate_of(policy, runs[1], release).pk
    rehearsal = rehearsal_of(policy, runs[1:2], release).pk
    return {
        **_named(policy.pk, "scoring:policy- detail retire", "api:gate-policy- detail retire"),
        **_named(rehearsal, "scoring:rehearsal- detail state", "api:gate-rehearsal- detail"),
        **_named(gate, "scoring:gate- detail state report chart online online-log"),
        **_named(gate, "api:gate- detail report online online-log"),
    }


def _split(of: Benchmark) -> dict[str, Any]:
    """A check against an outside list, and what addresses of splits name."""
    row = {"name": "all queries", "n": 1, "n_exact": 0, "n_near": 0, "n_possible": 0}
    check = factories.contamination_check(
        of, result={"slices": [{**row, "n_document": 0, "n_clean": 1}]}
    )
    recipe = "mode=random&train=50&dev=0&test=50&seed=0"
    return {
        "split_chart": "balance",
        "recipe": signing.dumps(recipe, salt=TOKEN_SALT, compress=True),
        "written": "json",
        **_named(check.pk, "contamination- detail clean slice delete"),
        **_named(check.pk, "api:contamination- detail matches clean"),
    }


def _logs(of: Benchmark) -> dict[str, Any]:
    """A query log that was read, and the file of another that waits for its columns."""
    log, waiting = factories.read_log(of), factories.pending_log(of)
    return {
        "head": 500,
        "tail": 5000,
        **_named(log.pk, "log- detail curve", "api:log- detail samples sample-preview"),
        **_named(waiting.pk, "log- columns discard"),
    }


def _around(pool: Pool, owner: User) -> dict[str, Any]:
    """A practice document, and a judgment and a question of the annotator, if there is one."""
    member = pool.benchmark.memberships.filter(role=Role.ANNOTATOR).first()
    annotator = member.user if member else owner
    slots = list(pool.slots.order_by("pk")[:2])
    known = KnownGrade.objects.create(
        entry=slots[0].entry, purpose=KnownGrade.Purpose.PRACTICE, grade=1, set_by=owner
    )
    question = Question.objects.create(
        entry=slots[1].entry, slot=slots[1], asked_by=annotator, client_id=uuid4(), text="Is it?"
    )
    judgment = record_judgment(
        slot=slots[1], actor=annotator, grade=1, client_id=uuid4(), display=Shown()
    )
    return {
        "annotation:known-grade-remove": known.pk,
        "known": known.pk,
        **_named(question.pk, "annotation:question- answer", "api:question- answer"),
        **_named(judgment.pk, "annotation: my-judgment-detail", "api: own-judgment"),
    }


def _dispute(of: Benchmark, entered_by: User) -> int:
    """Two people of a file disagree about a document of a query; returns the query."""
    query = of.queries.get(qid="1")
    for rater, grade in (("w1", 3), ("w2", 0)):
        Judgment.objects.create(
            benchmark=of,
            query=query,
            docid="d-quote",
            kind=Judgment.Kind.IMPORT,
            grade=grade,
            actor=entered_by,
            rater=rater,
            client_id=uuid4(),
        )
    return query.pk


@dataclass(frozen=True)
class Address:
    """A name of the URL conf with what it takes."""

    name: str
    parameters: tuple[str, ...]

    def arguments(self, known: dict[str, Any]) -> dict[str, Any]:
        """Values of its parameters; a `pk` is that of the object this very name wants."""
        return {
            parameter: known[self.name] if parameter == "pk" else known[parameter]
            for parameter in self.parameters
        }


def addresses() -> list[Address]:
    """Every page and endpoint of ours, from the resolver; the admin's own and static are not."""
    return sorted(_addresses(get_resolver(), "", ()), key=lambda address: address.name)


def _addresses(resolver: URLResolver, prefix: str, taken: tuple[str, ...]) -> list[Address]:
    results = []
    for part in resolver.url_patterns:
        takes = (*taken, *part.pattern.converters, *_groups(part))
        if isinstance(part, URLPattern):
            results.append(Address(f"{prefix}{part.name}", takes))
        elif part.namespace != "admin":
            inner = f"{prefix}{part.namespace}:" if part.namespace else prefix
            results += _addresses(part, inner, takes)
    return results


def _groups(part: URLPattern | URLResolver) -> tuple[str, ...]:
    """Named groups of a pattern written as a regular expression; ours have converters."""
    return tuple(set(part.pattern.regex.groupindex) - set(part.pattern.converters))
