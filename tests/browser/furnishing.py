"""What pages need that a fresh demo lacks; runs in a process of the site."""

import json
from datetime import timedelta
from io import StringIO
from pathlib import Path

SLUG = "stdlib"
EMPTY = "nothing-yet"
GROWN = "grown"
BROKEN_RUN = """1 Q0 d1 1 9.5 broken
this line is no line of a run
1 Q0 d2 2 n/a broken
"""


def furnished() -> str:
    """Add people, an empty benchmark, a failed import, a submission; keys and secrets, as JSON.

    All in one process: each start of Django costs more than all of this.
    """
    from django.contrib.auth.tokens import default_token_generator
    from django.core.management import call_command
    from django.utils.encoding import force_bytes
    from django.utils.http import urlsafe_base64_encode

    from annotation.searching.services import start_indexing
    from benchmarks_app.models import Benchmark, Role, User
    from benchmarks_app.people.services.people import invite
    from scoring.models import Submission
    from tests.annotation.making import begun

    benchmark = Benchmark.objects.get(slug=SLUG)
    owner = User.objects.get(username="olga")
    password = (_folder() / "demo_password").read_text()
    User.objects.create_user("loner", "loner@example.org", password)
    User.objects.create_superuser("root", "root@example.org", password)
    call_command("create_benchmark", EMPTY, name="Nothing yet", owner="olga", stdout=StringIO())
    link = invite(benchmark=benchmark, actor=owner, role=Role.ANNOTATOR, note="a friend", days=7)
    fields = {"role": Role.ANNOTATOR, "email": "loner@example.org", "days": 7}
    bound = invite(benchmark=benchmark, actor=owner, **fields)
    forgetful = User.objects.create_user("forgetful", "forgetful@example.org", "a long password")
    judged = benchmark.judgments.order_by("pk").first()
    facts = {
        "failed": _failed_import(benchmark, owner),
        "done": benchmark.jobs.filter(state="done").order_by("pk").first().pk,
        "run": benchmark.runs.get(name="bm25").pk,
        "pool": benchmark.pools.get().pk,
        "qrels": benchmark.qrel_sets.latest("pk").pk,
        "query": benchmark.queries.order_by("pk").first().pk,
        "docid": benchmark.corpus.documents.order_by("pk").first().docid,
        "judged_query": judged.query_id,
        "judged_docid": judged.docid,
        "secret": link.secret,
        "bound_secret": bound.secret,
        "forgetful": forgetful.pk,
        "uid": urlsafe_base64_encode(force_bytes(forgetful.pk)),
        "token": default_token_generator.make_token(forgetful),
    }
    start_indexing(benchmark=benchmark, user=owner)
    facts |= _sliced(benchmark, owner)
    facts["outside"] = _split_up(benchmark, owner)
    facts |= _logged(benchmark)
    facts["family"] = _in_doubt(benchmark)
    facts["snapshot"] = _proposed(benchmark, owner)
    facts["draft"] = _drafted(benchmark, owner)
    facts |= _waiting(benchmark, owner)
    begun(benchmark.pools.order_by("pk").first(), User.objects.get(username="ada"))
    facts |= _disputed(benchmark)
    facts |= _gated(benchmark, owner)
    facts |= _judged_by_a_model(benchmark, owner)
    facts |= _paired(benchmark, owner)
    facts |= _told(benchmark, owner)
    facts |= _asked(benchmark, owner)
    _grown(owner)
    submitted = {"user": "sam", "name": "from sam", "stdout": StringIO()}
    call_command("submit_run", SLUG, _run_file(benchmark), **submitted)
    sent = Submission.objects.get(name="from sam")
    _flagged(sent)
    facts |= {"submission": sent.pk, "phase": sent.phase_id, **_teamed()}
    facts |= _asked_and_judged(benchmark)
    return json.dumps(facts | _estimated(benchmark, owner))


