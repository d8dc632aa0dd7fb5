"""Values reported from elsewhere: taken over whole, shown apart, never ranked."""

import json
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.urls import reverse

from benchmarks_app.models import AuditEvent
from benchwright.errors import MtebFormatError, UnknownMeasureError
from scoring.boards.services import reported
from scoring.boards.services.reported import (
    ReportedDiffersError,
    ReportedFileError,
    ReportedTwiceError,
    ReportedValueError,
    SourceNeededError,
    SystemNeededError,
    TaskChoiceError,
    change_reported,
    enter_reported,
    import_mteb,
    remove_reported,
)
from scoring.models import ReportedScore
from scoring.scores.selectors.boards import leaderboard
from tests import factories
from tests.open_pages import opened

TASK = {
    "task_name": "SciFact",
    "mteb_version": "1.12.41",
    "scores": {"test": [{"hf_subset": "default", "main_score": 0.7, "ndcg_at_10": 0.7}]},
}
LIST = reverse("scoring:reported-list", args=["stdlib"])
NEW = reverse("scoring:reported-new", args=["stdlib"])


def content(found=TASK) -> bytes:
    return json.dumps(found).encode()


def take_over(benchmark, user, found=TASK, **more):
    more = {"system": "model v1", "file": "SciFact.json", **more}
    return import_mteb(benchmark=benchmark, user=user, content=content(found), **more)


def enter(benchmark, user, **more) -> bool:
    fields = {"system": "bm25", "measure": "ndcg@10", "value": 0.5, "source": "A paper, table 2"}
    return enter_reported(benchmark=benchmark, user=user, **{**fields, **more})


# --- entering ------------------------------------------------------------------------------


def test_a_result_file_is_entered_with_where_it_is_from(benchmark, sam):
    imported = take_over(benchmark, sam)

    assert (imported.n_new, imported.n_known, imported.systems) == (2, 0, ["model v1"])
    score = ReportedScore.objects.get(measure="nDCG@10")
    assert (score.system, score.value, score.split) == ("model v1", 0.7, "test")
    assert (score.source, score.kind, len(score.sha256)) == ("SciFact.json", "mteb", 64)
    assert score.metadata["task"] == "SciFact"
    assert AuditEvent.objects.filter(action="report-scores", actor=sam).count() == 1


def test_the_same_file_again_changes_nothing(benchmark, sam):
    take_over(benchmark, sam)

    assert (take_over(benchmark, sam).n_new, ReportedScore.objects.count()) == (0, 2)


def test_another_value_of_the_same_source_is_refused_whole(benchmark, sam):
    take_over(benchmark, sam)
    changed = json.loads(content())
    changed["scores"]["test"].append({"hf_subset": "default", "main_score": 0.9, "P": 1})
    changed["scores"]["dev"] = changed["scores"]["test"][:1]

    with pytest.raises(ReportedDiffersError, match=r"main_score = 0\.7 .* now says 0\.9"):
        take_over(benchmark, sam, changed)
    assert ReportedScore.objects.count() == 2


def test_subsets_of_a_split_are_sources_of_their_own(benchmark, sam):
    rows = [{"hf_subset": name, "main_score": value} for name, value in (("en", 0.1), ("de", 0.2))]
    take_over(benchmark, sam, {"task_name": "T", "scores": {"test": rows}})

    sources = ReportedScore.objects.values_list("source", "value").order_by("value")
    assert list(sources) == [("SciFact.json [en]", 0.1), ("SciFact.json [de]", 0.2)]


def test_a_file_without_a_model_needs_the_system(benchmark, sam):
    with pytest.raises(SystemNeededError, match=r"SciFact\.json does not name its model"):
        take_over(benchmark, sam, system="")


def test_of_several_tasks_one_is_named(benchmark, sam):
    other = {**TASK, "task_name": "NFCorpus"}
    whole = {"model_name": "a/b", "task_results": [TASK, other]}

    with pytest.raises(
        TaskChoiceError, match=r"holds 2 tasks and one is wanted.*SciFact, NFCorpus"
    ):
        take_over(benchmark, sam, whole)
    with pytest.raises(TaskChoiceError, match="none is called 'x'"):
        take_over(benchmark, sam, whole, task="x")
    imported = take_over(benchmark, sam, whole, task="nfcorpus", system="")
    assert (imported.task, imported.systems) == ("NFCorpus", ["a/b"])


