"""Nouns of a site and their verbs, as `benchwright` does them: what the site then has, and says."""

import json
import re
import shlex

import pytest
from django.core.wsgi import get_wsgi_application

from annotation.models import Pool
from benchmarks_app.models import (
    ContaminationCheck,
    Guideline,
    QrelSet,
    QueryFamily,
    Slice,
    User,
    Webhook,
)
from benchmarks_app.site_path import below_site_path
from benchmarks_app.splits.services.contamination import salt_of
from benchwright.cli.sites.nouns.commands import NOUNS, verbs_of
from scoring.models import GatePolicy, GateResult, Phase
from tests import factories
from tests.benchmarks_app.notices.receiving import receiving
from tests.benchwright.cli.sites import sites
from tests.benchwright.cli.sites.test_site_doors import EXACT, INDEX, answered, bench
from tests.judge_stub import JudgeStub
from tests.system.site import ROOT

HOOK = "https://ci.example.org/hook"


def said(done):
    assert done.exit_code == 0, done.output
    return done.stdout


def refused(done, code, sentence):
    assert (done.exit_code, done.stdout) == (code, ""), done.output
    assert sentence in done.stderr


def test_phase_is_made_changed_closed_and_opened_again(on):
    factories.release(bench().qrel_sets.get(), "1.0.0")
    new = ("phases", "new", "spring", "--release", "1.0.0", "--split", "dev")

    record = answered(
        on(*new, "--closes-at", "2030-12-24T12:00:00Z", "--daily-limit", "3", "--json")
    )
    closed = said(on("phases", "close", "spring"))
    opened = answered(on("phases", "change", "spring", "--closes-at", "2031-01-01", "--json"))
    named = said(on("phases", "--first", "1"))

    phase = Phase.objects.get(name="spring")
    assert (record["id"], phase.daily_limit, phase.name) == (phase.pk, 3, "spring")
    assert "state: over" in closed
    assert opened["state"] == "open"
    assert named.splitlines()[1].split()[:4] == [str(phase.pk), "spring", "1.0.0", "dev"]
    refused(on("phases", "close", "sprng"), 2, "'sprng' is no phase of tiny. Did you mean 'spring'")
    refused(on("phases", "change", "spring"), 2, "Nothing is named that is to change.")
    refused(on("phases", "new", "x", "--release", "1.0.0", "--split", "tset"), 2, "mean 'test'?")
    refused(
        on(*new[:3], "--release", "9.9.9", "--split", "test"),
        1,
        "release: No published release has this version.",
    )


def test_policy_is_frozen_rehearsed_and_retired(on, tmp_path):
    for name, text in (("old", EXACT), ("other", INDEX)):
        factories.run(bench(), text, name=name, owner=factories.user("olga"))
    factories.release(bench().qrel_sets.get(), "1.0.0")
    content = tmp_path / "gate.json"
    content.write_text('{"alpha": 0.1}')
    broken = tmp_path / "broken.json"
    broken.write_text('{"goal":\n nothing}')
    new = ("policies", "new", "nightly", "--baseline", "old")

    rehearsed = on("policies", "rehearse", "draft", "--baseline", "old", "--run", "other")
    frozen = answered(on(*new, "--json"))
    again = answered(on(*new, "--content", str(content), "--json"))
    refused(on(*new, "--content", str(content)), 1, "says the same already")
    retired = said(on("policies", "retire", "nightly"))

    assert "state: done" in said(rehearsed)
    assert [frozen["version"], again["version"]] == [1, 2]
    assert "retired at: " in retired
    assert GatePolicy.objects.get(version=2).retired_at
    refused(on(*new, "--content", str(broken)), 1, f"{broken}:2: is no JSON")
    refused(on("policies", "new", "x", "--baseline", "oldd"), 2, "Did you mean 'old'?")


