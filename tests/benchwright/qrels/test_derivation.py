import pytest

from benchwright.qrels.derivation import explained
from benchwright.qrels.events import Event
from benchwright.qrels.rules import RULES, Derivation, Settings, rule_named


def said(id_: int, grade: int | None, actor: int = 1, kind: str = "grade", **values) -> Event:
    return Event(id_, "q", "d", kind, grade, actor, **values)


def why(events, rule="adjudicated-first", published=None, **settings):
    return explained(
        "q", "d", events, rule=rule_named(rule), settings=Settings(**settings), published=published
    )


def titles(found) -> list[tuple[str, str, tuple[int, ...]]]:
    return [
        (step.title, step.text, step.events) for step in found.steps if "rule" not in step.title
    ]


def test_one_label_counts_as_it_is():
    reasons = why([said(1, 2)])

    assert reasons.grade == 2
    assert titles(reasons) == [
        ("Labels that count", "Grade 2.", (1,)),
        ("Outcome", "One label counts as it is.", ()),
    ]


def test_each_reason_to_leave_an_event_out_names_its_events():
    events = [
        said(1, 0),
        said(2, None, kind="retract", supersedes=1),
        said(3, 3, purpose="repeat"),
        said(4, None, actor=2, kind="cant_judge"),
        said(5, 1, actor=3),
        said(6, 2, actor=3),
    ]

    assert titles(why(events))[:-1] == [
        ("Left out", "Undone or replaced.", (1,)),
        ("Left out", "Practice, repeats and hidden checks.", (3,)),
        ("Left out", "Said that it cannot be judged.", (4,)),
        ("Left out", "A later label of the same person counts.", (5,)),
        ("Left out", "Took an earlier label back.", (2,)),
        ("Labels that count", "Grade 2.", (6,)),
    ]


@pytest.mark.parametrize(
    ("unresolved", "grade"), [("lower-median", 0), ("leave-out", None), ("refuse", None)]
)
def test_open_pair_says_what_stands_in(unresolved, grade):
    reasons = why([said(1, 0), said(2, 3, actor=2)], unresolved=unresolved)

    assert reasons.grade == grade
    assert reasons.steps[-1].text.startswith("It is open: ")


def test_adjudicator_has_the_last_word():
    events = [
        said(1, 0),
        said(2, 3, actor=2),
        said(3, 2, actor=9, kind="adjudicate", outcome="override"),
    ]

    reasons = why(events)

    assert reasons.grade == 2
    assert ("Adjudicated", "Grade 2.", (3,)) in titles(reasons)
    assert reasons.steps[-1].text == "An adjudicator settled it."


def test_a_rule_that_weighs_all_documents_says_so_and_keeps_what_was_published():
    reasons = why([said(1, 0), said(2, 3, actor=2)], rule="dawid-skene", published=3)

    assert reasons.grade == 3
    assert "all documents together" in reasons.steps[-1].text


@pytest.mark.parametrize("rule", [rule.name for rule in RULES if rule.decide])
@pytest.mark.parametrize("grades", [[2], [0, 3], [1, 1, 3], [3, 2], [0, 1, 2, 3]])
def test_what_is_explained_is_what_is_published(rule, grades):
    """The steps end where the derivation of a whole set ends."""
    events = [said(n, grade, actor=n) for n, grade in enumerate(grades, start=1)]

    published = [row.grade for row in Derivation(rule_named(rule)).of(events)]

    assert [why(events, rule=rule).grade] == published
