"""Nothing that anybody but a keeper can open tells of the grades of a hidden split.

Nor does anything that an annotator of an open pool can open tell of runs, scores or grades, nor
anything that anybody but a keeper can open tell of a machine's.

Sentinels are planted where only hidden grades are; every address of the site and the API is opened
as each role, and whatever comes back is searched: pages, files, archives and headers.
"""

import gzip
import io
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from uuid import uuid4

import polars as pl
import pytest
from django.db import transaction
from django.http import HttpResponse
from django.test import Client, override_settings
from django.urls import NoReverseMatch, reverse

from annotation.models import Campaign, Judgment
from benchmarks_app.common.services.exposure import READ_ACTION
from benchmarks_app.models import AuditEvent, Benchmark, Qrel, QueryFamily
from benchwright.linting import release_rules
from benchwright.linting.sources import Look
from scoring.models import ScoreSet
from scoring.scores.selectors.runs import per_query_values
from tests import factories
from tests import world as worlds
from tests.annotation import making_machines
from tests.world import World, addresses

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("walk")]

KEEPERS = ("olga", "mia")
OTHERS = ("anonymous", "vi", "ada", "sam", "bo")
HIDDEN = "q-hidden-one"
# Judged in the hidden split and retrieved by nobody: no file that is public names it.
SECRET = "d-secret-7f3a9c"
NOTE = "note-secret-51b2e8"
# What a machine said of a document that people may still be asked about.
MACHINE = "machine-secret-90d4c1"
LINES = f"""
{HIDDEN} Q0 d-tab 1 3.0 s
{HIDDEN} Q0 d-quote 2 2.0 s
"""
# Pages of a hidden query; all else that an address names is a public one's.
OF_A_QUERY = ("query-detail", "annotation:pair-detail", "annotation:adjudicate-item")
OF_A_FAMILY = ("family-detail", "api:family-detail")
ASKED = {
    "benchmark-detail": ("?as=work", "?as=runs", "?as=owner"),
    "scoring:run-queries": ("?measure=P@1", "?order=best&q=hidden", "?slice=short"),
    "scoring:run-queries-csv": ("?measure=nDCG@3",),
    "scoring:run-scores": ("?measure=nDCG@3",),
    "scoring:run-holes": ("?depth=50",),
    "scoring:run-slices": ("?m=MAP",),
    "scoring:leaderboard-release": (
        "?measure=nDCG@3",
        "?m=MAP",
        "?slice=short",
        "?split=test&cols=slice:short&cols=intervals",
        "?split=all&cols=slice:short&cols=group",
    ),
    "scoring:board-badge-json": ("?m=nDCG@3", "?m=P@1"),
    "scoring:leaderboard-csv": ("?measure=nDCG@3", "?slice=short"),
    "api:run-queries": (f"?q={HIDDEN}", "?order=best&page_size=200"),
    "api:run-holes": ("?depth=50",),
    "query-list": ("?q=secret",),
    **dict.fromkeys(
        (
            "scoring:comparison-summary",
            "scoring:comparison-queries",
            "scoring:comparison-robustness",
            "scoring:comparison-chart",
            "scoring:side-by-side",
            "api:comparison-list",
            "api:comparison-queries",
            "api:top-up-list",
        ),
        ("?runs={runs}",),
    ),
    "scoring:comparison": ("?runs={runs}", "?runs={runs}&measure=nDCG@3"),
    "scoring:top-up-new": ("?runs={runs}",),
    "search": ("?q=secret", "?q=hidden"),
}


@dataclass(frozen=True)
class Furnished:
    world: World
    values: dict[str, str]  # what a number of the hidden split looks like, by what it is


def hide(benchmark: Benchmark) -> None:
    """A public benchmark with all its queries in dev, and one more in test, which is hidden."""
    benchmark.visibility = Benchmark.Visibility.PUBLIC
    benchmark.hidden_splits = ["test"]
    benchmark.save()
    QueryFamily.objects.filter(benchmark=benchmark).update(split="dev")
    family = QueryFamily.objects.create(benchmark=benchmark, split="test")
    query = factories.query(benchmark, HIDDEN, text="how is it hidden", family=family)
    qrels = benchmark.qrel_sets.get()
    for docid, grade in ((SECRET, 3), ("d-quote", 2)):
        Qrel.objects.create(qrel_set=qrels, query=query, docid=docid, grade=grade)
        Judgment.objects.create(
            benchmark=benchmark,
            query=query,
            docid=docid,
            kind=Judgment.Kind.IMPORT,
            grade=grade,
            note=NOTE,
            actor=factories.user("keeper"),
            rater="w9",
            client_id=uuid4(),
        )


