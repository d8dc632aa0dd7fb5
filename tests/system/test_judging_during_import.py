"""Judging goes on, without an error or a lost label, while a large import runs."""

import re
import threading

import pytest

from tests.system.making import beir_zip
from tests.system.site import Site
from tests.system.visitor import Visitor
from tests.system.working import assert_nothing_half_done, job_row, wait_for_job

pytestmark = pytest.mark.slow
ENOUGH = 50
TOO_SLOW_SECONDS = 10  # about 0.5 on a machine with nothing else to do


class Annotator(threading.Thread):
    """Judges one document after another until told to stop; keeps every answer."""

    def __init__(self, site: Site, username: str, pool: int) -> None:
        super().__init__(name=username)
        self.visitor = Visitor(site.url, username)
        self.path = f"/judge/{pool}/"
        self.is_over = threading.Event()
        self.slowest = 0.0
        self.answers: list[int] = []
        self.trouble: list[str] = []

    def run(self) -> None:
        page = form = self.visitor.get(self.path)
        while not self.is_over.is_set() and not self.trouble:
            if 'name="token"' not in form.text:
                self.trouble.append(f"no document to judge in {form.text[:3000]}")
                return
            form = self._judge(page, form)

    def _judge(self, page, form):
        data = {name: form.field(name) for name in ("token", "client_id")}
        answer = self.visitor.post(
            f"{self.path}grade/", page, {**data, "grade": "1", "dwell_ms": "900"}, is_htmx=True
        )
        self.slowest = max(self.slowest, answer.seconds)
        self.answers.append(answer.status)
        if not 200 <= answer.status < 400 or "Grade 1 saved" not in answer.text:
            self.trouble.append(f"{answer.status}: {re.sub('<[^>]+>', ' ', answer.text)[:2000]}")
        return answer


def test_judging_goes_on_while_200_000_documents_are_imported(plain_site, tmp_path, capsys):
    site = plain_site
    archive = beir_zip(tmp_path / "large.zip", n_documents=200_000, n_queries=20_000)
    pool = site.call("make_pool", slug="judged", n_queries=60, n_documents=25)
    site.start("worker")
    site.start("web")
    annotators = [Annotator(site, username, pool) for username in ("ada", "bo")]

    job = site.call("start_import", slug="judged", path=str(archive))
    wait_for_job(site, job, state="running")
    for annotator in annotators:
        annotator.start()
    try:
        site.wait_for(lambda: job_row(site, job).state != "running", "the import to end", 120)
        n_during = sum(len(annotator.answers) for annotator in annotators)
    finally:
        for annotator in annotators:
            annotator.is_over.set()
            annotator.join(timeout=60)

    assert [annotator.trouble for annotator in annotators] == [[], []]
    slowest = max(annotator.slowest for annotator in annotators)
    with capsys.disabled():
        print(  # noqa: T201
            f"\n{n_during} judgments during the import; the slowest took {slowest * 1000:.0f} ms"
        )
    assert wait_for_job(site, job).attempt == 1
    assert n_during >= ENOUGH
    assert slowest < TOO_SLOW_SECONDS
    n_all = sum(len(annotator.answers) for annotator in annotators)
    expected = {"events": n_all, "surplus": 0, "entries": n_all}
    assert site.call("judged", pool=pool) == expected
    assert site.call("contents", slug="judged")["n_queries"] == 20_000 + 60
    assert_nothing_half_done(site, "judged")
