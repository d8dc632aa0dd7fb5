"""The preview beside the form: what stands there at once, and what follows each change."""

import re

import pytest
from django.db import connection
from django.template.defaultfilters import floatformat
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.models import Pool
from annotation.pools.services import previewing
from annotation.pools.views import building
from annotation.pools.views.previewing import _bargain
from benchmarks_app.models import Job, Run
from tests import factories
from tests.annotation.making import judge, pool

pytestmark = pytest.mark.django_db
# Three runs of 24: the second has every fourth for itself, the third begins in the middle.
LETTERS = "abcdefghijklmnopqrstuvwx"
RANKINGS = {
    "bm25": LETTERS,
    "dense": "".join(letter if n % 4 else letter.upper() for n, letter in enumerate(LETTERS)),
    "fused": LETTERS[12:] + LETTERS[:12],
}
HTMX = {"headers": {"HX-Request": "true"}}


@pytest.fixture
def runs(benchmark):
    made = []
    for qid in ("q1", "q2"):
        factories.query(benchmark, qid)
    for name, docids in RANKINGS.items():
        lines = [
            f"{qid} Q0 {docid} {rank} {-rank} x"
            for qid in ("q1", "q2")
            for rank, docid in enumerate(docids, start=1)
        ]
        made.append(factories.run(benchmark, "\n".join(lines), name=name))
    return made


@pytest.fixture
def client(owner, signed_in):
    return signed_in(owner)


@pytest.fixture
def url(benchmark):
    return reverse("annotation:pool-new", args=[benchmark.slug])


def posted(answer):
    """The form of a page, as a browser sends it."""
    return dict(answer.context["form"].data.lists())


def judged_new(depth, names=tuple(RANKINGS)):
    """Counted over sets: the share of each run's first ten in the first `depth` of the others."""
    shares = []
    for name in names:
        others = {docid for other in names if other != name for docid in RANKINGS[other][:depth]}
        shares.append(len(others & set(RANKINGS[name][:10])) / 10)
    return sum(shares) / len(shares)


def n_documents(depth, names=tuple(RANKINGS)):
    return 2 * len({docid for name in names for docid in RANKINGS[name][:depth]})


def test_the_form_opens_with_runs_ticked_a_name_and_its_preview(runs, client, url):
    factories.run(runs[0].benchmark, "q1 Q0 a 1 9 x", name="gone")
    Run.objects.filter(name="gone").update(withdrawn_at="2026-01-01T00:00Z")

    answer = client.get(url)
    assert answer.context["form"]["name"].value() == "Depth 10 of 3 runs"
    ticked = answer.context["form"]["runs"].value()
    assert sorted(ticked) == sorted(str(run.pk) for run in runs)
    preview = answer.context["preview"]
    assert preview["judged_new"] == pytest.approx(judged_new(10), abs=0.05)
    assert "at 20 seconds a label, assumed" in answer.content.decode()
    assert not Pool.objects.exists()


def test_an_address_ticks_the_runs_that_it_names(runs, client, url):
    answer = client.get(f"{url}?run={runs[1].pk}&run=999")

    assert answer.context["form"]["runs"].value() == [str(runs[1].pk)]
    assert answer.context["form"]["name"].value() == "Depth 10 of 1 run"


def test_three_clicks_lead_from_the_pools_to_an_open_one(benchmark, runs, client, url, do_jobs):
    pools = client.get(reverse("annotation:pool-list", args=[benchmark.slug]))
    assert f'href="{url}"' in pools.content.decode()
    form = client.get(url)

    answer = client.post(url, posted(form))
    (job,) = do_jobs()
    assert answer.url == job.get_absolute_url()
    built = Pool.objects.get()
    assert (built.name, built.state, built.pool_runs.count()) == ("Depth 10 of 3 runs", "open", 3)
    assert built.get_absolute_url() in client.get(answer.url).content.decode()


def test_a_change_brings_the_preview_alone(runs, client, url):
    data = {**posted(client.get(url)), "depth": 5, "control": 0}

    answer = client.post(url, {**data, "preview": "1"}, **HTMX)
    page = answer.content.decode()
    assert answer.status_code == 200
    assert "<html" not in page
    assert 'id="pool-totals"' in page
    assert 'hx-swap-oob="true"' in page
    assert 'data-name="Depth 5 of 3 runs"' in page
    preview = answer.context["preview"]
    assert preview["judged_new"] == pytest.approx(judged_new(5))
    assert preview["n_entries"] == n_documents(5)


@pytest.mark.parametrize("depth", [1, 3, 5, 9, 12, 20])
def test_the_curve_is_what_sets_count_at_each_depth(runs, client, url, depth):
    data = {**posted(client.get(url)), "depth": depth, "control": 0, "preview": "1"}

    preview = client.post(url, data, **HTMX).context["preview"]
    expected = [judged_new(other) for other in range(1, 21)]
    assert preview["depths"]["judged"] == pytest.approx(expected)
    assert preview["depths"]["documents"] == [n_documents(other) for other in range(1, 21)]
    assert preview["judged_new"] == pytest.approx(expected[depth - 1])


def test_the_next_bargain_says_what_depth_reaches_which_share_for_how_much(runs, client, url):
    data = {**posted(client.get(url)), "depth": 5, "control": 0, "doubles": 50, "seconds": 36}

    bargain = client.post(url, {**data, "preview": "1"}, **HTMX).context["bargain"]
    deeper = next(depth for depth in range(1, 21) if judged_new(depth) >= 0.8)
    n_more = n_documents(deeper) - n_documents(5)
    unjudged = 100 - 100 * judged_new(5)
    assert bargain["title"].startswith(f"At depth 5 a new system has {unjudged:.0f} %")
    assert bargain["depth"] == deeper
    assert f"reaches {judged_new(deeper):.2f} for {n_more} documents more" in bargain["text"]
    # Every other document is graded twice, at 36 seconds, of which 100 are an hour.
    assert f"about {n_more * 1.5 / 100:.1f} h" in bargain["text"]