@pytest.fixture(scope="module")
def furnished(django_db_setup, django_db_blocker, tmp_path_factory) -> Iterator[Furnished]:
    files = tmp_path_factory.mktemp("hidden-walk")
    folders = {
        "DATA_DIR": files,
        "MEDIA_ROOT": files / "files",
        "STAGING_DIR": files / "staging",
        "PASSWORD_HASHERS": ["django.contrib.auth.hashers.MD5PasswordHasher"],
    }
    for name in ("files", "staging"):
        (files / name).mkdir()
    with (
        django_db_blocker.unblock(),
        override_settings(**folders),
        pytest.MonkeyPatch.context() as patch,
        transaction.atomic(),
    ):
        patch.setattr(release_rules, "SMALLEST_HIDDEN_SPLIT", 1)
        patch.setattr(Look, "look_at_documents", lambda look: None)  # they miss the planted one
        patch.setattr(worlds, "RUN", worlds.RUN + LINES)
        patch.setattr("benchmarks_app.jobs.services.jobs.send", lambda job: None)
        world = worlds.build(files=files, prepared=hide)
        let_a_machine_grade(world)
        yield Furnished(world, values_of(world))
        transaction.set_rollback(True)


def let_a_machine_grade(world: World) -> None:
    """A campaign grades a document of the open pool, of a query that is not hidden."""
    campaign = Campaign.objects.get(pk=world.arguments["annotation:campaign-detail"])
    entry = campaign.pool.entries.select_related("query", "document").first()
    place = {"query": entry.query, "docid": entry.document.docid}
    label = making_machines.label(campaign, grade=3, note=MACHINE, raw=MACHINE, **place)
    campaign.pairs.update(state="graded", judgment=label)


def values_of(world: World) -> dict[str, str]:
    """Numbers of the hidden query and means over it, as they look in full and on a page."""
    score_set = ScoreSet.objects.get(
        run=world.arguments["scoring:run-scores"], release__benchmark=world.benchmark
    )
    (row,) = (value for value in per_query_values(score_set) if value["qid"] == HIDDEN)
    mean = score_set.scores.get(measure="nDCG@10", slice_name="").mean
    fields = {"value": row["nDCG@10"], "mean": mean}
    assert all(round(number, 4) != round(number, 3) for number in fields.values()), fields
    return {
        **{f"{name} on a page": f"{number:.4f}" for name, number in fields.items()},
        **{f"{name} in full": repr(number)[:10] for name, number in fields.items()},
    }


@pytest.fixture(autouse=True)
def at_the_site(furnished, folders, settings, db) -> None:
    settings.MEDIA_ROOT = furnished.world.files / "files"
    settings.STAGING_DIR = furnished.world.files / "staging"


# --- what is opened, and what is in it -----------------------------------------------------------


def urls_of(world: World) -> list[str]:
    """Every address that can be asked for, with the public query and then with the hidden one."""
    query = world.benchmark.queries.get(qid=HIDDEN)
    hidden = {
        **world.arguments,
        "qid": HIDDEN,
        "format": "json",
        **dict.fromkeys(OF_A_QUERY, query.pk),
        **dict.fromkeys(OF_A_FAMILY, query.family_id),
    }
    charts = [
        {**known, "run_chart": name}
        for known in (world.arguments, hidden)
        for name in ("distribution", "cumulative", "grades", "slices")
    ]
    runs = ",".join(str(pk) for pk in world.benchmark.runs.values_list("pk", flat=True))
    results: list[str] = []
    for address in addresses():
        for known in (world.arguments, hidden, *charts):
            try:
                url = reverse(address.name, kwargs=address.arguments(known))
            except (KeyError, NoReverseMatch):
                continue  # the test below names it
            asked = (suffix.format(runs=runs) for suffix in ASKED.get(address.name, ()))
            results += [url, *(f"{url}{suffix}" for suffix in asked)]
    return list(dict.fromkeys(results))


