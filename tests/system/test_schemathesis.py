"""Requests made up from the API's own description: no answer is a fault, none is undescribed.

On a furnished site, as each of several people; what a request changes is taken back. The site is in
this process, or with FUZZ_LIVE=1 one of processes. `make fuzz-api` tries many more.
"""

import json
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest
import schemathesis
from django.urls import resolve, reverse
from hypothesis import HealthCheck, Phase, Verbosity, given
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode, checks
from schemathesis.specs.openapi import checks as of_openapi

from tests.own_connection import own_connection
from tests.system.api_targets import (
    MEMBERS,
    UNLIMITED,
    Target,
    ThisProcess,
    live_site,
    this_process,
)
from tests.system.conftest import REDIS
from tests.system.site import ROOT
from tests.world import Address, addresses

pytestmark = pytest.mark.xdist_group("schema")  # one furnished site for all

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "6"))
# Nobody, who may look, who may send, who may do everything, who looks after the site, and a
# stranger, to whom nothing is there: neither first nor last, which hypothesis draws more often.
PEOPLE = ("nobody", *MEMBERS)
DRAWN = ("olga",) * 20 + ("sam",) * 7 + ("cy",) + ("vi",) * 7 + ("nobody",) * 5 + ("olga",) * 20
# Of some paths, whom there is nothing for but for one person: to others it is not there.
ALONE = {
    "/api/v1/accounts/": "gil",
    "/api/v1/audit/": "gil",
    "/api/v1/jobs/": "olga",
}
# One of so many requests names objects by chance, and finds none.
NOWHERE = 60
CHECKS = [
    checks.not_a_server_error,
    of_openapi.status_code_conformance,
    of_openapi.content_type_conformance,
    of_openapi.response_headers_conformance,
    of_openapi.response_schema_conformance,
]
SETTINGS = hypothesis.settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    derandomize=EXAMPLES < 50,  # the same each time, unless one is looking for something
    phases=[Phase.generate] if EXAMPLES < 50 else [Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
    verbosity=Verbosity.quiet,
)
# That it is the API's, `tests/test_openapi.py` holds; to describe it takes longer than to read it.
SCHEMA = json.loads((ROOT / "docs" / "openapi.json").read_text("utf-8"))
API = schemathesis.openapi.from_dict(SCHEMA)
OPERATIONS = {operation.ok().label: operation.ok() for operation in API.get_all_operations()}
# What was answered below each path, and by each operation, in the tests of this process.
SEEN: dict[str, set[int]] = defaultdict(set)
ANSWERS: dict[str, Counter[int]] = defaultdict(Counter)
PATHS = {operation.path for operation in OPERATIONS.values()}


@pytest.fixture(scope="module")
def target(django_db_setup, django_db_blocker, tmp_path_factory) -> Iterator[Target]:
    folder = tmp_path_factory.mktemp("world")
    if os.environ.get("FUZZ_LIVE"):
        opened = live_site(folder, os.environ.get("DATABASE_URL", ""), REDIS)
    else:
        opened = this_process(folder, django_db_blocker)
    with opened as operation:
        assert set(operation.tokens) == set(PEOPLE) - {"nobody"}
        yield operation


@pytest.fixture(scope="module")
def headers(target) -> dict[str, dict[str, str]]:
    """What each person sends to be known."""
    known = {name: {"Authorization": f"Bearer {it}"} for name, it in target.tokens.items()}
    return {"nobody": {}} | known


@pytest.fixture(scope="module")
def known(target) -> dict[str, dict[str, Any]]:
    """For each path of the description, values by which something is there."""
    results: dict[str, dict[str, Any]] = {}
    named = {resolve(_filled(path, "1")).view_name: path for path in PATHS}
    for address in addresses():
        if address.name in named and _is_there(address, target.arguments):
            url = reverse(address.name, kwargs=address.arguments(target.arguments))
            results[named[address.name]] = _values(named[address.name], url)
    return results


