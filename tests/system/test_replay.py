"""Qrels as of an event, published in the middle of the writing, equal a replay from zero."""

import json
import subprocess
import sys
from statistics import median_low

import pytest

from tests.system.site import ROOT, SETUP, Site

pytestmark = pytest.mark.slow
N_WRITERS, N_SETS = 3, 5
EVENTS = """
SELECT j.id, q.qid, j.docid, j.kind, j.grade, j.actor_id, j.supersedes_id
FROM annotation_judgment j JOIN benchmarks_app_query q ON q.id = j.query_id
WHERE j.id <= ? ORDER BY j.id
"""


def start(site: Site, code: str) -> subprocess.Popen:
    command = [sys.executable, "-c", f"{SETUP}from tests.system import replaying; replaying.{code}"]
    return subprocess.Popen(
        command, cwd=ROOT, env=site.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finished(process: subprocess.Popen) -> str:
    out, trouble = process.communicate(timeout=240)
    assert process.returncode == 0, trouble[-3000:]
    return out


def replay(events: list[tuple]) -> str:
    """The qrels of a ledger, event by event from the first; by nothing of the code under test."""
    standing: dict[int, tuple] = {}
    for number, *event, supersedes in events:
        standing.pop(supersedes, None)
        if event[2] != "retract":
            standing[number] = tuple(event)
    results: dict[tuple[str, str], dict[int, int]] = {}
    for qid, docid, _, grade, actor in standing.values():
        results.setdefault((qid, docid), {})[actor] = grade
    lines = []
    for (qid, docid), by_actor in results.items():
        grades = list(by_actor.values())
        if len(grades) == 2 and abs(grades[0] - grades[1]) >= 2:
            continue
        lines.append((qid.encode(), docid.encode(), f"{qid} 0 {docid} {median_low(grades)}\n"))
    return "".join(line for _, _, line in sorted(lines))


def test_sets_published_while_people_write_equal_a_replay_byte_for_byte(tmp_path, capsys):
    with Site(tmp_path / "site") as site:
        site.python(f"from tests.system import replaying; replaying.prepare({N_WRITERS}, 10, 15)")
        writers = [start(site, f"write('writer{n}', {n})") for n in range(N_WRITERS)]
        publisher = start(site, f"publish_often({N_SETS})")
        n_labels = sum(int(finished(writer)) for writer in writers)
        finished(publisher)
        report = json.loads(finished(start(site, "published()")))
        newest = site.rows("SELECT max(id) FROM annotation_judgment")[0][0]

        assert len(report) >= 3
        differing = 0
        for as_of, then, later in report:
            expected = replay(site.rows(EVENTS, as_of))
            assert then == later == expected
            differing += 0 < as_of < newest
        with capsys.disabled():
            where = ", ".join(str(as_of) for as_of, _, _ in report)
            sys.stderr.write(f"\n{n_labels} labels; sets as of {where} of {newest} events\n")
        assert differing >= 2, "nothing was published while people wrote"
