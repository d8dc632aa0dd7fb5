"""The least valid object of each noun; what matters to a test stands in the test."""

import itertools
from typing import Any

from django.utils import timezone

from benchmarks_app.models import (
    Benchmark,
    Corpus,
    Grade,
    Membership,
    Qrel,
    QrelSet,
    Query,
    QueryFamily,
    Run,
    User,
)

SCALE = [
    (0, "not relevant", False),
    (1, "related", False),
    (2, "helpful", True),
    (3, "answers", True),
]
_numbers = itertools.count(1)


def user(username: str = "", **values: Any) -> User:
    username = username or f"person{next(_numbers)}"
    existing = User.objects.filter(username=username).first()
    return existing or User.objects.create_user(
        username, f"{username}@example.org", "a long password", **values
    )


def benchmark(slug: str = "", **values: Any) -> Benchmark:
    """A benchmark with an ids-only corpus and grades 0-3."""
    slug = slug or f"bench{next(_numbers)}"
    corpus = values.pop("corpus", None) or Corpus.objects.create(
        name=f"{slug} corpus", owner=user("keeper"), kind=Corpus.Kind.IDS_ONLY
    )
    values.setdefault("name", slug)
    made = Benchmark.objects.create(slug=slug, corpus=corpus, **values)
    Grade.objects.bulk_create(
        Grade(benchmark=made, value=value, name=name, is_relevant=is_relevant)
        for value, name, is_relevant in SCALE
    )
    return made


def member(of: Benchmark, username: str, role: str) -> User:
    person = user(username)
    Membership.objects.create(benchmark=of, user=person, role=role)
    return person


def query(of: Benchmark, qid: str = "", text: str = "", **values: Any) -> Query:
    qid = qid or f"q{next(_numbers)}"
    family = values.pop("family", None) or QueryFamily.objects.create(benchmark=of)
    return Query.objects.create(
        benchmark=of, qid=qid, text=text or f"text of {qid}", family=family, **values
    )


def qrel_set(of: Benchmark, grades: dict[tuple[str, str], int], name: str = "") -> QrelSet:
    """A ready set from {(qid, docid): grade}; queries are made where they are missing."""
    made = QrelSet.objects.create(
        benchmark=of,
        name=name or f"set{next(_numbers)}",
        kind=QrelSet.Kind.IMPORTED,
        state=QrelSet.State.READY,
        n_qrels=len(grades),
    )
    for (qid, docid), grade in grades.items():
        asked = of.queries.filter(qid=qid).first() or query(of, qid)
        Qrel.objects.create(qrel_set=made, query=asked, docid=docid, grade=grade)
    return made


def run(of: Benchmark, lines: str, name: str = "", owner: User | None = None, **values: Any) -> Run:
    """A run stored as an import would store it; `lines` is a TREC run."""
    from django.conf import settings

    from benchmarks_app.services import runs

    name = name or f"run{next(_numbers)}"
    folder = settings.STAGING_DIR / f"factory-{next(_numbers)}"
    staged = runs.stage_run(
        lines=(line.encode() + b"\n" for line in lines.strip().splitlines()),
        file=name,
        folder=folder,
    )
    return runs.create_run(
        staged=staged,
        benchmark=of,
        name=name,
        owner=owner or user("keeper"),
        sha256="0" * 64,
        **values,
    )


def now() -> Any:
    return timezone.now()