def _estimated(benchmark, owner) -> dict[str, int]:
    """A pool drawn to estimate runs with all its labels, and one without; both are closed."""
    from tests.annotation.estimates.making import estimation_pool
    from tests.annotation.making import judge

    runs = list(benchmark.runs.filter(name__in=["bm25", "tfidf-word", "tfidf-char"]))
    made = {}
    for name in ("estimation_pool", "unlabelled_pool"):
        options = {"name": name.replace("_", " "), "carry": name == "estimation_pool"}
        pool = estimation_pool(benchmark, owner, runs, labels=60, **options)
        slots = pool.slots.select_related("pool", "query", "entry__document").order_by("pk")
        for slot in slots if options["carry"] else ():
            judge(slot, owner, (slot.pk * 7) % 4)
        pool.state = "closed"
        pool.save()
        made[name] = pool.pk
    return made


def _told(benchmark, owner) -> dict[str, object]:
    """A webhook that is failing, with what it answered, and a link out of a mail."""
    from django.utils import timezone

    from benchmarks_app.notices.services.mailing import stop_token
    from tests import factories

    sent = factories.delivery(benchmark, owner)
    notice = benchmark.notices.create(event="release.published", path="/")
    refused = {"state": "given_up", "n_attempts": 8, "status": 500, "milliseconds": 41}
    notice.deliveries.create(webhook=sent.webhook, answer="<h1>no</h1>", **refused)
    waiting = benchmark.notices.create(event="submission.scored", path="/")
    fault = "no whole answer within 10 s."
    due_at = timezone.now() + timedelta(hours=2)
    waiting.deliveries.create(webhook=sent.webhook, n_attempts=5, due_at=due_at, fault=fault)
    type(sent.webhook).objects.update(failing_since=timezone.now())
    return {"webhook": sent.webhook_id, "stop": stop_token(owner, "job.failed")}


def _paired(benchmark, owner) -> dict[str, int]:
    """A pair of embeddings that was measured, and one that could not be."""
    from tests import factories

    measured = factories.measured_pair(benchmark, owner, name="questions and answers")
    failed = factories.embedding_pair(benchmark, owner, name="half a file")
    failed.job = benchmark.jobs.create(
        kind="measure-pair", title="Measure", state="failed", error="z1.npy: it is cut."
    )
    failed.save()
    return {"embedding_pair": measured.pk, "failed_pair": failed.pk}


def _asked(benchmark, owner) -> dict[str, int]:
    """A live system that gave a run, and one that nobody tried."""
    from tests import factories

    asked = factories.live_system(benchmark, owner, name="staging", description="Nightly index.")
    asked.tried_at, asked.tried_well = asked.created_at, True
    asked.save()
    run = factories.live_run(asked, "d-q01 Q0 d1 1 1.0 s", name="staging 2026-11-20")
    factories.live_system(benchmark, owner, name="never tried")
    return {"live": asked.pk, "live_run": run.pk}


def _gated(benchmark, owner) -> dict[str, int]:
    """A policy, a gate that waits for labels, and one of made-up numbers that passed."""
    from benchmarks_app.jobs.services import jobs
    from scoring.gates.services.gating import start_gate
    from scoring.gates.services.policies import make_policy
    from scoring.gates.services.rehearsing import start_rehearsal
    from scoring.scores.selectors.releases import newest_release
    from tests.scoring.making_gates import gate_of

    release, baseline = newest_release(benchmark), benchmark.runs.get(name="bm25")
    rehearsal = start_rehearsal(
        benchmark=benchmark,
        release=release,
        name="nightly",
        baseline=baseline,
        runs=list(benchmark.runs.exclude(name__in=["bm25", "bm25-stem"])[:3]),
        content={},
        user=owner,
    )
    jobs.run_queued()
    policy, other = (
        make_policy(benchmark=benchmark, name=name, baseline=baseline, content={}, user=owner)
        for name in ("nightly", "weekly")
    )
    candidate = benchmark.runs.get(name="bm25-stem")
    deep = _deep_run(benchmark, owner)
    waiting = start_gate(policy=policy, candidate=deep, release=release, user=owner)
    jobs.run_queued()
    passed = gate_of(other, candidate, release)
    facts = {"policy": policy.pk, "waiting_gate": waiting.pk, "gate": passed.pk}
    return {**facts, "rehearsal": rehearsal.pk}