def test_a_file_that_is_none_or_too_large_is_refused(benchmark, sam, monkeypatch):
    with pytest.raises(MtebFormatError, match=r"x\.json: no JSON"):
        import_mteb(benchmark=benchmark, user=sam, content=b"q1 Q0 d1 1", file="x.json")
    monkeypatch.setattr(reported, "LARGEST_FILE", 10)
    with pytest.raises(ReportedFileError, match="at most 10 are read"):
        take_over(benchmark, sam)
    assert not ReportedScore.objects.exists()


def test_a_value_by_hand_is_entered_by_the_measures_name(benchmark, sam, release):
    assert enter(benchmark, sam, release=release, split="test")
    assert not enter(benchmark, sam, split="test")

    score = ReportedScore.objects.get()
    assert (score.measure, score.value, score.release, score.kind) == (
        "nDCG@10",
        0.5,
        release,
        "entered",
    )


def test_a_value_that_another_enters_at_this_moment_is_there(benchmark, sam, owner, monkeypatch):
    def none_yet(score):
        monkeypatch.undo()
        enter(benchmark, owner)
        return ReportedScore.objects.none()

    monkeypatch.setattr(reported, "_same_place", none_yet)

    assert not enter(benchmark, sam)
    assert ReportedScore.objects.get().reported_by == owner
    counts = AuditEvent.objects.filter(action="report-scores").values_list("actor", "detail")
    assert dict(counts) == {owner.pk: {"n": 1}, sam.pk: {"n": 0}}


def test_a_value_is_not_moved_to_where_another_was_moved_at_this_moment(
    benchmark, sam, owner, monkeypatch
):
    enter(benchmark, sam)
    enter(benchmark, owner, split="dev", value=0.4)
    later = ReportedScore.objects.get(split="dev")
    monkeypatch.setattr(reported, "_same_place", lambda score: ReportedScore.objects.none())

    with pytest.raises(ReportedTwiceError):
        change_reported(score=later, actor=owner, split="")

    assert {score.split for score in ReportedScore.objects.all()} == {"", "dev"}


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ({"measure": "nDGC@10"}, UnknownMeasureError),
        ({"value": float("nan")}, ReportedValueError),
        ({"value": float("inf")}, ReportedValueError),
    ],
)
def test_a_value_by_hand_that_is_none_is_refused(benchmark, sam, more, error):
    with pytest.raises(error):
        enter(benchmark, sam, **more)
    assert not ReportedScore.objects.exists()


def test_removed_values_are_written_down(benchmark, sam):
    enter(benchmark, sam, source="Table 2")
    enter(benchmark, sam, source="Table 3", split="dev", value=0.4)

    assert remove_reported(scores=ReportedScore.objects.all(), actor=sam) == 2
    event = AuditEvent.objects.get(action="remove-reported")
    assert event.detail["values"] == {
        "bm25 nDCG@10 (Table 2)": 0.5,
        "bm25 nDCG@10 on dev (Table 3)": 0.4,
    }


# --- never ranked --------------------------------------------------------------------------


def test_reported_values_are_on_no_board(benchmark, sam, vi, scored, release, signed_in):
    scored("q1 Q0 d1 1 3 s", "ours")
    take_over(benchmark, sam, release=release)

    rows = leaderboard(release=release, user=vi)
    assert [row.run.name for row in rows] == ["ours"]
    for name in ("leaderboard-release", "leaderboard-csv", "leaderboard-json"):
        page = signed_in(vi).get(reverse(f"scoring:{name}", args=["stdlib", "1.0.0"]))
        assert b"model v1" not in page.content


def test_a_board_asks_for_what_may_be_of_its_release(
    benchmark, sam, vi, scored, release, signed_in
):
    scored("q1 Q0 d1 1 3 s", "ours")
    take_over(benchmark, sam, release=release)
    client, url = signed_in(vi), f"{LIST}?release=1.0.0"

    board = client.get(reverse("scoring:leaderboard-release", args=["stdlib", "1.0.0"]))
    part = client.get(url, headers={"HX-Request": "true"}).content.decode()

    assert f'hx-get="{url}"' in board.content.decode()
    assert "Reported, not verified" in part
    assert "model v1" in part
    assert "<html" not in part


# --- pages ---------------------------------------------------------------------------------


def test_the_page_says_that_nobody_verified_them(benchmark, sam, vi, signed_in):
    take_over(benchmark, sam, source="https://example.org/results")

    page = signed_in(vi).get(LIST).content.decode()

    assert "Reported, not verified" in page
    assert '<a href="https://example.org/results" rel="nofollow noopener">' in page
    assert "0.7000" in page
    assert "main score" in page
    assert "Remove" not in page


def test_a_source_that_is_a_script_is_no_link(benchmark, sam, vi, signed_in):
    enter(benchmark, sam, source="javascript:alert(1)")

    assert 'href="javascript' not in signed_in(vi).get(LIST).content.decode()


