"""Pictures of the main screens: `python -m tests.browser.screenshots docs/images`.

Each screen is taken at two widths and in two colour schemes, and its accessibility tree is written
beside them: what is read aloud, in its order. `pictures.json` beside them says
what each was made of: `make check` fails where a page has changed since.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.browsing import chromium_path, open_chromium, sign_in
from tests.browser.labeling import BEGIN, READY, SAVED
from tests.system.site import ROOT, Site

PICTURES = "pictures.json"
WIDTHS = {1440: 900, 360: 740}
SCHEMES = ("light", "dark")
# Few colours are enough for a page, and a third of the bytes.
COLOURS = 128
SEARCHABLE = """
from annotation.searching.services import start_indexing
from benchmarks_app.models import Benchmark
benchmark = Benchmark.objects.get(slug="stdlib")
start_indexing(benchmark=benchmark, user=benchmark.memberships.get(role="owner").user)
"""
# Nobody's answers: a made-up judge that is a grade off, mostly below, on a third of the documents
# that people judged. The picture says so: its model is called "made up".
JUDGED = """
from annotation.campaigns.selectors import judged_entries, peoples_grades
from annotation.models import Campaign
from benchmarks_app.models import Benchmark
from tests.annotation import making_machines as making
benchmark = Benchmark.objects.get(slug="stdlib")
pool, owner = benchmark.pools.get(), benchmark.memberships.get(role="owner").user
judge = making.judge(benchmark, "umbrela", model="made up", created_by=owner)
asked = {"judge": judge, "created_by": owner, "price_in": 1.0, "price_out": 2.0}
campaign = making.campaign(pool, name="everything", state="done", **asked)
entries = list(judged_entries(pool).select_related("query", "document"))
people = peoples_grades(benchmark, [(entry.query_id, entry.document.docid) for entry in entries])
for number, entry in enumerate(entries, start=1):
    docid = entry.document.docid
    off = (0, -1, 0, 0, 1, 0, -1, 0)[len(docid + entry.query.qid) % 8]
    grade = min(3, max(0, people[entry.query_id, docid][0] + off))
    label = making.label(campaign, entry.query, docid, grade)
    place = {"query": entry.query, "docid": docid, "number": number, "judgment": label}
    making.pair(campaign, **place, state="graded", cost=0.0012, n_requests=1)
n = len(entries)
Campaign.objects.filter(pk=campaign.pk).update(n_pairs=n, n_graded=n, cost=0.0012 * n)
"""
# What a screen needs of the site that the demo does not have.
BEFORE = {"judge": BEGIN, "machine-judge": JUDGED}
QRELS = b"d-q01 0 shutil.rmtree 3\nd-q01 0 os.rmdir 1\n"
BROKEN_RUN = b"d-q01 Q0 shutil.rmtree 1 9.5 mine\nd-q01 Q0 os.rmdir 2 n/a mine\n"


def _nothing(page: Page) -> None:
    """A page that is complete as it comes."""


@dataclass(frozen=True)
class Screen:
    """A page as somebody sees it, and the files it is made of, as patterns below the checkout."""

    person: str
    address: str
    sources: tuple[str, ...]
    prepare: Callable[[Page], None] = field(default=_nothing)

    def digest(self) -> str:
        """SHA-256 of the sources' names and bytes."""
        whole = sha256()
        for path in self._files():
            whole.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
        return whole.hexdigest()

    def _files(self) -> list[Path]:
        files = {path for pattern in self.sources for path in ROOT.glob(pattern)}
        return sorted(path for path in files if path.is_file())


def go_to_a_good_document(page: Page) -> None:
    """Grade until one is neither short nor long; the grades live for this picture only."""
    text = page.locator(".document-text")
    token = page.locator("#grade-form [name=token]")
    page.locator(READY).wait_for(state="attached")
    for number in range(40):
        if number and 250 <= len(text.inner_text()) <= 600:
            break
        before = token.input_value()
        page.wait_for_timeout(700)  # nobody judges ten documents a second
        page.keyboard.press("1")
        expect(token).not_to_have_value(before)
    expect(page.locator(SAVED)).to_have_text("All saved")


def open_palette(page: Page) -> None:
    page.keyboard.press("Control+k")
    page.keyboard.type("dir")
    page.locator("#palette-hits h2", has_text="Documents").wait_for()


def put_down_files(page: Page) -> None:
    """A file that can be imported and one that cannot, as they wait once they were read."""
    if page.get_by_text("mine.run").count():
        return
    files: list[Any] = [
        {"name": "grades.qrels", "mimeType": "text/plain", "buffer": QRELS},
        {"name": "mine.run", "mimeType": "text/plain", "buffer": BROKEN_RUN},
    ]
    page.locator("input[name=files]").first.set_input_files(files)
    page.get_by_role("button", name="Look at them").click()
    # A link once it is there; before that its name stands among the files that were chosen.
    page.get_by_role("link", name="mine.run").wait_for()
    for _ in range(120):
        page.goto("/b/stdlib/import/")
        if not page.get_by_text("being checked").count():
            return
        page.wait_for_timeout(500)
    message = "the files that wait were not read within a minute"
    raise AssertionError(message)