def _deep_run(benchmark, owner):
    """A run of what BM25 has from rank 30 on, of which hardly anything was judged."""
    from scoring.scores.selectors.rankings import ranking_of
    from tests import factories

    ranking = ranking_of(benchmark.runs.get(name="bm25"), 40)
    lines = (
        f"{qid} Q0 {docid} {rank} {99 - rank} deep"
        for qid, docids in ranking.items()
        for rank, docid in enumerate(docids[30:], start=1)
    )
    return factories.run(benchmark, "\n".join(lines), name="deep", owner=owner)


def _campaign_of(benchmark, owner, judge) -> int:
    """A campaign with labels, a failure and a trial beside people's grades."""
    from annotation.models import Campaign
    from tests.annotation import making_machines as making

    pool = benchmark.pools.get()
    asked = {"judge": judge, "created_by": owner, "price_in": 1.0, "price_out": 2.0}
    entries = pool.entries.select_related("query", "document").order_by("priority")[:8]
    plain = making.prompt(benchmark, "Grade {document} for {query}.")
    earlier = making.campaign(pool, name="before", state="done", prompt=plain, **asked)
    for entry in entries:
        making.label(earlier, entry.query, entry.document.docid, 0)
    campaign = making.campaign(pool, name="first look", state="done", cost_cap=5.0, **asked)
    rows = []
    for number, entry in enumerate(entries, start=1):
        place = {"query": entry.query, "docid": entry.document.docid, "number": number}
        if number == 8:
            error = {"error_code": "judge-refusal", "error": "The judge declined to answer: no."}
            making.pair(campaign, **place, state="failed", **error)
            continue
        reason = "It names the function and shows how it is called, and says nothing of errors."
        label = making.label(campaign, entry.query, entry.document.docid, number % 4, note=reason)
        making.pair(campaign, **place, state="graded", judgment=label, cost=0.01, n_requests=1)
        rows.append(
            {
                "query": entry.query_id,
                "qid": entry.query.qid,
                "text": entry.query.text,
                "docid": entry.document.docid,
                "title": entry.document.docid,
                "error": "",
                "people": [2, 3],
                "grade": number % 4,
                "reason": reason,
            }
        )
    _examples_of(campaign, owner)
    counts = {"n_pairs": 8, "n_graded": 7, "n_failed": 1, "cost": 0.07}
    Campaign.objects.filter(pk=campaign.pk).update(trial={"rows": rows, "cost": 0.0}, **counts)
    return campaign.pk


def _examples_of(campaign, owner) -> None:
    """An example that stands and one that was withdrawn, of what people graded."""
    from django.utils import timezone

    words = campaign.benchmark.judgments.filter(grade__gte=2).order_by("-pk")[:2]
    later = timezone.now() + timedelta(seconds=10)
    text = "Query: walk a tree of folders\nDocument: os.walk\nWhy: it names the function."
    for word, withdrawn_at in zip(words, (None, later), strict=True):
        example = {"text": text, "created_by": owner, "withdrawn_at": withdrawn_at}
        word.examples.create(benchmark=campaign.benchmark, **example)


def _contradiction_in(campaign: int) -> int:
    """A pair that the machine and people grade far apart."""
    from annotation.contradictions.selectors import contradictions_of
    from annotation.models import Campaign

    of = Campaign.objects.get(pk=campaign)
    return contradictions_of(of, state="all", direction="").first().pk


def _judged_by_a_model(benchmark, owner) -> dict[str, int]:
    """Cases with an image and a long text, a judge, and an evaluation of which one case failed."""
    from tests.scoring import making_contextual as making

    cases = [
        making.case(1, ["A picture of it:", {"image": "a.png"}], "Of something else. " * 60),
        making.case(2, "It helps.", "It does not.", slices=["short", "easy"]),
        making.case(3, "It helps.", slices=["short"]),
    ]
    images = {"a.png": making.png(size=(320, 200))}
    case_set = making.case_set(benchmark, owner, cases, images, name="help desk")
    judge = making.judge(benchmark, owner, "https://judge.example.org/v1")
    judged, other = (making.judged(case_set, judge, owner) for _ in range(2))
    error = {"error_code": "judge-refusal", "error": "The judge declined to answer: no."}
    _asked_of_people(case_set, owner)
    judged.outcomes.filter(case__number=3).update(state="failed", score=None, **error)
    campaign = _campaign_of(benchmark, owner, judge)
    return {
        "campaign": campaign,
        "contradiction": _contradiction_in(campaign),
        "case_set": case_set.pk,
        "judge": judge.pk,
        "judged": judged.pk,
        "other": other.pk,
    }