def told(response: HttpResponse) -> bytes:
    """All that comes back, what is packed unpacked."""
    body = b"".join(response) if response.streaming else response.content
    return unpacked(body) + repr(response.headers).encode()


def unpacked(body: bytes) -> bytes:
    """The body, and what is inside of it."""
    if body.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            return b"\n".join(
                name.encode() + unpacked(archive.read(name)) for name in archive.namelist()
            )
    if body.startswith(b"\x1f\x8b"):
        return unpacked(gzip.decompress(body))
    if body.startswith(b"PAR1"):
        return repr(pl.read_parquet(io.BytesIO(body)).rows()).encode()
    return body


def found_by(client: Client, urls: list[str], sentinels: dict[str, str]) -> dict[str, list[str]]:
    """Where each sentinel was seen."""
    seen: dict[str, list[str]] = {name: [] for name in sentinels}
    for url in urls:
        with transaction.atomic():
            body = told(client.get(url))
        for name, text in sentinels.items():
            if text.encode() in body:
                seen[name].append(url)
    return seen


def sentinels_of(furnished: Furnished) -> dict[str, str]:
    return {"document": SECRET, "note": NOTE, "machine": MACHINE, **furnished.values}


# --- the walk ------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.in_thirds
@pytest.mark.parametrize("who", OTHERS)
def test_nothing_hidden_is_told_to_anybody_but_keepers(furnished, who):
    urls = urls_of(furnished.world)

    seen = found_by(furnished.world.client(who), urls, sentinels_of(furnished))

    assert len(urls) > 150
    assert {name: where for name, where in seen.items() if where} == {}


@pytest.mark.parametrize("who", KEEPERS)
def test_same_walk_sees_every_sentinel_as_a_keeper(furnished, who):
    urls = [url for url in urls_of(furnished.world) if "/runs/" in url or "judgments" in url]

    seen = found_by(furnished.world.client(who), urls, sentinels_of(furnished))

    assert [name for name, where in seen.items() if not where] == []
    assert AuditEvent.objects.filter(action=READ_ACTION, actor__username=who).exists()


def results_of(furnished: Furnished) -> dict[str, str]:
    """What pooled runs look like, their scores, and a grade that was published."""
    release = {"slug": furnished.world.benchmark.slug, "version": "1.0.0", "name": "qrels.trec"}
    viewer = furnished.world.client("vi")
    grades = told(viewer.get(reverse("release-file", kwargs=release))).decode()
    mean = float(furnished.values["mean in full"])
    return {
        "run": "stdlib-first",
        "another run": "stdlib-second",
        "mean": f"{mean:.3f}",
        "grade": grades.splitlines()[0],
    }


@pytest.mark.slow
def test_no_result_is_told_to_who_may_still_be_asked_to_judge(furnished):
    urls = urls_of(furnished.world)

    seen = found_by(furnished.world.client("ada"), urls, results_of(furnished))

    assert {name: where for name, where in seen.items() if where} == {}


def test_same_walk_sees_every_result_as_a_viewer(furnished):
    urls = [url for url in urls_of(furnished.world) if "/runs/" in url or "/releases/" in url]

    seen = found_by(furnished.world.client("vi"), urls, results_of(furnished))

    assert [name for name, where in seen.items() if not where] == []


def test_world_has_what_every_address_names(furnished):
    def has(parameter: str, name: str) -> bool:
        return (name if parameter == "pk" else parameter) in furnished.world.arguments

    lacking = [
        a.name for a in addresses() if not all(has(parameter, a.name) for parameter in a.parameters)
    ]

    assert lacking == []


@pytest.mark.parametrize("packed", ["zip", "gzip", "parquet"])
def test_what_is_packed_is_searched_too(packed):
    buffer = io.BytesIO()
    if packed == "zip":
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr("hidden/test.tsv.gz", gzip.compress(SECRET.encode()))
    elif packed == "gzip":
        buffer.write(gzip.compress(SECRET.encode()))
    else:
        pl.DataFrame({"docid": [SECRET]}).write_parquet(buffer)

    assert SECRET.encode() in unpacked(buffer.getvalue())
