"""From a submitted run to a verdict, and to another one once its documents are judged."""

import json
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.browsing import load_until_there, wait_for_job
from tests.browser.conftest import DemoSite, Person
from tests.browser.labeling import READY, press

SLUG = "gated"
SCALE = "0 = No: beside the point\n1 = Partly: touches it *\n2 = Yes: answers it *"
N_QUERIES, N_UNJUDGED = 40, 12
PEOPLE = f"""
from benchmarks_app.models import Benchmark, Membership, User
of = Benchmark.objects.get(slug={SLUG!r})
for name, role in (("sam", "submitter"), ("ada", "annotator")):
    Membership.objects.create(benchmark=of, user=User.objects.get(username=name), role=role)
"""


def test_a_verdict_changes_once_the_unjudged_are_judged(
    person: Person, demo: DemoSite, tmp_path: Path
):
    candidate = gated_benchmark(demo, tmp_path)
    olga, sam, ada = person("olga"), person("sam"), person("ada")

    freeze_policy(olga)
    submit(sam, candidate)
    compare_on_the_board(sam)
    gate = decide(olga)
    make_pool(olga)
    judge(ada)
    publish(demo)

    olga.goto(gate)
    again = olga.get_by_role("link", name="decided again on release 0.2.0")
    load_until_there(olga, again)
    again.click()
    expect(olga.get_by_role("heading", level=1)).to_contain_text("PASS")
    expect(olga.locator("main")).to_contain_text("strong candidate for an A/B test")


def gated_benchmark(demo: DemoSite, folder: Path) -> Path:
    """A benchmark with a baseline and a release; the file of a run with unjudged documents."""
    kinds = ("good", "fair", "bad", "new")
    documents = [
        {"_id": f"{kind}{n}", "title": "", "text": f"{kind} answer number {n}"}
        for n in range(N_QUERIES)
        for kind in kinds
    ]
    queries = [{"_id": f"q{n}", "text": f"question number {n}"} for n in range(N_QUERIES)]
    labels = [
        f"q{n} 0 {kind}{n} {grade}"
        for n in range(N_QUERIES)
        for kind, grade in (("good", 2), ("fair", 1), ("bad", 0))
    ]
    written(folder / "corpus.jsonl", map(json.dumps, documents))
    written(folder / "queries.jsonl", map(json.dumps, queries))
    written(folder / "labels.qrels", labels)
    ranked(folder / "old.trec", lambda n: ("bad", "fair", "good"))
    ranked(
        folder / "next.trec",
        lambda n: ("new", "good", "fair") if n < N_UNJUDGED else ("good", "fair", "bad"),
    )
    site, by = demo.site, ("--user", "olga")
    site.manage("create_benchmark", SLUG, "--name", "Gated", "--owner", "olga", "--scale", SCALE)
    site.snippet(PEOPLE)
    files = [str(folder / name) for name in ("corpus.jsonl", "queries.jsonl", "old.trec")]
    site.manage("import_file", *by, SLUG, *files)
    site.manage("import_judgments", *by, SLUG, str(folder / "labels.qrels"))
    publish(demo, "0.1.0")
    return folder / "next.trec"


def written(path: Path, lines) -> None:
    path.write_text("".join(f"{line}\n" for line in lines))


def ranked(path: Path, order) -> None:
    rows = [
        f"q{n} Q0 {kind}{n} {rank} {10 - rank} {path.stem}"
        for n in range(N_QUERIES)
        for rank, kind in enumerate(order(n), start=1)
    ]
    written(path, rows)


def publish(demo: DemoSite, version: str = "0.2.0") -> None:
    """The grades of the ledger as a release, as an owner's script would."""
    by = ("--user", "olga")
    demo.site.manage("publish_qrels", *by, "--name", f"for {version}", SLUG)
    qrels = ("--qrels", f"for {version}", "--release", version)
    demo.site.manage("publish_release", *by, *qrels, SLUG)


def freeze_policy(page: Page) -> None:
    page.goto(f"/b/{SLUG}/gates/policies/new/")
    page.get_by_label("Name", exact=True).fill("daily")
    page.get_by_label("Baseline").select_option(label="old")
    page.get_by_role("button", name="Freeze without a rehearsal").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("daily v1")


def submit(page: Page, run: Path) -> None:
    """The page follows the run without being loaded again."""
    page.goto(f"/b/{SLUG}/runs/submit/")
    page.locator("input[type=file]").first.set_input_files(run)
    page.get_by_label("Name", exact=True).fill("next")
    page.get_by_role("button", name="Submit").click()
    page.wait_for_url("**/runs/submissions/*/")
    page.evaluate("window.isTheSamePage = true")
    expect(page.locator("#submission-state")).to_contain_text("nDCG@10", timeout=60_000)
    assert page.evaluate("window.isTheSamePage")


def compare_on_the_board(page: Page) -> None:
    page.goto(f"/b/{SLUG}/leaderboard/")
    for name in ("old", "next"):
        row = page.get_by_role("row").filter(has=page.get_by_role("link", name=name, exact=True))
        row.get_by_role("checkbox").check()
    page.get_by_role("button", name="Compare 2 runs").click()
    expect(page.locator("main")).to_contain_text("Not comparable yet")
    expect(page.locator(".verdict")).to_contain_text("cannot be compared yet")
    page.get_by_text("Query by query").first.click()
    page.get_by_label("With the words").fill("number 3")
    page.get_by_role("button", name="Show").last.click()
    page.get_by_role("link", name="q3", exact=True).click()
    for name in ("old", "next"):
        expect(page.get_by_role("link", name=name, exact=True)).to_be_visible()
    expect(page.locator("main")).to_contain_text("Not judged")


def decide(page: Page) -> str:
    page.reload()  # the candidate was not there when the policy was made
    page.get_by_label("Candidate", exact=True).select_option(label="next")
    page.get_by_role("button", name="Decide").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("NOT COMPARABLE", timeout=60_000)
    expect(page.locator("main")).to_contain_text("Waiting for")
    return page.url


def make_pool(page: Page) -> None:
    page.get_by_role("link", name="Make a pool of these documents").click()
    page.get_by_label("Name", exact=True).fill("what next found")
    page.get_by_text("Who judges, and how often").click()
    for share in ("control", "doubles", "repeats", "gold"):
        page.locator(f"[name={share}]").fill("0")
    page.get_by_role("button", name="Build the pool").click()
    wait_for_job(page)


def judge(page: Page) -> None:
    page.goto("/judge/")
    page.get_by_role("link", name="what next found").click()
    page.get_by_role("button", name="I have read this").click()
    expect(page.locator(READY)).to_be_attached()
    # As many as the gate waits for, which need not be all that nobody has judged.
    n_wanted = int(page.locator("[data-part=pool]").inner_text().split()[-1])
    assert 0 < n_wanted <= N_UNJUDGED
    for _ in range(n_wanted - 1):
        press(page, "0")
    page.keyboard.press("0")
    expect(page.locator("[data-part=nothing]")).to_be_visible()
    expect(page.locator("[data-part=nothing]")).to_contain_text("judged")