SCREENS = {
    "navigation": Screen(
        "olga",
        "/b/stdlib/queries/",
        ("templates/*.html", "benchmarks_app/navigation.py", "templates/benchmarks_app/search/*"),
        open_palette,
    ),
    "home-annotator": Screen("ada", "/b/stdlib/", ("templates/annotation/judging/_home*",)),
    "home-owner": Screen("olga", "/b/stdlib/", ("templates/benchmarks_app/homes/*",)),
    "home-submitter": Screen("sam", "/b/stdlib/", ("templates/scoring/submissions/_home*",)),
    "leaderboard": Screen(
        "sam",
        "/b/stdlib/leaderboard/",
        (
            "templates/scoring/boards/*board*",
            "scoring/boards/rows.py",
            "benchmarks_app/static/benchmarks_app/board.*",
        ),
    ),
    "compare": Screen(
        "olga",
        "/b/stdlib/compare/?runs=1,2",
        ("templates/scoring/comparisons/*", "benchmarks_app/static/benchmarks_app/compare.*"),
    ),
    "pool": Screen(
        "olga",
        "/b/stdlib/pools/new/",
        (
            "templates/annotation/pools/pool_new.html",
            "templates/annotation/pools/_pool_preview*",
            "benchmarks_app/static/benchmarks_app/pool.css",
        ),
    ),
    "query": Screen(
        "olga",
        "/b/stdlib/queries/1/search/",
        ("templates/annotation/searching/*", "annotation/static/annotation/search.*"),
    ),
    "import": Screen(
        "olga", "/b/stdlib/import/", ("templates/benchmarks_app/importing/*",), put_down_files
    ),
    "machine-judge": Screen(
        "olga",
        "/b/stdlib/machine-judges/1/calibration/",
        (
            "templates/annotation/campaigns/campaign_calibration.html",
            "templates/annotation/campaigns/_forest.html",
            "annotation/campaigns/drawing.py",
            "annotation/static/annotation/campaigns.css",
        ),
    ),
    "judge": Screen(
        "ada",
        "/b/stdlib/judge/",
        ("templates/annotation/judging/*judge*", "annotation/static/annotation/judge.*"),
        go_to_a_good_document,
    ),
}


def names_of(screen: str) -> Iterator[tuple[str, int, str]]:
    """(file name, width, colour scheme) of each picture of a screen."""
    for width in WIDTHS:
        for scheme in SCHEMES:
            yield f"{screen}-{width}-{scheme}.png", width, scheme


def tree_name(screen: str) -> str:
    """The file with what a screen says read aloud: its accessibility tree, as text."""
    return f"{screen}.tree.yaml"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--check", action="store_true", help="whether they are as new as pages")
    parser.add_argument("--only", nargs="+", choices=SCREENS, help="some of the screens")
    options = parser.parse_args()
    folder: Path = options.folder
    if options.check:
        old = old_pictures(folder)
        sys.stderr.write(
            f"Older than their pages: {', '.join(old)}; `make screenshots`.\n" if old else ""
        )
        return len(old) > 0
    executable = chromium_path()
    if executable is None:
        sys.stderr.write("Pictures need Chromium; put `chromium` into PATH.\n")
        return 1
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, Site(Path(place), on_sqlite=True) as site:
        site.manage("demo")
        site.start("up")
        site.python(SEARCHABLE)
        take_all(site, executable, folder, options.only or list(SCREENS))
    known = json.loads((folder / PICTURES).read_text()) if options.only else {}
    digests = known | {name: SCREENS[name].digest() for name in options.only or SCREENS}
    (folder / PICTURES).write_text(json.dumps(digests, indent=1) + "\n")
    return 0


def old_pictures(folder: Path) -> list[str]:
    """The screens whose pages have changed since their pictures, or that have none."""
    digests = json.loads((folder / PICTURES).read_text())
    return [
        name
        for name, screen in SCREENS.items()
        if digests.get(name) != screen.digest()
        or not all(
            (folder / file_name).is_file()
            for file_name in (tree_name(name), *(name for name, *_ in names_of(name)))
        )
    ]


def take_all(site: Site, executable: str, folder: Path, names: list[str]) -> None:
    password = (site.folder / "demo_password").read_text()
    with sync_playwright() as playwright:
        browser = open_chromium(playwright, executable)
        for name in names:
            if name in BEFORE:
                site.python(BEFORE[name])
            take(browser, site, SCREENS[name], password, folder, name)
        browser.close()


def take(
    browser: Browser, site: Site, screen: Screen, password: str, folder: Path, name: str
) -> None:
    """All pictures of a screen; a page is loaded once a width, and then darkened."""
    for width, height in WIDTHS.items():
        context = browser.new_context(
            viewport={"width": width, "height": height},
            reduced_motion="reduce",
            base_url=site.url,
        )
        page = context.new_page()
        sign_in(page, site.url, screen.person, password)
        page.goto(screen.address)
        page.locator("main h1").first.wait_for(state="attached")
        page.wait_for_load_state("networkidle")
        screen.prepare(page)
        page.mouse.move(0, 0)
        for file_name, of_width, scheme in names_of(name):
            if of_width == width:
                page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
                page.wait_for_load_state("networkidle")
                save(page, folder / file_name)
        if width == max(WIDTHS):
            tree = page.locator("body").aria_snapshot()
            (folder / tree_name(name)).write_text(f"{tree}\n")
        context.close()


def save(page: Page, target: Path) -> None:
    page.screenshot(path=target)
    with Image.open(target) as picture:
        few_colours(picture.convert("RGB")).save(target, optimize=True)
    sys.stdout.write(f"{target}: {target.stat().st_size / 1000:.0f} kB\n")


def few_colours(picture: Image.Image) -> Image.Image:
    """The picture in its commonest colours, and in as many that cover the others: a red dot's."""
    half = COLOURS // 2
    counts = sorted(picture.getcolors(picture.width * picture.height) or [], reverse=True)
    others = picture.quantize(half, Image.Quantize.MAXCOVERAGE).getpalette() or []
    common = [channel for _, colour in counts[:half] for channel in colour]
    palette = Image.new("P", (1, 1))
    palette.putpalette(common + others[: 3 * half])
    return picture.quantize(palette=palette, dither=Image.Dither.NONE)


if __name__ == "__main__":
    raise SystemExit(main())