@pytest.fixture(scope="module")
def named(target) -> dict[str, Any]:
    """What is there, by the names that queries and bodies call it: of whole paths, then of all."""
    of = target.arguments
    runs = [str(of["run"]), str(of["reference"])]
    return {
        "page": 1,
        "release": of["version"],
        "successor": of["version"],
        "from": of["version"],
        "runs": runs,
        "run": runs[0],
        "baseline": runs[1],
        "against": runs[1],
        "exact": runs[0],
        "approximate": runs[1],
        "query": of["qid"],
        "document": of["docid"],
        "queries": [of["qid"]],
        "hidden": ["test"],
        "slice": of["slice_name"],
        "measure": of["measure"],
        "phase": of["api:phase-detail"],
        "pool": of["api:pool-detail"],
        "case_set": of["api:contextual-set-detail"],
        "judge": of["judge_name"],
        "before": of["api:contextual-evaluation-detail"],
        "after": of["api:contextual-evaluation-detail"],
        "other": of["family-detail"],
        "families": [of["family-detail"]],
        "qrels": of["qrels_name"],
        "/qrels/by-document/ qrels": of["api:qrels-detail"],
        "/estimate/ judge": of["api:judge-detail"],
        "/leaderboard/slices/ baseline": of["run"],
    }


def _drawn_for(path: str) -> tuple[str, ...]:
    alone = next((name for start, name in ALONE.items() if path.startswith(start)), "")
    return tuple(alone if alone and name != "cy" else name for name in DRAWN) + ("nobody",) * 3


def _without_cursor(case: Case) -> Case:
    """The case from the beginning of a list: no cursor is guessed, and any other is 404."""
    if case.query:
        case.query.pop("cursor", None)
    return case


def _with_what_is_there(case: Case, named: dict[str, Any]) -> Case:
    """The case, where it names objects, with names of some that are there."""
    sent = [case.query, case.body if isinstance(case.body, dict) else {}]
    for values in sent:
        for name in set(values or ()) & {key.rpartition(" ")[2] for key in named}:
            own = (
                named[key]
                for key in named
                if key.endswith(f"/ {name}") and key.split()[0] in case.path
            )
            values[name] = _fitted(next(own, named.get(name)), values[name])
    return case


def _fitted(value: Any, drawn: Any) -> Any:
    """The value in the form of what was drawn: several, one, or several in one text."""
    several = value if isinstance(value, list) else [value]
    if isinstance(drawn, list):
        return several
    return ",".join(map(str, several)) if isinstance(drawn, str) else value


def _is_there(address: Address, arguments: dict[str, Any]) -> bool:
    wanted = {address.name if name == "pk" else name for name in address.parameters}
    return wanted <= set(arguments)


def _filled(path: str, value: str) -> str:
    return re.sub(r"\{\w+\}", value, path)


def _values(path: str, url: str) -> dict[str, Any]:
    pattern = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.+?)", re.escape(path))
    match = re.fullmatch(pattern, url)
    assert match, (path, url)
    return match.groupdict()


@pytest.fixture(autouse=True)
def in_the_world(target, folders, settings, db) -> Iterator[None]:
    """Where the world's files are; no limit of requests; one connection for all of them."""
    if isinstance(target, ThisProcess):
        settings.MEDIA_ROOT = target.files
    for name in UNLIMITED:
        setattr(settings, name, 10**9)
    with own_connection():
        yield


def test_description_names_every_endpoint_of_the_world(known):
    assert len(OPERATIONS) > 80
    assert set(known) == PATHS, "tests/world.py has nothing for these addresses"