def test_webhook_is_told_and_its_answers_are_seen(on, settings):
    settings.WEBHOOK_PRIVATE_ADDRESSES = ["127.0.0.1"]
    with receiving() as receiver:
        url = f"{receiver.address}/hook"
        output = said(
            on("webhooks", "new", url, "--event", "job.failed", "--event", "gate.decided")
        )
        said(on("webhooks", "try", url))
        answers = answered(on("webhooks", "answers", url, "--json"))
        again = answered(on("webhooks", "send-again", url, str(answers[0]["id"]), "--json"))
    changed = answered(on("webhooks", "change", url, "--off", "--event", "job.failed", "--json"))
    renewed = answered(on("webhooks", "secret", url, "--json"))
    removed = said(on("webhooks", "remove", url))

    assert "secret: whsec_" in output
    assert [row["event"] for row in answers] == ["test"]
    assert again["id"] == answers[0]["id"]
    assert (changed["off"], changed["events"]) == ("by_hand", ["job.failed"])
    assert renewed["secret"] not in output
    assert (removed, Webhook.objects.count()) == ("done\n", 0)
    refused(on("webhooks", "new", HOOK, "--event", "job.faild"), 2, "Did you mean 'job.failed'?")
    refused(on("webhooks", "new", "ftp://x/", "--event", "job.failed"), 1, "https")
    refused(on("webhooks", "try", HOOK), 2, f"'{HOOK}' is no webhook of tiny.")


def test_guideline_is_written_and_read_as_it_was_written(on, tmp_path):
    text = tmp_path / "guideline.md"
    text.write_text("# What helps\n\nA page helps if it answers. ü 日\n")

    refused(on("guideline"), 1, "There is no guideline so far.")
    said(on("guideline", "write", str(text)))
    text.write_text("# Second\n")
    said(on("guideline", "write", str(text), "--upon", "1"))
    late = on("guideline", "write", str(text), "--upon", "1")

    assert said(on("guideline")) == "# Second\n"
    assert said(on("guideline", "--version", "1")).endswith("ü 日\n")
    assert [row["version"] for row in answered(on("guideline", "versions", "--json"))] == [2, 1]
    assert Guideline.objects.count() == 2
    assert (late.exit_code, late.stdout) == (1, "")
    refused(on("guideline", "write", "gone.md"), 2, "gone.md: no such file")
    text.write_bytes("# Für wen\n".encode("utf-16"))
    assert said(on("guideline", "write", str(text))) and said(on("guideline")) == "# Für wen\n"
    text.write_bytes("# For\nFür wen\n".encode("latin-1"))
    refused(on("guideline", "write", str(text)), 1, f"{text}:2: is not UTF-8. Save it as UTF-8.")


def test_contamination_is_checked_and_clean_queries_become_a_slice(on, tmp_path):
    known = bench().queries.first().text
    outside = tmp_path / "train.txt"
    outside.write_text(f"{known}\nsomething else entirely\n")

    output = said(on("contamination", "new", str(outside), "--name", "train"))
    matches = answered(on("contamination", "matches", "train", "--json"))
    clean = answered(on("contamination", "clean", "train", "--json"))
    sliced = answered(on("contamination", "slice", "train", "--json"))
    result = said(on("contamination", "show", "train"))

    assert output == "Compare queries with train (2): done\n1 exact, 0 near, 0 possible\n"
    assert [row["degree"] for row in matches] == ["exact"]
    assert len(clean) == bench().queries.count() - 1
    assert Slice.objects.get(name=sliced["name"]).members.count() == len(clean)
    assert "outside: 2" in result
    assert said(on("contamination", "salt")) == f"salt: {salt_of(bench())}\n"
    said(on("contamination", "remove", "train"))
    assert not ContaminationCheck.objects.exists()