def test_a_file_is_taken_over_by_the_page(benchmark, sam, release, signed_in):
    file = SimpleUploadedFile("SciFact.json", content())
    sent = {"what": "file", "file-file": file, "file-system": "m", "file-release": "1.0.0"}

    answer = signed_in(sam).post(NEW, sent, follow=True)

    assert "2 values of m were entered." in answer.content.decode()
    assert ReportedScore.objects.filter(release=release).count() == 2


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({"what": "file", "file-system": "m"}, "This field is required"),
        ({"what": "value", "value-system": "m"}, "This field is required"),
        (
            {
                "what": "value",
                "value-system": "m",
                "value-measure": "nDGC",
                "value-value": "0.5",
                "value-source": "s",
            },
            "is no measure we know",
        ),
        (
            {
                "what": "value",
                "value-system": "m",
                "value-measure": "AP",
                "value-value": "nan",
                "value-source": "s",
            },
            "Enter a number",
        ),
        ({}, "Report values"),
    ],
)
def test_a_wrong_form_is_shown_again_with_the_reason(benchmark, sam, signed_in, sent, words):
    answer = signed_in(sam).post(NEW, sent)

    assert answer.status_code == 422
    assert words in answer.content.decode()


def test_a_malformed_file_is_told_at_the_file(benchmark, sam, signed_in):
    file = SimpleUploadedFile("x.json", b'{"task_name": "T", "scores": {"test": [{}]}}')

    answer = signed_in(sam).post(NEW, {"what": "file", "file-file": file, "file-system": "m"})

    assert answer.status_code == 422
    assert "neither 'main_score' nor a measure" in str(
        answer.context["file_form"].errors["file"][0]
    )


def test_values_go_by_who_reported_them_or_keeps_the_benchmark(
    benchmark, sam, maintainer, signed_in, owner
):
    enter(benchmark, owner)
    pk = ReportedScore.objects.get().pk
    url = reverse("scoring:reported-delete", args=["stdlib", pk])

    assert signed_in(sam).post(url).status_code == 403
    assert signed_in(maintainer).post(url).status_code == 302
    assert not ReportedScore.objects.exists()
    assert signed_in(maintainer).post(url).status_code == 404


def test_of_one_source_everybody_takes_away_what_they_have_entered(
    benchmark, sam, signed_in, owner
):
    enter(benchmark, sam, measure="AP")
    enter(benchmark, owner, measure="ndcg@10")
    enter(benchmark, owner, measure="R@100")
    first, of_owner, _ = ReportedScore.objects.order_by("pk")

    page = signed_in(sam).get(LIST).content.decode()
    signed_in(sam).post(reverse("scoring:reported-delete", args=["stdlib", first.pk]))

    left = ReportedScore.objects.order_by("pk").values_list("measure", flat=True)
    assert list(left) == ["nDCG@10", "R@100"]
    edit = reverse("scoring:reported-edit", args=["stdlib", 0])
    assert f'"{edit.replace("/0/", f"/{first.pk}/")}"' in page
    assert f'"{edit.replace("/0/", f"/{of_owner.pk}/")}"' not in page


def test_a_value_is_corrected_by_who_entered_it_or_keeps_the_benchmark(
    benchmark, sam, vi, maintainer, signed_in, scored
):
    run = scored("q1 Q0 d1 1 3 s", "ours").run
    enter(benchmark, sam)
    score = ReportedScore.objects.get()
    url = reverse("scoring:reported-edit", args=["stdlib", score.pk])
    fields = {"system": "bm25", "measure": "AP", "value": "0.25", "source": "10.1000/x"}

    assert signed_in(sam).get(url).context["form"]["value"].value() == 0.5
    sent = signed_in(maintainer).post(url, {**fields, "note": "cut at 100", "run": run.pk})

    score.refresh_from_db()
    assert sent.url == LIST
    assert (score.measure, score.value, score.note, score.run) == ("AP", 0.25, "cut at 100", run)
    event = AuditEvent.objects.get(action="change-reported")
    assert (event.actor, event.detail) == (maintainer, {"before": 0.5, "after": 0.25})
    other = factories.member(benchmark, "sue", "submitter")
    assert signed_in(other).post(url, fields).status_code == 403
    assert signed_in(vi).get(url).status_code == 403