@pytest.mark.parametrize("label", OPERATIONS)
def test_no_made_up_request_gets_an_undescribed_answer(label, target, known, named, headers):
    operation = OPERATIONS[label]
    here = known.get(operation.path, {})

    def cases(mode: GenerationMode, **fixed: Any) -> st.SearchStrategy[Case]:
        return operation.as_strategy(generation_mode=mode, **fixed)

    right = cases(GenerationMode.POSITIVE, path_parameters=here)
    right = right.map(lambda case: _with_what_is_there(case, named))
    first_page = {"page": 1}  # no page of such a number is 404
    can_be_wrong = operation.method.upper() != "GET" or operation.query
    wrong = cases(GenerationMode.NEGATIVE, path_parameters=here) if can_be_wrong else right
    wrong = wrong.map(lambda case: _with_what_is_there(case, first_page))
    right, wrong = (way.map(_without_cursor) for way in (right, wrong))
    nowhere = cases(GenerationMode.POSITIVE)

    def drawn(n: int) -> st.SearchStrategy[Case]:
        # Not at an end of the range, of which hypothesis draws the ends more often.
        return nowhere if n == NOWHERE // 2 else wrong if n % 4 == 3 else right

    anything = st.integers(0, NOWHERE - 1).flatmap(drawn)

    @SETTINGS
    @given(case=anything, who=st.sampled_from(_drawn_for(operation.path)))
    def try_one(case: Case, who: str) -> None:
        response = target.ask(case, headers[who])
        SEEN[operation.path].add(response.status_code)
        ANSWERS[label][response.status_code] += 1
        case.validate_response(response, checks=CHECKS, headers=headers[who])

    try_one()


@pytest.mark.in_thirds
@pytest.mark.parametrize("label", [label for label in OPERATIONS if label.startswith("GET ")])
def test_number_that_no_column_holds_is_no_fault(label, target, known, headers):
    operation = OPERATIONS[label]
    here = known[operation.path]
    numbers = [
        name for name in here if str(here[name]).isdigit() and name not in ("version", "docid")
    ]
    asked = [
        parameter["name"]
        for parameter in SCHEMA["paths"][operation.path]["get"].get("parameters", [])
        if parameter["in"] == "query" and parameter["schema"].get("type") == "integer"
    ]
    cases = [operation.Case(path_parameters=here | {name: 10**30}) for name in numbers]
    cases += [operation.Case(path_parameters=here, query={name: 10**30}) for name in asked]

    for case in cases:
        answer = target.ask(case, headers["olga"])
        case.validate_response(answer, checks=CHECKS, headers=headers["olga"])


def test_a_request_that_is_right_makes_something(target, known, headers):
    """Few made-up ones are right by luck."""
    path = "/api/v1/benchmarks/{slug}/phases/"
    case = OPERATIONS[f"POST {path}"].Case(
        path_parameters=known[path],
        body={"release": target.arguments["version"], "name": "made here", "split": "dev"},
        media_type="application/json",
    )

    response = target.ask(case, headers["olga"])
    SEEN[path].add(response.status_code)

    assert response.status_code == 201, response.text


def test_made_up_requests_got_through_and_were_refused():
    if len(SEEN) < len(PATHS):
        pytest.skip("not all of them were made in this process")
    statuses = set().union(*SEEN.values())

    assert {200, 201, 202, 204, 400, 401, 403, 404, 422} <= statuses
    through = [path for path, seen in SEEN.items() if min(seen) < 300]
    assert len(through) > 0.7 * len(PATHS), sorted(PATHS - set(through))


def test_share_of_answers_about_what_is_not_there_is_told():
    """The aim is 5 % of 404 (docs/testing.md says what was measured)."""
    n_cases = sum(sum(of.values()) for of in ANSWERS.values())
    if not n_cases:
        pytest.skip("none were made in this process")
    n_nowhere = sum(of[404] for of in ANSWERS.values())
    print(f"\n{n_cases:,} cases, {n_nowhere / n_cases:.1%} of them 404")  # noqa: T201

    # Somebody gets to the object of each operation that was asked for often.
    often = {label: of for label, of in ANSWERS.items() if sum(of.values()) >= 20}
    assert not [label for label, of in often.items() if set(of) == {404}]
