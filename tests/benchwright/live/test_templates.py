"""Templates, paths, headers and answers, without a network."""

import json
from urllib.parse import parse_qs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.live.answers import read_answer
from benchwright.live.errors import AnswerError, HeadersError, PathError, SecretError, TemplateError
from benchwright.live.headers import Secrets, filled_headers, read_headers
from benchwright.live.paths import MissingError, read_path, read_shape
from benchwright.live.templates import digest_of, read_template

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


# --- templates -----------------------------------------------------------------------------------


@given(query=TEXTS, qid=TEXTS)
def test_every_query_arrives_as_it_is_and_changes_nothing_around_it(query, qid):
    text = '{"a": {"q": {{query}}}, "b": "x {{ query }} y {{qid}}", "n": "{{k}}", "l": [{{k}}]}'
    body = json.loads(read_template(text, method="POST").filled(query=query, k=7, qid=qid))

    assert body == {"a": {"q": query}, "b": f"x {query} y {qid}", "n": 7, "l": [7]}


@given(query=TEXTS)
def test_every_query_arrives_in_a_query_string(query):
    template = read_template("?q={{query}}&fq=a+b%26c&rows={{k}}&empty=", method="GET")
    parameters = parse_qs(template.filled(query=query, k=3).decode(), keep_blank_values=True)

    assert parameters == {"q": [query], "fq": ["a b&c"], "rows": ["3"], "empty": [""]}


def test_half_a_character_does_not_stop_the_request():
    template = read_template('{"q": {{query}}}', method="POST")

    assert template.filled(query="a\ud800b", k=1) == b'{"q": "a?b"}'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"q": 1}', "it has no {{query}}"),
        ('{"q": {{query}}, "n": {{size}}}', "{{size}} stands for nothing. There are {{query}}"),
        ('{"q": {{query}}', "line 1 is not JSON"),
        ('{\n"q": {{query}},\n}', "line 3 is not JSON"),
        ('{"{{query}}": 1}', "'{{query}}' is a name"),
        ('{"q": {{query}}, "q": 2}', "'q' stands twice in one object"),
        ('{"q": {{query}}, "n": NaN}', "NaN is not JSON"),
        ("{{query}}", "it is no JSON object"),
        pytest.param("[" * 50_000 + "{{query}}", "nested too deeply", id="deep"),
        pytest.param(
            '{"q": {{query}}, "x": "' + "x" * 70_000 + '"}', "more than 64 KiB", id="long"
        ),
    ],
)
def test_a_body_that_cannot_be_filled_is_refused(text, words):
    with pytest.raises(TemplateError) as caught:
        read_template(text, method="POST")

    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it has no {{query}}"),
        ("q", "'q' is no name=value"),
        ("={{query}}", "is no name=value"),
        ("{{query}}=1", "'{{query}}' is a name"),
    ],
)
def test_a_query_string_that_cannot_be_filled_is_refused(text, words):
    with pytest.raises(TemplateError) as caught:
        read_template(text, method="GET")

    assert words in str(caught.value)


def test_the_digest_of_a_template_is_its_sha_256():
    assert digest_of(" abc\n") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


# --- paths ---------------------------------------------------------------------------------------

ANSWER = {
    "hits": {"hits": [{"_id": "a", "n": [1, 2]}, {"_id": "b", "n": [3]}]},
    "odd.name": {"x]": 5},
    "groups": [{"docs": [1, 2]}, {"docs": []}, {"docs": [3]}],
    "list": [[["x", 0.5]]],
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("hits.hits[0]._id", "a"),
        ("$.hits.hits[-1]._id", "b"),
        ('["odd.name"]["x]"]', 5),
        ('$["hits"].hits[1].n[0]', 3),
        ("list[0][0][1]", 0.5),
        ("$", ANSWER),
        (".", ANSWER),
    ],
)
def test_a_path_leads_to_one_value(path, found):
    assert read_path(path).one(ANSWER) == found


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("hits.hits[*]._id", ["a", "b"]),
        ("hits.hits[*].n[*]", [1, 2, 3]),
        ("groups[*].docs[*]", [1, 2, 3]),
        ("groups[0].docs", [1, 2]),
        ("groups[1].docs", []),
    ],
)
def test_a_path_leads_to_many_values_in_order(path, found):
    assert read_path(path, may_be_many=True).many(ANSWER) == found


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("", "it is empty"),
        ("a..b", "'..b' is no step"),
        ("a[b]", "'[b]' is no step"),
        ("a[0]b", "a dot is missing before 'b'"),
        ("a[*].b", "it leads to many values"),
        ("a b", "' b' is no step"),
        ("a.*", "'.*' is no step"),
        ('a["x', "is no step"),
        ("x" * 201, "longer than 200"),
    ],
)
def test_what_is_no_path_is_refused(path, words):
    with pytest.raises(PathError) as caught:
        read_path(path)

    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("hits.total", "'hits' has no 'total'; it has hits"),
        ("nothing", "it has no 'nothing'; it has hits, odd.name, groups, list"),
        ("hits.hits[2]", "'hits.hits' has 2 members, and no [2]"),
        ("hits[0]", "'hits' is an object; expected a list"),
        ("hits.hits.x", "'hits.hits' is a list, and so has no 'x'"),
        ("hits.hits[0]._id.x", "'hits.hits[0]._id' is a text, and so has no 'x'"),
    ],
)
def test_a_path_that_leads_nowhere_says_where_it_stops(path, words):
    with pytest.raises(MissingError) as caught:
        read_path(path).one(ANSWER)

    assert str(caught.value) == words


