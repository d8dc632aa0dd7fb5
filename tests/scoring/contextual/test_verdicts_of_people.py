"""People's verdicts on the nodes of cases: asked blind, and held beside a judge's."""

import json
import re

import pytest
from django.urls import reverse
from scipy import stats

from scoring.contextual.selectors import next_case, nodes_asked
from scoring.contextual.services.errors import VerdictsError
from scoring.contextual.services.people import (
    Said,
    agreement_with_people,
    ask_people,
    record_verdicts,
)
from scoring.models import CaseOutcome, PersonVerdict
from tests import factories
from tests.scoring.making_contextual import case, case_set, judge, judged, png

pytestmark = pytest.mark.django_db
ADDRESS = "https://judge.example.org/v1"


@pytest.fixture
def three(benchmark, owner):
    """Three cases that people are asked about, of three, two and two nodes."""
    cases = [case(1, "a", "b", "c"), case(2, "d", {"image": "a.png"}), case(3, "f", "g")]
    made = case_set(benchmark, owner, cases, {"a.png": png()})
    ask_people(case_set=made, user=owner, is_asked=True)
    made.refresh_from_db()
    return made


@pytest.fixture
def by_judge(three, benchmark, owner):
    """An evaluation: yes no yes; no yes; no no."""
    evaluation = judged(three, judge(benchmark, owner, ADDRESS), owner)
    for number, (words, score) in enumerate((("yny", 5 / 6), ("ny", 1 / 2), ("nn", 0)), start=1):
        verdicts = [
            {"node": n, "is_relevant": word == "y", "reason": "SECRET"}
            for n, word in enumerate(words, start=1)
        ]
        CaseOutcome.objects.filter(evaluation=evaluation, case__number=number).update(
            verdicts=verdicts, score=score
        )
    return evaluation


def says(person, of, words: dict[int, str]) -> None:
    """A person judges cases in the order in which they are asked, by the words of each."""
    while asked := next_case(of, person):
        if asked.number not in words:
            return
        results = {n: Said(word == "y", "so") for n, word in enumerate(words[asked.number], 1)}
        record_verdicts(case=asked, person=person, verdicts=results)


def url(name: str, *args: object) -> str:
    return reverse(f"scoring:contextual-{name}", args=["stdlib", *args])


def test_agreement_is_what_a_person_works_out(three, by_judge, ada, bo):
    says(ada, three, {1: "yyn", 2: "ny", 3: "nn"})
    says(bo, three, {1: "nnn", 2: "nn", 3: "yy"})  # the second to judge: does not count

    result = agreement_with_people(by_judge)

    # Judge yny ny nn, Ada yyn ny nn: of seven nodes five are the same.
    counts = (result.n_both, result.n_neither, result.n_only_people, result.n_only_judge)
    assert counts == (2, 3, 1, 1)
    assert result.share == 5 / 7
    chance = (3 * 3 + 4 * 4) / 49
    assert result.kappa.value == pytest.approx((5 / 7 - chance) / (1 - chance))
    assert result.kappa.low <= result.kappa.value <= result.kappa.high
    # Ada: 1; 1/2; 0. The judge: 5/6; 1/2; 0. Student's t over three cases.
    for row, values in ((result.people, (1, 1 / 2, 0)), (result.judge, (5 / 6, 1 / 2, 0))):
        mean = sum(values) / 3
        half = stats.t.ppf(0.975, 2) * (sum((v - mean) ** 2 for v in values) / 2 / 3) ** 0.5
        wanted = (mean, max(0, mean - half), min(1, mean + half))
        assert (row.mean, row.low, row.high) == pytest.approx(wanted)
    assert [(group.number, group.n_apart) for group in result.apart] == [(1, 2)]
    assert (result.n_people, len(result.cases)) == (1, 3)


def test_evaluation_shows_people_beside_the_judge(three, by_judge, ada, owner, signed_in):
    client = signed_in(owner)
    assert "Beside people" not in client.get(by_judge.get_absolute_url()).content.decode()
    detail = reverse("api:contextual-evaluation-detail", args=["stdlib", by_judge.pk])
    assert client.get(detail).json()["people"] is None

    says(ada, three, {1: "yyn", 2: "ny", 3: "nn"})

    page = client.get(by_judge.get_absolute_url()).content.decode()
    for words in ("Beside people", "71 %", "of 7 nodes", "2 of 3 nodes; people 1.000, judge 0.833"):
        assert words in page
    people = client.get(detail).json()["people"]
    assert (people["n_cases"], people["n_only_judge"], people["share"]) == (3, 1, 5 / 7)