def test_families_are_told_apart_and_it_is_undone(on):
    one, other = QueryFamily.objects.order_by("pk")[:2]

    merge = ("family", "merge", str(one.pk), str(other.pk))
    refused(on(*merge), 1, "Say which split the merged family takes.")
    said(on(*merge, "--split", "dev"))
    (whole,) = [row for row in answered(on("family", "--json")) if row["n_queries"] == 2]
    pair = [
        row["id"] for row in answered(on("family", "show", str(whole["id"]), "--json"))["queries"]
    ]
    said(on("family", "confirm", str(whole["id"])))
    said(on("family", "split", str(whole["id"]), "--query", pair[0]))
    changed = said(on("family", "undo"))

    assert "kind: undo" in changed
    assert sorted(row["n_queries"] for row in answered(on("family", "--json")))[-1] == 2


def test_slices_pools_splits_and_judges_are_kept(on):
    said(on("slice", "long", "--expression", "length >= 1"))
    factories.run(bench(), EXACT, name="exact")
    said(on("pool", "exact", "--depth", "2", "--name", "first"))
    query = bench().queries.first().qid

    said(on("slices", "change", "long", "--name", "longer", "--description", "of words"))
    said(on("slices", "decide", "longer", "reject", "--query", query))
    rejected = answered(on("slices", "queries", "longer", "--state", "rejected", "--json"))
    paused = answered(on("pools", "change", "first", "--state", "paused", "--json"))
    said(on("split", "--shares", "train=50,test=50"))
    hidden = answered(on("splits", "hide", "test", "--json"))
    result = answered(on("splits", "hide", "--json"))

    assert [row["query"] for row in rejected] == [query]
    assert (paused["state"], Pool.objects.get().state) == ("paused", "paused")
    assert (hidden["hidden_splits"], result["hidden_splits"]) == (["test"], [])


def test_judge_is_set_up_tried_and_removed(on, settings, tmp_path):
    settings.JUDGE_PRIVATE_ADDRESSES = True
    key = tmp_path / "key"
    key.write_text("sk-secret\n")
    with JudgeStub() as stub:
        model = ("--base-url", stub.url, "--model", "stub")
        half = ("judges", "new", "stub", *model, "--key-file", str(key), "--price-in", "0.5")
        refused(on(*half), 1, "Send both prices, or neither")
        said(on(*half, "--price-out", "1"))
        tried = answered(on("judges", "try", "stub", "--json"))
    changed = answered(on("judges", "change", "stub", "--forget-key", "--name", "ours", "--json"))

    assert (tried["is_being_tried"], tried["has_stored_key"]) == (False, True)
    assert tried["trial"]
    assert "sk-secret" not in json.dumps(tried)
    assert (changed["name"], changed["has_stored_key"]) == ("ours", False)
    assert said(on("judges", "remove", "ours")) == "done\n"
    refused(on("judges", "new", "x", "--model", "m"), 2, "--base-url")


def test_known_grades_and_candidates_come_from_tables(on, tmp_path):
    factories.run(bench(), EXACT, name="exact")
    said(on("pool", "exact", "--depth", "2", "--name", "first"))
    grades, rows = tmp_path / "gold.tsv", tmp_path / "rows.tsv"
    grades.write_text("query-id\tcorpus-id\tgrade\tpurpose\n1\t123\t2\tpractice\n")
    rows.write_text("query-id\tcorpus-id\n1\t123\n1\td-cjk\n")
    short, bare = tmp_path / "short.tsv", tmp_path / "bare.tsv"
    short.write_text("query-id\tcorpus-id\n1\t12\u20283\n1\t3\n1\n")
    bare.write_text("query-id\tdocument\n1\t123\n")

    said(on("pools", "know", "first", str(grades)))
    (known,) = answered(on("pools", "known", "first", "--json"))
    record = answered(on("candidates", "new", "odd", str(rows), "--origin", "by hand", "--json"))
    gone = said(on("pools", "forget", "first", str(known["id"])))

    assert (known["document"], known["grade"], known["purpose"]) == ("123", 2, "practice")
    assert (record["n_documents"], record["n_queries"]) == (2, 1)
    assert (gone, said(on("pools", "known", "first"))) == ("done\n", "There are none.\n")
    refused(on("candidates", "new", "x", str(short)), 1, f"{short}:4: 1 cell, expected 2")
    refused(on("pools", "know", "first", str(bare)), 1, f"{bare}:1: has no column grade")


