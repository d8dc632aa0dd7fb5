"""What pages need that a fresh demo lacks; runs in a process of the site."""

import json
from io import StringIO
from pathlib import Path

SLUG = "stdlib"
EMPTY = "nothing-yet"
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

    from benchmarks_app.models import Benchmark, Role, User
    from benchmarks_app.services.people import invite
    from scoring.models import Submission

    benchmark = Benchmark.objects.get(slug=SLUG)
    owner = User.objects.get(username="olga")
    password = (_folder() / "demo_password").read_text()
    User.objects.create_user("loner", "loner@example.org", password)
    User.objects.create_superuser("root", "root@example.org", password)
    call_command("create_benchmark", EMPTY, name="Nothing yet", owner="olga", stdout=StringIO())
    link = invite(benchmark=benchmark, actor=owner, role=Role.ANNOTATOR, note="a friend", days=7)
    forgetful = User.objects.create_user("forgetful", "forgetful@example.org", "a long password")
    facts = {
        "failed": _failed_import(benchmark, owner),
        "done": benchmark.jobs.filter(state="done").order_by("pk").first().pk,
        "run": benchmark.runs.get(name="bm25").pk,
        "pool": benchmark.pools.get().pk,
        "query": benchmark.queries.order_by("pk").first().pk,
        "docid": benchmark.corpus.documents.order_by("pk").first().docid,
        "secret": link.secret,
        "uid": urlsafe_base64_encode(force_bytes(forgetful.pk)),
        "token": default_token_generator.make_token(forgetful),
    }
    submitted = {"user": "sam", "name": "from sam", "stdout": StringIO()}
    call_command("submit_run", SLUG, _run_file(benchmark), **submitted)
    facts["submission"] = Submission.objects.get(name="from sam").pk
    return json.dumps(facts)


def _failed_import(benchmark, owner) -> int:
    from benchmarks_app.services import importing, uploading

    file = _folder() / "broken.run"
    file.write_text(BROKEN_RUN)
    upload = uploading.receive_path(benchmark=benchmark, owner=owner, path=file)
    options = {"kind": "run", "name": "", "grade_map": ""}
    return importing.start_import(benchmark=benchmark, user=owner, upload=upload, **options).pk


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