# --- answers -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("paths", "answer", "results"),
    [
        (("$", "."), ["d1", "d2"], [("d1", 10.0), ("d2", 9.0)]),
        (("$", "[0]", "[1]"), [["d1", 0.5], ["d2", -2]], [("d1", 0.5), ("d2", -2.0)]),
        (("$", "id", "s"), [{"id": 12, "s": "1e-3"}], [("12", 0.001)]),
        (("ids[*]", "$"), {"ids": ["x"]}, [("x", 10.0)]),
    ],
)
def test_answers_of_many_shapes_are_read(paths, answer, results):
    results_path, id_path, *score = paths
    shape = read_shape(results=results_path, id=id_path, score="".join(score))

    assert list(read_answer(json.dumps(answer).encode(), shape, k=10).results) == results


def test_only_the_first_k_count_and_repeated_ones_take_no_place():
    shape = read_shape(results="$", id=".")
    answer = read_answer(b'["a", "a", "b", "c", "d"]', shape, k=2)

    assert (answer.results, answer.n_repeated, answer.n_beyond) == ((("a", 2.0), ("b", 1.0)), 1, 2)


@pytest.mark.parametrize(("score", "is_unordered"), [(1, False), (2, True)])
def test_equal_scores_are_in_order(score, is_unordered):
    shape = read_shape(results="$", id="[0]", score="[1]")
    answer = read_answer(json.dumps([["a", 1], ["b", score]]).encode(), shape, k=2)

    assert answer.is_unordered is is_unordered


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (b"", "its answer is empty"),
        (b"\xff\xfe\x00", "its answer is no JSON"),
        (b'{"r": null}', "it is null"),
        (b'[{"id": true, "s": 1}]', "the id of result 1 is true or false"),
        (b'[{"id": 1.5, "s": 1}]', "the id of result 1 is a number; expected a text"),
        (b'[{"id": "", "s": 1}]', "result 1: the id is empty"),
        (b'[{"id": "a", "s": 1}, {"id": "b"}]', "result 2 does not fit 's': it has no 's'"),
        (b'[{"id": "a", "s": Infinity}]', "the score of result 1 is inf"),
        (b'[{"id": "a", "s": [1]}]', "the score of result 1 is a list"),
        (b'[{"id": "a", "s": true}]', "the score of result 1 is true or false"),
        pytest.param(b'[{"id": "a", "s": 1' + b"0" * 5000 + b"}]", "no JSON", id="digits"),
    ],
)
def test_answers_that_do_not_fit_say_what_they_have_instead(answer, words):
    results = "r" if b'"r"' in answer else "$"
    with pytest.raises(AnswerError) as caught:
        read_answer(answer, read_shape(results=results, id="id", score="s"), k=10)

    assert words in str(caught.value) or (results == "r" and "null" in str(caught.value))


# --- headers -------------------------------------------------------------------------------------

HERE = "https://search.example.org/docs"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Authorization", "line 1: expected a name, a colon and a value"),
        ("X-Tenant: a\nHost: other", "line 2: 'Host' is set by the request itself"),
        ("X-Tenant: a\nx-tenant: b", "line 2: 'x-tenant' is there twice"),
        ("X-Api-Key: 0123456789", "looks like a secret"),
        ("Cookie: a=b", "looks like a secret"),
        ("X-Tenant: caf\u00e9", "printable characters of ASCII"),
        ("X Tenant: a", "expected a name"),
        ("\n".join(f"X-{n}: a" for n in range(21)), "line 21: at most 20"),
    ],
)
def test_headers_that_may_not_be_sent_are_refused(text, words):
    with pytest.raises(HeadersError) as caught:
        read_headers(text)

    assert words in str(caught.value)
    assert "0123456789" not in str(caught.value)


def test_variables_are_filled_where_they_may_go():
    headers = read_headers("Authorization: Basic ${A}\nX-Tenant: t1\nX-Key: $B-x")
    secrets = Secrets.of(
        {"A": "https://search.example.org", "B": "https://SEARCH.example.org:443/x"}
    )
    environment = {"A": " one\n", "B": "two"}
    filled = filled_headers(headers, address=HERE, secrets=secrets, environment=environment)

    assert filled == {"Authorization": "Basic one", "X-Tenant": "t1", "X-Key": "two-x"}


@pytest.mark.parametrize(
    "allowed",
    [
        {},
        {"B": "https://search.example.org"},
        {"A": "http://search.example.org"},
        {"A": "https://search.example.org:9200"},
        {"A": "https://search.example.org.evil.example"},
        {"A": "ftp://search.example.org"},
    ],
)
def test_a_variable_goes_to_no_other_address(allowed):
    with pytest.raises(SecretError, match="may not be sent to https://search"):
        filled_headers(
            read_headers("X-Key: $A"),
            address=HERE,
            secrets=Secrets.of(allowed),
            environment={"A": "x"},
        )


@pytest.mark.parametrize("value", ["", "  ", "two\nlines", "caf\u00e9"])
def test_a_value_that_no_header_can_carry_is_told_without_it(value):
    with pytest.raises(SecretError) as caught:
        filled_headers(
            read_headers("X-Key: $A"),
            address=HERE,
            secrets=Secrets.of({"A": HERE}),
            environment={"A": value},
        )

    assert "lines" not in str(caught.value) and "caf" not in str(caught.value)