def test_query_whose_id_has_signs_of_an_address_is_asked_for_by_all_of_it(on):
    factories.run(bench(), EXACT, name="exact")

    refused(on("runs", "query", "exact", "why#2?"), 1, "/queries/why%232%3F/: There is no such")


def test_run_is_the_one_of_the_name_whatever_its_name_is(on):
    """Also where the name holds a comma, or is another run's number."""
    other = factories.run(bench(), INDEX, name="other")
    texts = {str(other.pk): EXACT, "a,b": INDEX.replace("3.0", "4.0")}
    runs = [factories.run(bench(), text, name=name) for name, text in texts.items()]
    factories.release(bench().qrel_sets.get(), "1.0.0")
    said(on("releases", "score", "1.0.0"))
    both = ("--run", str(other.pk), "--run", "a,b")

    kept = answered(on("ann", str(other.pk), "a,b", "-k", "2", "--json"))
    policy = answered(on("policies", "new", "p", "--baseline", str(other.pk), "--json"))
    results = answered(on("comparisons", "results", "1", *both, "--json"))
    worth = answered(on("candidates", "worth", *both, "--json"))
    nothing = on("candidates", "keep", *both, "--name", "kept")

    assert kept["recall"] == 0.5
    assert GatePolicy.objects.get(pk=policy["id"]).baseline.name == str(other.pk)
    assert [of["run"] for of in results] == [str(run.pk) for run in runs]
    assert [of["run"] for of in worth["runs"]] == [str(other.pk), "a,b"]
    refused(nothing, 1, f"None of the 1 unjudged documents of {other.pk} and a,b is expected")
    refused(on("ann", "a", "b"), 2, "'a' is no run of tiny.")


def test_machine_is_called_by_the_name_of_its_grades(on):
    factories.run(bench(), EXACT, name="exact")
    factories.release(bench().qrel_sets.get(), "1.0.0")
    QrelSet.objects.create(benchmark=bench(), name="by nova", kind="machine", state="ready")

    named = answered(on("releases", "corrected", "1.0.0", "--machine", "by nova", "--json"))
    learned = answered(on("releases", "corrected", "1.0.0", "--machine", "learned", "--json"))

    assert "There is no such set" not in named["refusal"]
    assert "There is no such set" not in learned["refusal"]
    refused(on("releases", "corrected", "1.0.0", "--machine", "by nov"), 2, "mean 'by nova'?")


@pytest.fixture
def path(settings, monkeypatch):
    """The path below which the site is."""
    settings.SITE_PATH = settings.FORCE_SCRIPT_NAME = "/benchwright"
    application = below_site_path(get_wsgi_application())
    monkeypatch.setattr(sites, "get_wsgi_application", lambda: application)
    return settings.SITE_PATH


def test_link_to_a_verdict_has_the_path_of_the_site_once(
    path, on, benchwright, site, token_of, tmp_path
):
    for name, text in (("old", EXACT), ("other", INDEX)):
        factories.run(bench(), text, name=name)
    factories.release(bench().qrel_sets.get(), "1.0.0")
    said(on("policies", "new", "nightly", "--baseline", "old"))
    candidate = tmp_path / "new.run"
    candidate.write_text(EXACT.replace(" e", " new"))
    gate = ("gate", str(candidate), "--policy", "nightly", "--wait")
    token = token_of(User.objects.get(username="olga"))

    done = benchwright("--site", site + path, "--benchmark", "tiny", *gate, BENCHWRIGHT_TOKEN=token)

    gate_pk = GateResult.objects.get().pk
    assert done.stderr.splitlines()[0] == f"{site}/benchwright/b/tiny/gates/{gate_pk}/"


