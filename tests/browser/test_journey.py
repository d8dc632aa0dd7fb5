"""A newcomer with Cranfield: from files to a leaderboard, through the pages alone.

What each step costs is counted as they go: clicks, and seconds with the site's own work among them.
"""

import csv
import io
import json
import re
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests import collections
from tests.browser.browsing import sign_in, tab_to, wait_for_job
from tests.browser.conftest import DemoSite, Person
from tests.browser.labeling import READY

pytestmark = pytest.mark.data

NEWCOMER = "nell"
N_GRADES = 25
UNDONE_AT, REFUSED_AT = 10, 15
POOL_SIZE = 5587
# Clicks of a mouse, and files chosen; what is typed, and keys that grade, are none.
MOST_CLICKS = {
    "a benchmark": 2,
    "import": 14,
    "a pool": 6,
    "first judgment": 0,
    "invitation": 3,
    "own qrels": 4,
    "a release": 12,
    "a submission": 3,
    "a comparison": 4,
}
COUNTED = """addEventListener("click", (event) => {
  // A label's click is followed by one of its field, which nobody made.
  if (!event.isTrusted || !event.detail || (event.clientX === 0 && event.clientY === 0)) return;
  sessionStorage.setItem("clicks", 1 + Number(sessionStorage.getItem("clicks")));
}, true);"""
# What the board shows, beside what trec_eval calls it; MRR@10 is computed below.
BOARD = {"nDCG@10": "ndcg_cut_10", "Recall@100": "recall_100"}


def test_newcomer_gets_from_files_to_a_leaderboard(
    person: Person,
    demo: DemoSite,
    data: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
):
    files = collections.convert_cranfield(data / "cranfield", tmp_path / "cranfield")
    demo.create_user(NEWCOMER)
    page = person()
    page.add_init_script(COUNTED)
    sign_in(page, demo.url, NEWCOMER, demo.password)
    costs: dict[str, tuple[int, float]] = {}

    with counted(page, costs, "a benchmark"):
        make_benchmark(page)
    with counted(page, costs, "import"):
        import_everything(page, files)
    with counted(page, costs, "a pool"):
        build_pool(page)
    with counted(page, costs, "first judgment"):
        begin_by_keyboard(page)
        first = grade(page, 0)
    result = judge_by_keyboard(page, first)
    page.get_by_role("banner").get_by_role("link", name="Cranfield").click()
    with counted(page, costs, "invitation"):
        invite_an_annotator(page)
    with counted(page, costs, "own qrels"):
        publish_own_labels(page)
    with counted(page, costs, "a release"):
        publish_release(page, of="official")
    check_export(page, files, tmp_path)
    with counted(page, costs, "a submission"):
        submit_a_run(page, files)
    with counted(page, costs, "a comparison"):
        compare_the_first_two(page)
    check_board(page, data / "cranfield")
    check_sets(page, files, result)

    with capsys.disabled():
        for step, (n_clicks, seconds) in costs.items():
            print(f"\n{step}: {n_clicks} clicks, {seconds:.0f} s", end="")  # noqa: T201
    assert {step: n for step, (n, _) in costs.items() if n > MOST_CLICKS[step]} == {}


@contextmanager
def counted(page: Page, costs: dict[str, tuple[int, float]], step: str) -> Iterator[None]:
    page.evaluate("sessionStorage.setItem('clicks', 0)")
    began = time.monotonic()
    yield
    clicks = int(page.evaluate("sessionStorage.getItem('clicks')"))
    costs[step] = clicks, time.monotonic() - began


# --- importing ---------------------------------------------------------------------------------


def make_benchmark(page: Page) -> None:
    page.get_by_role("link", name="New benchmark").click()
    page.get_by_label("Name", exact=True).fill("Cranfield")
    page.get_by_label("Grades").fill(collections.CRANFIELD_SCALE)
    page.get_by_role("button", name="Create").click()
    expect(page.locator(".messages")).to_contain_text("Cranfield is ready.")


def import_everything(page: Page, files: collections.Cranfield) -> None:
    import_file(page, files.corpus, "1,400 documents")
    import_file(page, files.queries, "225 queries")
    import_runs(page, files.runs)
    import_file(page, files.qrels, "1,837 grades", name="official", grade_map=files.grade_map)


def import_file(page: Page, path: Path, made: str, name: str = "", grade_map: str = "") -> None:
    open_page(page, "Data")
    page.locator("input[name=files]").set_input_files(path)
    page.get_by_role("button", name="Look at them").click()
    expect(page.locator("main")).to_contain_text("Nothing is imported yet")
    if name:
        page.get_by_label("Name", exact=False).fill(name)
    for pair in filter(None, grade_map.split(", ")):
        docid, grade = pair.split("=")
        page.get_by_label(re.compile(rf"^Grade {docid} ")).select_option(grade)
    page.get_by_role("button", name="Import", exact=True).click()
    wait_for_job(page)
    expect(page.locator("#job-progress")).to_contain_text(made)