def _asked_of_people(case_set, owner) -> None:
    """A set that people are asked about, with the verdicts of one person on one case."""
    from scoring.contextual.selectors import next_case
    from scoring.contextual.services.people import Said, ask_people, record_verdicts

    ask_people(case_set=case_set, user=owner, is_asked=True)
    case_set.refresh_from_db()
    case = next_case(case_set, owner)
    results = {node: Said(node % 2 == 0, "It says so.") for node in range(1, case.n_nodes + 1)}
    record_verdicts(case=case, person=owner, verdicts=results)


def _grown(owner) -> None:
    """A benchmark with two releases: between them a label changes, one comes, and runs move.

    It is public, and its board may stand on other sites.
    """
    from benchmarks_app.jobs.services import jobs
    from scoring.rescoring.services.rescoring import start_scoring_new_runs
    from tests import factories

    benchmark = factories.benchmark(GROWN, name="Grown", visibility="public", may_embed=True)
    factories.member(benchmark, owner.username, "owner")
    rankings = {"finds new": "d9 d2", "answers": "d1", "third": "d2"}
    for name, docids in rankings.items():
        ranked = enumerate(docids.split(), start=1)
        lines = "\n".join(f"q1 Q0 {docid} {rank} {9 - rank} s" for rank, docid in ranked)
        factories.run(benchmark, f"{lines}\nq2 Q0 d4 1 1 s", name=name, owner=owner)
    factories.run(benchmark, "elsewhere Q0 d1 1 1 s", name="of another", owner=owner)
    grades = {("q1", "d1"): 3, ("q1", "d2"): 1, ("q2", "d4"): 2}
    later = {**grades, ("q1", "d1"): 0, ("q1", "d9"): 3}
    for version, of in (("1.0.0", grades), ("2.0.0", later)):
        qrels = factories.qrel_set(benchmark, of)
        qrels.n_relevant = len(of)
        qrels.save()
        factories.release(qrels, version, by=owner)
        start_scoring_new_runs(benchmark, owner)
        jobs.run_queued()


def _teamed() -> dict:
    """A team of Sam's, and a link into it."""
    from benchmarks_app.models import User
    from benchmarks_app.people.services import teams

    sam = User.objects.get(username="sam")
    team = teams.make_team(name="Night owls", user=sam)
    return {"team": team.pk, "ticket": teams.team_link_secret(team=team, user=sam)}


def _drafted(benchmark, owner) -> int:
    """A draft that was looked over."""
    from benchmarks_app.jobs.services import jobs
    from benchmarks_app.releases.services.drafting import check_arguments, create_draft

    draft = create_draft(user=owner, qrel_set=benchmark.qrel_sets.order_by("pk").first())
    jobs.run_here(benchmark=benchmark, user=owner, **check_arguments(draft))
    return draft.pk


def _proposed(benchmark, owner) -> int:
    """A snapshot that waits: of the corpus' first documents some are changed, some are gone."""
    from django.core.files.base import ContentFile

    from benchmarks_app.collections.services import uploading
    from benchmarks_app.common.selectors.reading import corpus_reader
    from benchmarks_app.importing.services.importing import import_arguments
    from benchmarks_app.jobs.services import jobs

    documents = corpus_reader(benchmark.current_corpus_version).iterate()
    rows = [
        {
            "_id": document.docid,
            "title": document.title,
            "text": document.text + (" Changed." * (n % 50 == 0)),
        }
        for n, document in enumerate(documents)
        if n % 90
    ]
    rows.append({"_id": "zz-new", "title": "New", "text": "A document that was not there."})
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    file = ContentFile(content, name="snapshot.jsonl")
    upload = uploading.receive_upload(benchmark=benchmark, owner=owner, file=file)
    fields = {"snapshot_date": "2026-06-30"}
    arguments = import_arguments(upload=upload, kind="corpus", corpus=fields)
    jobs.run_here(benchmark=benchmark, user=owner, **arguments)
    return benchmark.corpus.versions.get(state="proposed").number


