"""The description of the API for machines: checked in, complete, and the same for everybody."""

import json
import re
from inspect import getdoc
from pathlib import Path

import pytest
from django.core.cache import cache
from drf_spectacular.generators import SchemaGenerator
from openapi_spec_validator import validate

from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.schema import MEANINGS, WRITING

KEPT = Path(__file__).resolve().parent.parent / "docs" / "openapi.json"
ERROR = {"$ref": "#/components/schemas/ProblemDetails"}


@pytest.fixture(scope="module")
def described() -> dict:
    return json.loads(json.dumps(SchemaGenerator().get_schema(request=None, public=True)))


def operations(described: dict) -> list[tuple[str, dict]]:
    return [
        (f"{how.upper()} {path}", operation)
        for path, ways in described["paths"].items()
        for how, operation in ways.items()
    ]


def test_description_that_is_checked_in_is_that_of_the_code(described):
    kept = json.loads(KEPT.read_text("utf-8"))

    assert kept == described, "docs/openapi.json is out of date: renew it with `make openapi`"


def test_description_is_valid(described):
    validate(described)


def files_in(schema: dict, described: dict) -> dict[str, dict]:
    named = described["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return {name: one for name, one in named["properties"].items() if "format" in one}


def test_no_answer_that_tells_a_secret_once_is_kept_for_a_repeated_request(described):
    schemas = described["components"]["schemas"]
    telling = {
        name for name in schemas if {"secret", "link"} & {*schemas[name].get("properties", ())}
    }
    posts = [operation for how, operation in operations(described) if how.startswith("POST")]

    once = [
        post
        for post in posts
        if any(f'/{name}"' in json.dumps(post["responses"]) for name in telling)
    ]
    assert len(once) == 4
    assert not [post["operationId"] for post in once if "/parameters/" in json.dumps(post)]


def test_files_are_sent_as_bytes(described):
    """A field of a form is a file where its answer would be an address."""
    forms = [
        files_in(operation["requestBody"]["content"]["multipart/form-data"]["schema"], described)
        for _, operation in operations(described)
        if "multipart/form-data" in operation.get("requestBody", {}).get("content", {})
    ]

    assert len(forms) > 5
    assert not [form for form in forms if "uri" in {schema["format"] for schema in form.values()}]
    assert all("binary" in {value["format"] for value in form.values()} for form in forms)


def test_every_endpoint_has_a_summary_and_an_area(described):
    lacking = [
        name
        for name, operation in operations(described)
        if not operation.get("summary") or len(operation.get("tags", [])) != 1
    ]

    assert len(operations(described)) > 80
    assert lacking == []


def test_no_endpoint_is_described_by_what_the_code_says_of_all(described):
    of_all = {getdoc(base).partition("\n")[0] for base in Endpoint.__mro__ if getdoc(base)}

    described_so = [
        name
        for name, operation in operations(described)
        if operation.get("description", "").partition("\n")[0] in of_all
    ]
    assert described_so == []


def test_every_endpoint_has_an_id_of_its_own_that_says_where_it_is(described):
    ids = [operation["operationId"] for _, operation in operations(described)]

    assert len(set(ids)) == len(ids)
    assert [id_ for id_ in ids if re.search(r"_\d+$", id_)] == []  # counted, so by order


def test_every_endpoint_names_the_errors_it_answers_with(described):
    for name, operation in operations(described):
        errors = {int(status) for status in operation["responses"] if status >= "4"}
        assert {401, 403, 406, 429} <= errors, name
        assert errors <= set(MEANINGS), name
        assert "default" not in operation["responses"], name
        if name.split()[0] in WRITING:
            assert {400, 409, 422} <= errors, name


def test_every_error_has_the_one_shape(described):
    answers = described["components"]["responses"]

    assert set(answers) == {f"Error{status}" for status in MEANINGS} | {"Unchanged"}
    for answer in (answer for name, answer in answers.items() if name != "Unchanged"):
        assert answer["content"] == {"application/problem+json": {"schema": ERROR}}
    assert "Retry-After" in answers["Error429"]["headers"]
    assert "WWW-Authenticate" in answers["Error401"]["headers"]


def test_every_meaning_of_an_error_is_documented():
    page = (KEPT.parent / "api.md").read_text("utf-8").partition("## Errors")[2]
    results = {int(status) for status in re.findall(r"\b[45]\d\d\b", page.partition("\n## ")[0])}

    assert set(MEANINGS) - results == set()


@pytest.mark.django_db
def test_site_gives_the_same_description_and_makes_it_once(client, described, monkeypatch):
    cache.clear()

    answer = client.get("/api/v1/schema/?format=json")
    monkeypatch.delattr("benchmarks_app.api.docs.SchemaGenerator")
    again = client.get("/api/v1/schema/", headers={"Accept": "application/json"})

    assert answer.json() == described
    assert answer["Content-Type"] == "application/vnd.oai.openapi+json"
    assert answer["Content-Disposition"] == 'inline; filename="Benchwright.json"'
    assert (again.content, again["Content-Type"]) == (answer.content, "application/json")


def test_every_number_that_is_sent_has_bounds(described):
    """A whole number that no column of a database takes is the sender's mistake."""
    parts = described["components"]["schemas"]
    lacking, walked = [], set()

    def walk(schema: dict, where: str) -> None:
        if name := schema.get("$ref", "").rpartition("/")[2]:
            if name not in walked:
                walked.add(name)
                walk(parts[name], name)
            return
        is_bounded = "maximum" in schema or "enum" in schema or schema.get("readOnly")
        if schema.get("type") == "integer" and not is_bounded:
            lacking.append(where)
        for key, value in schema.get("properties", {}).items():
            walk(value, f"{where}.{key}")
        inner = [schema[key] for key in ("items", "additionalProperties") if schema.get(key)]
        for part in (*inner, *schema.get("allOf", ()), *schema.get("oneOf", ())):
            if isinstance(part, dict):
                walk(part, where)

    for name, operation in operations(described):
        for content in operation.get("requestBody", {}).get("content", {}).values():
            walk(content["schema"], name)

    assert not lacking