def test_person_judges_case_after_case_and_is_told_nothing_of_the_judge(
    three, by_judge, ada, signed_in
):
    client, address = signed_in(ada), url("verdict-case", three.pk)
    assert "0 of 3" in client.get(url("verdicts")).content.decode()

    seen = []
    for n_left in (2, 1, 0):
        page = client.get(address).content.decode()
        number = re.search(r'name="case" value="(\d+)"', page)[1]
        assert "SECRET" not in page
        assert "tiny" not in page
        ranks = re.findall(r'name="verdict-(\d+)"[^>]*value="yes"', page)
        sent = {"case": number, **{f"verdict-{rank}": "yes" for rank in ranks}}
        assert client.post(address, {"case": number}).status_code == 422
        assert client.post(address, {**sent, "reason-1": "It says so."}).status_code == 302
        assert client.post(address, sent).status_code == (409 if n_left else 200)
        seen.append(int(number))

    assert sorted(seen) == [1, 2, 3]
    assert "You have judged every case" in client.get(address).content.decode()
    assert PersonVerdict.objects.filter(person=ada, is_blind=True).count() == 7
    assert PersonVerdict.objects.filter(reason="It says so.").count() == 3
    assert "3 of 3" in client.get(url("verdicts")).content.decode()


def test_cases_come_in_one_order_for_all_and_nodes_do_not_tell_their_ranks(
    three, benchmark, owner, ada, bo
):
    long = case_set(benchmark, owner, [case(1, *"abcdefghijkl")], name="long").cases.get()

    assert next_case(three, ada) == next_case(three, bo)
    ranks = list(range(1, 13))
    for person in (ada, bo):
        assert sorted(nodes_asked(long, person)) == ranks
        assert nodes_asked(long, person) != ranks
    assert nodes_asked(long, ada) != nodes_asked(long, bo)


def test_who_may_not_ask_people_is_told_so_whatever_they_sent(three, signed_in):
    address = reverse("api:contextual-set-detail", args=["stdlib", three.pk])
    stranger = signed_in(factories.user("stranger"))

    answer = stranger.patch(address, {}, content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (404, "not-found")


def test_annotators_see_no_results_while_people_are_asked(three, by_judge, ada, owner, signed_in):
    client = signed_in(ada)
    assert client.get(by_judge.get_absolute_url()).status_code == 403
    image = three.images.get()
    assert client.get(image.get_absolute_url()).status_code == 403
    assert client.get(url("verdict-image", three.pk, image.pk)).content == png()

    asking = signed_in(owner)
    assert asking.post(url("set-people", three.pk), {"ask": "no"}).status_code == 302

    assert client.get(by_judge.get_absolute_url()).status_code == 200
    assert client.get(url("verdict-case", three.pk)).status_code == 404
    assert client.get(url("verdict-image", three.pk, image.pk)).status_code == 404
    assert "Nothing is asked" in client.get(url("verdicts")).content.decode()
    assert three.benchmark.audit_events.filter(action="close-cases").exists()


def test_who_sees_results_of_a_case_is_not_blind_to_them(three, by_judge, owner):
    says(owner, three, {1: "yyy", 2: "yy", 3: "yy"})

    assert agreement_with_people(by_judge).n_blind == 0


def test_verdicts_that_do_not_fit_are_refused(three, ada, owner):
    asked = next_case(three, ada)
    other = three.cases.exclude(pk=asked.pk).first()
    whole = {n: Said(True) for n in range(1, asked.n_nodes + 1)}

    with pytest.raises(VerdictsError, match="Expected a verdict on each"):
        record_verdicts(case=asked, person=ada, verdicts={1: Said(True)})
    with pytest.raises(VerdictsError, match="judged this case already"):
        record_verdicts(case=other, person=ada, verdicts=whole)
    ask_people(case_set=three, user=owner, is_asked=False)
    three.refresh_from_db()
    with pytest.raises(VerdictsError, match="no longer asked"):
        record_verdicts(case=next_case(three, ada), person=ada, verdicts=whole)
    assert not PersonVerdict.objects.exists()


def test_api_asks_and_takes_verdicts(three, by_judge, ada, signed_in):
    client = signed_in(ada)
    address = reverse("api:contextual-verdicts", args=["stdlib", three.pk])

    for n_judged in range(3):
        asked = client.get(address).json()
        assert (asked["n_judged"], "SECRET" in json.dumps(asked)) == (n_judged, False)
        nodes = [{"node": node["node"], "is_relevant": False} for node in asked["nodes"]]
        sent = {"case": asked["case"], "verdicts": nodes}
        answer = client.post(address, sent, content_type="application/json")
        assert answer.status_code == 201
        again = client.post(address, sent, content_type="application/json")
        assert (again.status_code, again.json()["code"]) == (409, "case-verdicts")

    assert answer.json() == {"n_asked": 3, "n_judged": 3, "case": None, "nodes": []}
    assert PersonVerdict.objects.filter(is_relevant=False).count() == 7