def _sliced(benchmark, owner) -> dict[str, str]:
    """A slice of facts that is registered, and one of guesses that wait for a person."""
    from benchmarks_app.slices.services.changes import register_slice
    from benchmarks_app.slices.services.slicing import Wanted, make_slice

    def made(name: str, rule: dict) -> object:
        return make_slice(benchmark=benchmark, wanted=Wanted(name, rule), actor=owner)

    register_slice(of=made("up to ten words", {"kind": "length", "to": 10}), actor=owner)
    made("questions", {"kind": "informational"})
    return {"slice": "up to ten words", "guessed_slice": "questions"}


def _in_doubt(benchmark) -> int:
    """A family of three wordings that waits for review, with a like wording in another one."""
    from tests.factories import linked

    queries = list(benchmark.queries.order_by("pk")[:4])
    family = queries[0].family
    for other, similarity in zip(queries[1:], (0.83, 0.64, 0.52), strict=True):
        linked(queries[0], other, similarity)
    family.is_flagged, family.doubt = True, 0.36
    family.save()
    return family.pk


def _logged(benchmark) -> dict[str, int]:
    """A query log that was read, and one that waits for its columns."""
    from tests import factories

    days = [f"2024-0{1 + n % 9}-1{n % 7}" for n in range(400)]
    rows = [f"how to {n} a list,{1 + 9000 // (n + 1) ** 2},{days[n]}\n" for n in range(400)]
    log = factories.read_log(benchmark, "query,count,date\n" + "".join(rows), name="search 2024")
    text = "asked,times,who\nsort a list,9,u1\nmail jo@example.org,2,u2\n"
    waiting = factories.pending_log(benchmark, text, "help desk.csv")
    return {"log": log.pk, "waiting_log": waiting.pk}


def _waiting(benchmark, owner) -> dict[str, int]:
    """A table whose columns need a person, and a collection with qrels off the scale."""
    import zipfile

    from tests import factories

    rows = "".join(f"{n},Module {n},what it is for,{2000 + n}\n" for n in range(30))
    table = factories.waiting_upload(
        benchmark, "modules.csv", f"number,heading,words,year\n{rows}".encode(), owner
    )
    path = _folder() / "collection.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("toy/queries.jsonl", '{"_id": "new-1", "text": "What is new?"}\n')
        archive.writestr("toy/qrels/test.tsv", "query-id\tcorpus-id\tscore\nnew-1\tos\t-2\n")
        archive.writestr("toy/README.md", "# Toy")
    packed = factories.waiting_upload(benchmark, path.name, path.read_bytes(), owner)
    return {"waiting": table.pk, "waiting_zip": packed.pk}


def _split_up(benchmark, owner) -> int:
    """Split the queries, one of them leaking, and check them against a list."""
    from benchmarks_app.collections.services import uploading
    from benchmarks_app.jobs.services import jobs
    from benchmarks_app.models import ContaminationCheck, Query, QueryFamily
    from benchmarks_app.splits.services import contamination, splitting
    from benchwright.splits import SplitRecipe

    first = benchmark.queries.order_by("pk").first()
    family = QueryFamily.objects.create(benchmark=benchmark)
    twin = {"qid": "twin", "text": f"{first.text}?", "first_seen_at": first.first_seen_at}
    Query.objects.create(benchmark=benchmark, family=family, **twin)
    splitting.apply_split(benchmark=benchmark, user=owner, recipe=SplitRecipe(), accept_small=True)
    QueryFamily.objects.filter(pk=first.family_id).update(split="train")
    QueryFamily.objects.filter(pk=family.pk).update(split="test")
    path = _folder() / "outside.txt"
    path.write_text(f"{first.text}\nsomething else\n")
    upload = uploading.receive_path(benchmark=benchmark, owner=owner, path=path)
    arguments = contamination.check_arguments(benchmark=benchmark, upload=upload, name="outside")
    jobs.run_here(benchmark=benchmark, user=owner, **arguments)
    return ContaminationCheck.objects.get(benchmark=benchmark, name="outside").pk