def test_a_page_open_for_a_while_does_not_put_back_what_another_has_changed(
    benchmark, sam, maintainer, signed_in, scored, release
):
    run = scored("q1 Q0 d1 1 3 s", "ours").run
    enter(benchmark, sam)
    score = ReportedScore.objects.get()
    url = reverse("scoring:reported-edit", args=["stdlib", score.pk])
    initials = opened(signed_in(sam).get(url).content.decode())
    fields = {name.removeprefix("initial-"): value for name, value in initials.items()}
    others = {"value": "0.25", "release": release.version, "run": run.pk}
    signed_in(maintainer).post(url, {**fields, **others})

    signed_in(sam).post(url, {**initials, **fields, "note": "cut at 100"})

    score.refresh_from_db()
    assert (score.value, score.release, score.run) == (0.25, release, run)
    assert score.note == "cut at 100"


def test_whoever_may_not_see_the_run_of_a_value_leaves_it(benchmark, sam, signed_in, owner, scored):
    run = scored("q1 Q0 d1 1 3 s", "secret", owner=owner, visibility="owner").run
    enter(benchmark, sam, run=run)
    score = ReportedScore.objects.get()
    url = reverse("scoring:reported-edit", args=["stdlib", score.pk])
    page = signed_in(sam).get(url).content.decode()
    fields = {"system": "bm25", "measure": "AP", "value": "0.3", "source": "s"}

    signed_in(sam).post(url, {**opened(page), **fields})

    score.refresh_from_db()
    assert (score.value, score.run) == (0.3, run)
    assert "initial-run" not in page


def test_a_value_cannot_be_changed_into_another_that_is_there(benchmark, sam, signed_in):
    enter(benchmark, sam)
    enter(benchmark, sam, measure="AP", value=0.3)
    score = ReportedScore.objects.get(measure="AP")
    fields = {"system": "bm25", "measure": "ndcg@10", "value": "0.3", "source": "A paper, table 2"}

    answer = signed_in(sam).post(
        reverse("scoring:reported-edit", args=["stdlib", score.pk]), fields
    )

    assert answer.status_code == 422
    assert "already. Change or remove that one." in answer.content.decode()


def test_a_run_of_another_or_hidden_one_cannot_be_named(benchmark, sam, signed_in, owner, scored):
    run = scored("q1 Q0 d1 1 3 s", "secret", owner=owner, visibility="owner").run
    enter(benchmark, sam)
    score = ReportedScore.objects.get()
    fields = {"system": "bm25", "measure": "AP", "value": "0.3", "source": "s", "run": run.pk}

    answer = signed_in(sam).post(
        reverse("scoring:reported-edit", args=["stdlib", score.pk]), fields
    )

    assert answer.status_code == 422
    assert b"secret" not in answer.content


def test_a_value_without_a_source_is_refused(benchmark, sam):
    with pytest.raises(SourceNeededError, match="has no source; expected an address, a DOI"):
        enter(benchmark, sam, source="  ")
    factories.reported(benchmark, sam)
    with pytest.raises(IntegrityError, match="reported_score_has_source"), transaction.atomic():
        ReportedScore.objects.update(source="")


def test_an_empty_page_says_what_can_be_reported(benchmark, sam, vi, signed_in):
    assert "Report values" in signed_in(sam).get(LIST).content.decode()
    page = signed_in(vi).get(LIST).content.decode()
    assert "Nobody has reported a value" in page
    assert "Report values" not in page


# --- API and command -----------------------------------------------------------------------

API = "/api/v1/benchmarks/stdlib/reported/"


def test_the_api_takes_values_and_files_and_lists_them(benchmark, sam, signed_in, release):
    client = signed_in(sam)
    value = {
        "system": "bm25",
        "measure": "nDCG@10",
        "value": 0.5,
        "source": "paper",
        "release": "1.0.0",
    }

    sent = client.post(API, value, content_type="application/json")
    file = SimpleUploadedFile("SciFact.json", content())
    taken = client.post(API, {"file": file, "system": "m"})

    assert (sent.status_code, sent.json()["n_new"]) == (201, 1)
    assert (taken.status_code, taken.json()["n_new"]) == (201, 2)
    listed = client.get(API).json()["results"]
    assert [(row["system"], row["measure"], row["release"]) for row in listed] == [
        ("bm25", "nDCG@10", "1.0.0"),
        ("m", "main_score", None),
        ("m", "nDCG@10", None),
    ]
    gone = client.delete(f"{API}{listed[0]['id']}/")
    assert (gone.status_code, client.get(API).json()["count"]) == (204, 2)