def test_runs_that_share_nothing_gain_from_another_system_not_from_depth(benchmark, client, url):
    factories.query(benchmark, "q1")
    for name, letters in (("bm25", "abcdefghijkl"), ("dense", "mnopqrstuvwx")):
        lines = [f"q1 Q0 {docid} {n} {-n} x" for n, docid in enumerate(letters, start=1)]
        factories.run(benchmark, "\n".join(lines), name=name)

    bargain = client.get(url).context["bargain"]
    assert "No depth down to 20 reaches 0.80" in bargain["text"]
    assert "depth" not in bargain


def test_a_proposed_depth_is_taken_without_a_script(runs, client, url):
    data = {**posted(client.get(url)), "depth": 5, "set_depth": "12"}

    answer = client.post(url, data)
    assert answer.context["form"]["depth"].value() == "12"
    assert answer.context["form"]["name"].value() == "Depth 12 of 3 runs"
    assert not Job.objects.exists()


def test_a_name_that_was_typed_stays_and_a_proposed_one_follows(runs, client, url, do_jobs):
    data = {**posted(client.get(url)), "depth": 7}

    typed = client.post(url, {**data, "name": "my own", "preview": "1"})
    assert typed.context["form"]["name"].value() == "my own"
    client.post(url, data)
    client.post(url, data)
    do_jobs()
    names = Pool.objects.order_by("pk").values_list("name", flat=True)
    assert names[0] == "Depth 7 of 3 runs"


def test_a_taken_proposal_gets_a_number(benchmark, runs, client, url):
    pool(benchmark, {"q1": ["a"]}, name="Depth 10 of 3 runs")

    assert client.get(url).context["form"]["name"].value() == "Depth 10 of 3 runs (2)"


def test_what_is_wrong_stands_beside_the_figures_of_before(runs, client, url):
    data = {**posted(client.get(url)), "runs": [], "preview": "1"}

    answer = client.post(url, data, **HTMX)
    assert answer.status_code == 422
    assert answer["HX-Retarget"] == "#preview-note"
    assert "Choose the runs" in answer.content.decode()


def test_what_takes_long_waits_for_a_click(runs, client, url, monkeypatch):
    monkeypatch.setattr(previewing, "ROWS_AT_ONCE", 1)

    opened = client.get(url)
    assert "preview" not in opened.context
    assert "Read them as a job" in opened.content.decode()
    changed = client.post(url, {**posted(opened), "preview": "1"}, **HTMX)
    assert "take a while" in changed.content.decode()
    assert not Job.objects.exists()


def test_hours_go_by_the_pace_that_was_measured_here(runs, client, url, monkeypatch):
    monkeypatch.setattr(building, "seconds_per_label", lambda benchmark: 12.4)

    answer = client.get(url)
    assert answer.context["form"]["seconds"].value() == "12"
    assert "at 12 seconds a label, the median here" in answer.content.decode()
    hours = answer.context["preview"]["n_labels"] * 12 / 3600
    assert answer.context["preview"]["hours"] == pytest.approx(hours)


def test_what_was_judged_before_counts_at_every_depth(benchmark, runs, client, url, ada):
    judge(pool(benchmark, {"q1": ["a"]}).slots.get(), ada, 1)
    data = {**posted(client.get(url)), "depth": 1, "control": 0, "preview": "1"}

    preview = client.post(url, data, **HTMX).context["preview"]
    assert preview["judged_new"] == pytest.approx(preview["depths"]["judged"][0])
    assert preview["n_without"] == 1


def test_many_runs_begin_with_the_newest(benchmark, client, url, monkeypatch):
    monkeypatch.setattr(building, "MOST_TICKED", 2)
    factories.query(benchmark, "q1")
    made = [factories.run(benchmark, "q1 Q0 a 1 9 x", name=f"run {n}") for n in range(3)]

    ticked = client.get(url).context["form"]["runs"].value()
    assert sorted(ticked) == sorted(str(run.pk) for run in made[1:])


def test_bars_are_shares_of_what_the_run_that_adds_most_adds(runs, client, url):
    data = {**posted(client.get(url)), "depth": 5, "control": 0, "preview": "1"}

    answer = client.post(url, data, **HTMX)
    alone = {
        name: 2 * sum(all(d not in RANKINGS[o][:5] for o in RANKINGS if o != name) for d in of[:5])
        for name, of in RANKINGS.items()
    }
    results = {run["run"]: (run["n_unique"], run["share"]) for run in answer.context["runs"]}
    assert results == {name: (n, n / max(alone.values())) for name, n in alone.items()}
    assert re.search(r'bar-fill" width="1000"', answer.content.decode())


def test_the_form_asks_as_often_for_twelve_runs_as_for_three(
    benchmark, runs, client, url, django_assert_num_queries
):
    with CaptureQueriesContext(connection) as of_three:
        client.get(url)
    for number in range(9):
        factories.run(benchmark, "q1 Q0 a 1 9 x", name=f"run {number}")

    with django_assert_num_queries(len(of_three)):
        client.get(url)


def test_a_share_at_the_edge_is_rounded_alike_everywhere():
    fields = {
        "reach": 5,
        "seconds": 20,
        "labels_each": 1,
        "depths": {"judged": [0.485] * 20, "documents": list(range(1, 21))},
    }

    # The figure above it is Django's floatformat, which makes .49 of it.
    assert floatformat(0.485, 2) == "0.49"
    assert "51 % of its first ten unjudged" in _bargain(fields)["title"]