def _asked_and_judged(benchmark) -> dict[str, int]:
    """A question and an extra label of Mia's; neither takes a document from anybody."""
    from uuid import uuid4

    from annotation.models import Judgment, Question
    from benchmarks_app.models import User

    mia = User.objects.get(username="mia")
    slot = benchmark.pools.get().slots.filter(kind="label", state="done").order_by("pk").first()
    content = slot.entry.document.contents.get()
    own = {"client_id": uuid4(), "slot": slot}
    asked = "Does a private function count?"
    question = Question.objects.create(entry=slot.entry, asked_by=mia, text=asked, **own)
    judgment = Judgment.objects.create(
        benchmark=benchmark,
        query=slot.query,
        docid=slot.entry.document.docid,
        kind="grade",
        grade=2,
        note="Close to what is asked.",
        actor=mia,
        pool=slot.pool,
        purpose="label",
        content_hash=content.content_hash,
        is_surplus=True,
        **own,
    )
    return {"question": question.pk, "judgment": judgment.pk}


def _disputed(benchmark) -> dict:
    """Two people of a file disagree about documents of a query, and one case was settled."""
    import uuid

    from annotation.agreement.services.adjudicating import adjudicate
    from annotation.models import PoolEntry
    from benchmarks_app.models import User

    entries = PoolEntry.objects.filter(pool__benchmark=benchmark).select_related("document")
    owner, adjudicator = (User.objects.get(username=name) for name in ("olga", "bo"))
    chosen = list(entries.exclude(slots__state="done").order_by("-pk")[:4])
    for number, entry in enumerate(chosen):
        for rater, grade in (("first", 3), ("second", number % 2)):
            benchmark.judgments.create(
                query=entry.query,
                docid=entry.document.docid,
                kind="import",
                grade=grade,
                actor=owner,
                rater=rater,
                note="It names the function and says how to call it." if grade == 3 else "",
                client_id=uuid.uuid4(),
            )
    settled = chosen.pop()
    adjudicate(
        benchmark=benchmark,
        query=settled.query,
        docid=settled.document.docid,
        actor=adjudicator,
        outcome="pick",
        grade=3,
        reason="The example answers the question.",
        client_id=uuid.uuid4(),
    )
    return {"disputed": chosen[0].query_id, "disputed_docid": chosen[0].document.docid}


def disputed_document(benchmark) -> list:
    """A document outside the pool of a query that two people grade 0 and 3; (query, docid)."""
    import uuid

    from benchmarks_app.models import User

    query = benchmark.queries.order_by("pk").first()
    known = benchmark.judgments.filter(query=query).values("docid")
    others = benchmark.corpus.documents.exclude(pool_entries__query=query)
    docid = others.exclude(docid__in=known).order_by("pk").values_list("docid", flat=True).first()
    for rater, grade in (("first", 3), ("second", 0)):
        benchmark.judgments.create(
            query=query,
            docid=docid,
            kind="import",
            grade=grade,
            actor=User.objects.get(username="olga"),
            rater=rater,
            client_id=uuid.uuid4(),
        )
    return [query.pk, docid]


def _failed_import(benchmark, owner) -> int:
    from benchmarks_app.collections.services import uploading
    from benchmarks_app.importing.services import importing

    file = _folder() / "broken.run"
    file.write_text(BROKEN_RUN)
    upload = uploading.receive_path(benchmark=benchmark, owner=owner, path=file)
    options = {"kind": "run", "name": "", "grade_map": ""}
    return importing.start_import(benchmark=benchmark, user=owner, upload=upload, **options).pk


def _flagged(submission):
    """A flag of probing, as a release with a hidden split would raise it."""
    evidence = {"depth": 10, "n_queries": 40, "n_differing": 1, "share_equal": 0.9975}
    submission.probing_flags.create(
        kind="single_query", evidence={**evidence, "queries": ["d-q01"], "n_compared": 3}
    )


def _run_file(benchmark) -> Path:
    """A run that finds the same document for every query."""
    docid = benchmark.corpus.documents.order_by("pk").first().docid
    file = _folder() / "from_sam.run"
    lines = (f"{query.qid} Q0 {docid} 1 1.0 sam\n" for query in benchmark.queries.all())
    file.write_text("".join(lines))
    return file


def _folder() -> Path:
    from django.conf import settings

    return Path(settings.DATA_DIR)