def import_runs(page: Page, runs: list[Path]) -> None:
    """All in one upload; each is a job with a page of its own."""
    assert len(runs) == 7
    open_page(page, "Data")
    page.locator("input[name=files]").set_input_files(runs)
    page.get_by_role("button", name="Look at them").click()
    expect(page.locator(".messages")).to_contain_text("7 files are here.")
    page.get_by_role("button", name="ready file").click()
    expect(page.locator(".messages")).to_contain_text("7 imports started.")
    rows = page.get_by_role("table").get_by_role("link").all()[: len(runs)]
    for address in [row.get_attribute("href") for row in rows]:
        page.goto(address)
        wait_for_job(page)


def open_page(page: Page, place: str, tab: str = "") -> None:
    """By the menu, and then by the tab of the place if it is not the one used last."""
    page.get_by_role("navigation", name="Benchmark").get_by_role("link", name=place).click()
    tabs = page.get_by_role("navigation", name=place, exact=True)
    wanted = tabs.get_by_role("link", name=tab, exact=True) if tab else tabs.get_by_role("link")
    if wanted.count() and wanted.first.get_attribute("aria-current") != "page":
        wanted.first.click()


# --- pool and judging --------------------------------------------------------------------------


def build_pool(page: Page) -> None:
    open_page(page, "Judging")
    page.get_by_role("link", name="Build a pool").click()
    page.get_by_label("Name", exact=True).fill("Depth 10")
    for box in page.get_by_role("group", name="Runs").get_by_role("checkbox").all():
        box.check()
    page.get_by_label("Depth", exact=True).fill("10")
    # Without what is drawn at random or asked twice, so that the numbers are the collection's.
    page.get_by_text("Who judges, and how often").click()
    for share in ("control", "doubles", "repeats", "gold"):
        page.locator(f"[name={share}]").fill("0")
    page.get_by_role("button", name="Build the pool").click()
    wait_for_job(page)
    page.get_by_role("link", name="See the result").click()
    expect(page.locator(".page-head")).to_contain_text(f"{POOL_SIZE:,} documents")


def begin_by_keyboard(page: Page) -> None:
    """From the overview, with Tab and Enter alone."""
    page.goto(re.sub(r"(/b/[^/]+/).*", r"\1", page.url))
    page.mouse.move(0, 0)
    tab_to(page, "Judge documents")
    page.keyboard.press("Enter")
    page.wait_for_url("**/judge/*/start/")
    tab_to(page, "I have read this, continue")
    page.keyboard.press("Enter")
    page.wait_for_url("**/judge/*/")
    expect(page.locator(READY)).to_be_attached()


def judge_by_keyboard(page: Page, first: int) -> list[int]:
    """With keys alone; the grades that count, in turn."""
    results: list[int] = [first]
    while len(results) < N_GRADES:
        results.append(grade(page, len(results) % 5))
        if len(results) == UNDONE_AT:
            results[-1] = think_again(page)
        if len(results) == REFUSED_AT:
            refuse(page)
    expect(page.get_by_text(f"Label {N_GRADES + 2} of {POOL_SIZE:,} in the pool")).to_be_visible()
    return results


def grade(page: Page, value: int) -> int:
    press(page, str(value))
    expect(page.locator("#judge-said")).to_contain_text(f"Grade {value} saved")
    assert page.evaluate("document.activeElement.id") == "document"
    return value


def think_again(page: Page) -> int:
    """Take the last grade back and give another, on the same document."""
    before = page.locator(".document").inner_text()
    press(page, "z")
    expect(page.locator("#judge-said")).to_contain_text("Undone.")
    assert page.locator(".document").inner_text() != before
    value = grade(page, 2)
    assert page.locator(".document").inner_text() == before
    return value


def refuse(page: Page) -> None:
    page.keyboard.press("x")
    expect(page.get_by_role("dialog", name="Why can this document")).to_be_visible()
    press(page, "4")
    expect(page.locator("#judge-said")).to_contain_text("“Can't judge” saved")


def press(page: Page, key: str) -> None:
    """A key that brings the next document: every screen has a token of its own."""
    token = page.locator(".grade-bar [name=token]").input_value()
    page.keyboard.press(key)
    expect(page.locator(".grade-bar [name=token]")).not_to_have_value(token)


# --- publishing --------------------------------------------------------------------------------


def invite_an_annotator(page: Page) -> None:
    open_page(page, "Settings", "People")
    page.get_by_role("button", name="Make a link").click()
    expect(page.locator("main")).to_contain_text("/join/")


def publish_own_labels(page: Page) -> None:
    open_page(page, "Judging")
    page.get_by_role("link", name="Publish qrels").click()
    page.get_by_label("Name", exact=True).fill("own labels")
    page.get_by_role("button", name="Publish qrels").click()
    wait_for_job(page)


def publish_release(page: Page, of: str) -> None:
    open_page(page, "Releases", "Qrels")
    row(page, of).get_by_role("link", name=f"Release {of}").click()
    page.get_by_role("button", name="Draft and check").click()
    wait_for_job(page)
    page.get_by_role("link", name="See the result").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Draft 0.1.0")
    for warning in page.get_by_role("checkbox").all():
        warning.check()
    page.get_by_role("button", name="Publish 0.1.0").click()
    wait_for_job(page)
    page.get_by_role("link", name="See the result").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Release 0.1.0")