def test_teams_are_made_and_people_let_in(on):
    factories.member(bench(), "ada", "annotator")

    said(on("teams", "new", "Reds"))
    grown = answered(on("teams", "add", "Reds", "ada", "--json"))
    unknown = on("teams", "add", "Blues", "ada")
    left = said(on("teams", "leave", "Reds"))

    assert sorted(grown["members"]) == ["ada", "olga"]
    refused(unknown, 2, "'Blues' is no team of yours. There is: Reds.")
    assert left == "done\n"
    assert said(on("teams")) == "There are no teams.\n"


def test_agreement_is_the_same_on_a_site_and_of_its_files(on, benchwright, tmp_path):
    factories.run(bench(), EXACT, name="exact")
    said(on("pool", "exact", "--depth", "2", "--overlap", "2", "--name", "first"))
    scale = sorted(bench().grades.values_list("value", flat=True))
    relevant = min(bench().grades.filter(is_relevant=True).values_list("value", flat=True))
    files = []
    for rater, grades in {"ada": (2, 0, 1, 0), "ann": (2, 1, 1, 0)}.items():
        pairs = [("1", "123"), ("1", "d-cjk"), ("q-cjk", "d-cjk"), ("q-cjk", "123")]
        rows = zip(pairs, grades, strict=True)
        files.append(tmp_path / f"{rater}.qrels")
        files[-1].write_text("".join(f"{qid} 0 {doc} {grade}\n" for (qid, doc), grade in rows))
        said(on("label", str(files[-1]), "--pool", "first", "--rater", rater))

    there = answered(on("agreement", "--json"))
    of_pool = answered(on("agreement", "--pool", "first", "--afresh", "--json"))
    words = ("--scale", ",".join(map(str, scale)), "--rel", str(relevant))
    here = answered(benchwright("agreement", *map(str, files), *words, "--json"))
    table = said(benchwright("agreement", *map(str, files), *words))

    assert here["same_share"] == 0.75
    for name, row in there["overall"].items():
        assert here["overall"][name]["value"] == pytest.approx(row["value"]), name
    assert of_pool["overall"] == there["overall"]
    assert said(on("agreement")).splitlines()[1:] == table.splitlines()[1:]
    refused(on("agreement", "--pool", "frist"), 2, "Did you mean 'first'?")


def test_agreement_refuses_what_is_no_scale_and_what_is_off_it(benchwright, tmp_path):
    one, other = tmp_path / "one.qrels", tmp_path / "other.qrels"
    one.write_text("q1 0 d1 1\nq1 0 d2 4\n")
    other.write_text("q9 0 d1 1\n")

    refused(benchwright("agreement", str(one), str(one), "--scale", "0-3"), 2, "'0-3' is no scale")
    refused(benchwright("agreement", str(one), str(one), "--scale", "0,1"), 1, "one.qrels:2: ")
    refused(benchwright("agreement", str(one), str(other)), 1, "have no pair in common")


def test_agreement_of_a_file_is_of_the_annotators_that_it_names(benchwright, tmp_path):
    labels, more = tmp_path / "labels.csv", tmp_path / "more.tsv"
    labels.write_text("annotator,qid,docid,grade\nann,q,d1,1\nbo,q,d1,1\nann,q,d2,0\nbo,q,d2,1\n")
    more.write_text("qid\tdocid\tgrade\nq\td1\t1\nq\td2\t0\n")

    two = said(benchwright("agreement", str(labels)))
    three = said(benchwright("agreement", str(labels), str(more)))
    more.write_text("annotator\tqid\tdocid\tgrade\nbo\tq\td1\t0\n")
    twice = benchwright("agreement", str(labels), str(more))

    assert two.startswith("2 pairs graded twice: 50% the same grade; scale 0, 1\n")
    assert three.startswith("2 pairs graded by two or more of 3 people: 50% the same grade")
    refused(twice, 1, "more.tsv:2: bo gave this pair 1 in another file, and 0 here")
    refused(benchwright("agreement", str(more)), 1, "All grades are of one (bo)")