def test_the_api_corrects_a_value_and_tells_no_run_that_is_hidden(
    benchmark, sam, vi, signed_in, scored, owner
):
    run = scored("q1 Q0 d1 1 3 s", "secret", owner=owner, visibility="owner").run
    enter(benchmark, owner, run=run)
    url = f"{API}{ReportedScore.objects.get().pk}/"

    changed = signed_in(owner).patch(
        url, {"value": 0.4, "note": "n"}, content_type="application/json"
    )

    assert (changed.status_code, changed.json()["value"]) == (200, 0.4)
    assert (changed.json()["note"], changed.json()["run"]) == ("n", run.pk)
    assert signed_in(vi).get(url).json()["run"] is None
    refused = signed_in(sam).patch(url, {"value": 0}, content_type="application/json")
    assert refused.status_code == 403


def test_a_value_can_be_said_to_be_of_no_release_that_is_known(benchmark, sam, signed_in, release):
    enter(benchmark, sam, release=release)
    url = f"{API}{ReportedScore.objects.get().pk}/"
    client = signed_in(sam)
    row = client.get(url).json()

    same = client.patch(url, {**row, "note": "n"}, content_type="application/json")
    unknown = client.patch(url, {"release": None}, content_type="application/json")

    assert (same.status_code, same.json()["release"]) == (200, "1.0.0")
    assert (unknown.status_code, unknown.json()["release"]) == (200, None)
    back = client.patch(url, unknown.json(), content_type="application/json")
    assert (back.status_code, back.json()["note"]) == (200, "n")


@pytest.mark.parametrize(
    ("value", "status", "code"),
    [
        ({"system": "m"}, 400, None),
        (
            {"system": "m", "measure": "nDGC@10", "value": 1, "source": "s"},
            422,
            "unknown-measure",
        ),
        (
            {"system": "m", "measure": "AP", "value": 1, "source": "s", "release": "9.9.9"},
            400,
            None,
        ),
    ],
)
def test_the_api_refuses_with_a_code(benchmark, sam, signed_in, value, status, code):
    answer = signed_in(sam).post(API, value, content_type="application/json")

    assert answer.status_code == status
    assert code is None or answer.json()["code"] == code


def test_the_command_takes_over_files(benchmark, owner, tmp_path, capsys):
    path = tmp_path / "SciFact.json"
    path.write_bytes(content())
    (tmp_path / "model_meta.json").write_text("{}")

    files = [str(path), str(tmp_path / "model_meta.json")]
    call_command("import_reported", "stdlib", *files, "--system", "m", "--user", owner.username)

    text = "SciFact.json: 2 values of m on SciFact, 0 were there already"
    assert text in capsys.readouterr().out


def test_the_command_takes_the_task_out_of_a_folder(benchmark, owner, tmp_path, capsys):
    folder = tmp_path / "results" / "m" / "1"
    folder.mkdir(parents=True)
    (folder / "SciFact.json").write_bytes(content())
    (folder / "Other.json").write_bytes(content().replace(b"SciFact", b"Other"))
    (folder / "model_meta.json").write_text("{}")
    (folder / "notes.json").write_text("[]")
    call = ("import_reported", "stdlib", str(tmp_path), "--system", "m", "--user", owner.username)

    with pytest.raises(CommandError, match="holds 3 result files"):
        call_command(*call)
    with pytest.raises(CommandError, match="no result file of the task"):
        call_command(*call, "--task", "none")
    call_command(*call, "--task", "SciFact")

    output = capsys.readouterr()
    assert "SciFact.json: 2 values of m on SciFact, 0 were there already" in output.out
    assert "left out, of other tasks: 1 file" in output.out
    assert "left out: notes.json: a JSON list" in output.err


def test_the_folder_that_mteb_writes_is_taken_over_whole(benchmark, owner, capsys):
    folder = Path(__file__).parents[2] / "benchwright" / "uploads" / "made" / "mteb"
    call = ("import_reported", "stdlib", str(folder), "--system", "random")

    call_command(*call, "--task", "TeaRetrieval", "--user", owner.username)

    [of_split] = json.loads((folder / "TeaRetrieval.json").read_text())["scores"]["test"]
    reported = dict(ReportedScore.objects.values_list("measure", "value"))
    assert reported["nDCG@10"] == of_split["ndcg_at_10"]
    assert reported["P@5"] == of_split["precision_at_5"]
    assert "0 were there already" in capsys.readouterr().out


def test_the_command_says_what_is_wrong(benchmark, owner, tmp_path):
    path = tmp_path / "x.json"
    with pytest.raises(CommandError, match="No such file"):
        call_command("import_reported", "stdlib", str(path), "--user", owner.username)
    path.write_text("[]")
    with pytest.raises(CommandError, match=r"x\.json: a JSON list; expected an object"):
        call_command("import_reported", "stdlib", str(path), "--user", owner.username)