def check_export(page: Page, files: collections.Cranfield, folder: Path) -> None:
    with page.expect_download() as download:
        page.get_by_role("link", name="BEIR zip").click()
    target = folder / "export.zip"
    download.value.save_as(target)
    with zipfile.ZipFile(target) as archive:
        archive.extractall(folder / "export")
    (corpus,) = (folder / "export").rglob("corpus.jsonl")
    documents = read_json_lines(corpus)
    assert len(documents) == 1400
    assert {docid for docid, row in documents.items() if not row["text"]} == {"471", "995"}
    queries = read_json_lines(corpus.parent / "queries.jsonl")
    assert {qid: row["text"] for qid, row in queries.items()} == {
        qid: row["text"] for qid, row in read_json_lines(files.queries).items()
    }
    with (corpus.parent / "qrels" / "test.tsv").open(newline="") as table:
        rows = list(csv.DictReader(table, delimiter="\t"))
    exported = {(row["query-id"], row["corpus-id"]): int(row["score"]) for row in rows}
    assert exported == files.official


def read_json_lines(path: Path) -> dict[str, dict[str, str]]:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {row["_id"]: row for row in rows}


# --- scores ------------------------------------------------------------------------------------


def submit_a_run(page: Page, files: collections.Cranfield) -> None:
    (best,) = (path for path in files.runs if path.name.startswith("rrf"))
    open_page(page, "Runs", "Submit a run")
    page.locator("input[name=file]").set_input_files(best)
    page.get_by_label("Name", exact=True).fill("rrf, submitted")
    page.get_by_role("button", name="Submit").click()
    expect(page.locator("#submission-state")).to_contain_text("Scored on release 0.1.0")


def compare_the_first_two(page: Page) -> None:
    """From the board: two ticks and the tray's button."""
    open_page(page, "Leaderboard")
    wait_until_scored(page)
    for box in page.locator(".board2 tbody input[type=checkbox]").all()[:2]:
        box.click()
    page.locator("[data-tray-go]").click()
    page.wait_for_url("**/compare/**")
    expect(page.get_by_role("main")).to_contain_text("nDCG@10")


def check_board(page: Page, source: Path) -> None:
    expected = collections.expected_means(source)
    # What trec_eval has to say of the first 10 documents, from its ranks without a cutoff.
    ranks = collections.expected_per_topic(source, "recip_rank")
    mrr = {run: sum(v for v in of.values() if v > 0.099) / 225 for run, of in ranks.items()}
    for label, measure in BOARD.items():
        board = read_board(page, label)
        assert len(board) == 8
        for run, means in expected.items():
            mean, interval, answered = board[run]
            assert (mean, answered) == (means[measure], "225 of 225"), (run, label)
            low, high = map(float, interval.split("\N{EN DASH}"))
            assert low < float(mean) < high
        assert board["rrf, submitted"] == board["rrf_bm25_minilm"]
    for run, (mean, *_) in read_board(page, "MRR@10").items():
        of = "rrf_bm25_minilm" if run == "rrf, submitted" else run
        assert float(mean) == pytest.approx(mrr[of], abs=0.0001)


def read_board(page: Page, label: str) -> dict[str, tuple[str, ...]]:
    """The leaderboard by a measure as it is shown: {run: (mean, interval, answered queries)}."""
    open_page(page, "Leaderboard")
    page.wait_for_url("**/leaderboard/**")
    wait_until_scored(page)
    page.goto(f"{page.url.partition('?')[0]}?m={label}&cols=answered&cols=intervals")
    rows = {}
    for line in page.locator(".board2 tbody tr").all():
        mean, interval = line.locator("td.mean").inner_text().strip().split("\n")
        answered = line.locator("td[data-l=Answered]").inner_text().split("\n")[0].strip()
        rows[line.locator("th a").inner_text()] = (mean, interval, answered)
    return rows


def wait_until_scored(page: Page) -> None:
    """The release's own job scores what was imported before it."""
    for _ in range(60):
        if not page.get_by_text("no scores on").count():
            return
        page.wait_for_timeout(500)
        page.reload()
    raise AssertionError("the runs were not scored")


def check_sets(page: Page, files: collections.Cranfield, given: list[int]) -> None:
    """The new grades are a set of their own, the imported ones as they were."""
    open_page(page, "Releases", "Qrels")
    assert download_qrels(page, "official") == files.official
    own = download_qrels(page, "own labels")
    assert len(own) == N_GRADES
    assert Counter(own.values()) == Counter(given)


def download_qrels(page: Page, name: str) -> dict[tuple[str, str], int]:
    with page.expect_download() as download:
        row(page, name).get_by_role("link", name=f"TREC qrels of {name}").click()
    text = Path(download.value.path()).read_text()
    result = csv.reader(io.StringIO(text), delimiter=" ")
    return {(qid, docid): int(value) for qid, _, docid, value in result}


def row(page: Page, name: str):
    heading = page.get_by_role("rowheader", name=name, exact=True)
    return page.get_by_role("row").filter(has=heading)