def test_report_of_a_gate_and_the_activity_are_brought_home(on, tmp_path):
    said(on("slice", "long", "--expression", "length >= 1"))

    lines = said(on("export", "activity")).splitlines()
    table = said(on("export", "activity", "--form", "csv"))

    assert {json.loads(line)["by"] for line in lines} == {"olga"}
    # The head, and the export before, which is an activity as well.
    assert len(table.splitlines()) == len(lines) + 2
    refused(on("export", "report", "7"), 1, "gates/7/report.md")
    refused(on("export", "report", "7", "--form", "csv"), 2, "'csv' is no form of report.")
    refused(
        on("export", "leaks", "--form", "csv"),
        2,
        "leaks are written in one form. Leave --form out.",
    )


def test_commands_md_shows_what_is_done(on, settings, tmp_path, monkeypatch):
    """The block under *What a site has*, line by line, on a benchmark with what it names."""
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "gate.json": '{"measure": "AP"}',
        "train.txt": f"{bench().queries.first().text}\n",
        "key.txt": "sk-secret",
        "guideline.md": "# Old\n",
    }.items():
        (tmp_path / name).write_text(text)
    factories.release(bench().qrel_sets.get(), "1.0.0")
    factories.run(bench(), EXACT, name="bm25", owner=factories.user("olga"))
    said(on("pool", "bm25", "--depth", "2", "--name", "first"))
    said(on("guideline", "write", "guideline.md"))
    for number in (12, 31):
        family = QueryFamily.objects.create(pk=number, benchmark=bench())
        factories.query(bench(), f"f{number}", "opening hours", family=family)
    factories.query_slice(bench(), "head", factories.query(bench(), "q1", "closing hours"))
    page = (ROOT / "docs" / "commands.md").read_text("utf-8").partition("### What a site has")[2]
    lines = re.findall(r"^on (?!\()(.*)$", page.partition("\n### ")[0], re.MULTILINE)

    for line in lines:
        words, _, output = line.partition(" > ")
        result = said(on(*shlex.split(words)))
        if output:
            (tmp_path / output).write_text(f"{result}And more.\n")  # somebody edits it

    assert len(lines) > 15
    assert Guideline.objects.count() == 2
    assert Pool.objects.get().state == "closed"


ALONE = [
    (noun, verb)
    for noun, of in NOUNS.items()
    for verb, what in verbs_of(noun).items()
    if what.how == "GET" and "{}" not in what.path and not any(take.required for take in what.takes)
]


@pytest.mark.parametrize(("noun", "verb"), ALONE)
def test_what_is_asked_without_a_name_is_answered_for_people_and_programs(on, noun, verb):
    factories.release(bench().qrel_sets.get(), "1.0.0")

    text, facts = on(noun, verb), on(noun, verb, "--json")

    if (noun, verb) == ("guideline", "show"):
        refused(text, 1, "There is no guideline so far.")
        return
    assert (text.exit_code, facts.exit_code) == (0, 0), (text.output, facts.output)
    assert text.stdout.strip()
    json.loads(facts.stdout)


def test_folder_that_mteb_wrote_one_result_into_is_that_result(on, tmp_path):
    inside = tmp_path / "results" / "a__model"
    inside.mkdir(parents=True)
    (inside / "model_meta.json").write_text("{}")
    scores = {"test": [{"main_score": 0.4, "ndcg_at_10": 0.4, "hf_subset": "default"}]}
    result = {"task_name": "Tea", "scores": scores, "mteb_version": "2.0"}

    refused(
        on("reported", "new", str(tmp_path)), 2, "holds 0 result files; expected one. Name a file."
    )
    (inside / "Tea.json").write_text(json.dumps(result))
    answer = answered(on("reported", "new", str(tmp_path), "--system", "a-model", "--json"))
    (inside / "Two.json").write_text("{}")

    assert answer["systems"] == ["a-model"]
    refused(on("reported", "new", str(tmp_path)), 2, "holds 2 result files (such as")
