"""Which queries a rule takes, and why."""

import csv
import gzip
from collections import Counter

import pytest

from benchwright.slices.asked import AskedQuery, RelevantDocument
from benchwright.slices.errors import ExpressionError, SliceRuleError
from benchwright.slices.frequency import FrequencyError
from benchwright.slices.intents import Knowledge
from benchwright.slices.rules import INTENTS, Surroundings, checked_rule, is_suggesting, taken_by
from benchwright.slices.words import weights_of, words_of

NOWHERE = Surroundings()


def asked(text: str, **more) -> AskedQuery:
    return AskedQuery("q1", text, **more)


def reason(kind: str, query: AskedQuery, **known) -> str:
    """The code of the reason, or empty."""
    intent = INTENTS[kind](query, Knowledge(**known))
    return intent.code if intent else ""


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("https://docs.python.org/3/", "url"),
        ("www.ub.uio.no opening hours", "url"),
        ("python.org download", "url"),
        ("facebook", "site-word"),
        ("library home page", "site-word"),
        ("oria sign in", "site-word"),
        ("os.path join", ""),
        ("read a file", ""),
    ],
)
def test_navigational_by_words(text, code):
    assert reason("navigational", asked(text)) == code


def test_navigational_by_a_brand_of_the_benchmark():
    brands = frozenset({"Web of Science"})

    assert reason("navigational", asked("web of science login"), brands=brands) == "brand"
    assert reason("navigational", asked("science of webs"), brands=brands) == ""


@pytest.mark.parametrize(
    ("clicks", "code"),
    [
        ({"d1": 6, "d2": 4}, "clicks"),
        ({"d1": 59, "d2": 41}, ""),
        ({"d1": 4}, ""),
        ({"d1": 5}, "clicks"),
        ({}, ""),
    ],
)
def test_navigational_where_one_document_takes_60_percent_of_five_clicks_or_more(clicks, code):
    assert reason("navigational", asked("jstor", clicks=clicks)) == code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('"to be or not to be"', "quoted"),
        ("“critical insights” potter", "quoted"),
        ("ValueError when parsing", "error-code"),
        ("error code 404", "error-code"),
        ("stop 0x0000007B", "error-code"),
        ("python 3.11 release", "version"),
        ("upgrade to v2.0", "version"),
        ("numpy 1.26.4", "version"),
        ("WH-1000XM4 headphones", "identifier"),
        ("CVE-2021-44228", "identifier"),
        ("978-3-16-148410-0", "identifier"),
        ("doi 10.1145/3397271", "identifier"),
        ("covid-19 incubation", ""),
        ("world war 2", ""),
        ("events of 1989", ""),
        ("3.5 percent", ""),
        ("don't stop", ""),
    ],
)
def test_exact_match_by_pattern(text, code):
    assert reason("exact_match", asked(text)) == code


PARADISE = RelevantDocument("d1", "Paradise Lost", "Of man's first disobedience")
OTHER = RelevantDocument("d2", "Something else", "…")


@pytest.mark.parametrize(
    ("text", "relevant", "n", "is_hit", "code"),
    [
        ("paradise lost", (PARADISE,), 1, True, "title"),
        ("Paradise lost by Milton", (PARADISE, OTHER), 2, True, "title"),
        ("paradise lost", (PARADISE,), 1, None, "title"),
        ("paradise lost", (PARADISE,), 1, False, ""),
        ("paradise lost", (PARADISE, OTHER), 3, True, ""),
        ("paradise", (PARADISE,), 1, True, ""),
        ("lost paradise", (PARADISE,), 1, True, ""),
    ],
)
def test_exact_match_by_the_title_of_one_of_two_relevant_documents(text, relevant, n, is_hit, code):
    query = asked(text, relevant=relevant, n_relevant=n, is_lexical_hit=is_hit)

    assert reason("exact_match", query) == code


def test_semantic_where_the_words_are_not_those_of_any_relevant_text():
    """Weights 1, 1, 2: "car" alone is 1 of 4, "car" and "repair" 3 of 4."""
    weights = {"car": 1.0, "my": 1.0, "repair": 2.0}
    far = RelevantDocument("d1", "Automobiles", "a car")
    near = RelevantDocument("d2", "Repair", "a car")

    assert reason("semantic", asked("repair my car", relevant=(far,)), weights=weights)
    assert not reason("semantic", asked("repair my car", relevant=(far, near)), weights=weights)


@pytest.mark.parametrize(("shared", "code"), [("a b c", "low-overlap"), ("a b c d", "")])
def test_semantic_is_up_to_three_words_of_ten(shared, code):
    query = asked("a b c d e f g h i j", relevant=(RelevantDocument("d1", "", shared),))

    assert reason("semantic", query, weights=dict.fromkeys("abcdefghij", 1.1)) == code


@pytest.mark.parametrize(
    ("flag", "code"),
    [*((flag, "vocabulary-gap") for flag in (True, 1, "1", "yes")), (False, ""), (0, ""), (2, "")],
)
def test_semantic_is_told_by_a_flag(flag, code):
    assert reason("semantic", asked("x", metadata={"vocabulary_gap": flag})) == code


def test_semantic_is_never_told_without_a_text():
    assert reason("semantic", asked("repair my car")) == ""


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("how tall is it", "question"),
        ("Why?", "question"),
        ("learn how to swim", "question"),
        ("one two three four five six seven", "long"),
        ("one two three four five six", ""),
        ("showing", ""),
        ("", ""),
    ],
)
def test_informational(text, code):
    assert reason("informational", asked(text)) == code


def test_only_guesses_are_suggestions():
    assert is_suggesting({"kind": "semantic"})
    assert not is_suggesting({"kind": "length", "to": 2})


# --- facts -----------------------------------------------------------------------------------

QUERIES = [
    AskedQuery("a", "one", lang="en", frequency=9, metadata={"topic": "X"}),
    AskedQuery("b", "one two", lang="en-GB", frequency=5, metadata={"topic": ["y", "x"]}),
    AskedQuery("c", "one two three", lang="eng", frequency=1, metadata={"topic": None}),
    AskedQuery("d", "one two three four", lang="", frequency=1),
]


@pytest.mark.parametrize(
    ("rule", "taken"),
    [
        ({"kind": "length", "to": 2}, "ab"),
        ({"kind": "length", "from": 2, "to": 3}, "bc"),
        ({"kind": "length", "from": 4}, "d"),
        ({"kind": "language", "lang": "EN"}, "ab"),
        ({"kind": "tag", "key": "topic", "value": "x"}, "ab"),
        ({"kind": "tag", "key": "nothing", "value": "x"}, ""),
        ({"kind": "expression", "expression": "frequency = 1 or in slice s"}, "bcd"),
        ({"kind": "frequency", "band": "head", "head_share": 0.25}, "a"),
        ({"kind": "frequency", "band": "torso", "head_share": 0.25}, "b"),
        ({"kind": "frequency", "band": "tail", "head_above": 8, "tail_below": 5}, "cd"),
        ({"kind": "frequency", "band": "head", "head_above": 8, "tail_below": 5}, "a"),
    ],
)
def test_what_a_rule_takes(rule, taken):
    members = taken_by(rule, QUERIES, Surroundings(slices={"s": {"b"}}))

    assert "".join(members.reasons) == taken


def test_queries_without_a_count_are_in_no_band_and_said_to_be():
    queries = [*QUERIES, AskedQuery("e", "uncounted")]

    members = taken_by({"kind": "frequency", "band": "torso", "head_share": 0.25}, queries, NOWHERE)

    assert "e" not in members.reasons
    assert "1 of 5 queries has no frequency: in no band." in members.notes


def test_bands_of_queries_asked_once_each_are_refused():
    flat = [AskedQuery("a", "x", frequency=1), AskedQuery("b", "y", frequency=1)]

    with pytest.raises(FrequencyError, match="Every query was asked once"):
        taken_by({"kind": "frequency", "band": "head"}, flat, NOWHERE)


def test_navigational_says_where_no_clicks_are_known():
    without = taken_by({"kind": "navigational"}, [asked("jstor login"), asked("jstor")], NOWHERE)
    few = taken_by({"kind": "navigational"}, [asked("jstor", clicks={"d1": 3})], NOWHERE)

    assert without.notes == (
        "No query has clicks, so whether one document takes them was not looked at; "
        "clicks come with a query log or with imported queries.",
    )
    assert few.notes == ()


def test_a_tag_that_no_query_has_is_said():
    members = taken_by({"kind": "tag", "key": "nothing", "value": "x"}, QUERIES, NOWHERE)

    assert members.notes == ("No query's metadata has 'nothing'.",)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"kind": "colour"}, "'colour' is no kind of rule; expected one of frequency,"),
        ({}, "'None' is no kind of rule"),
        (
            {"kind": "frequency", "from": 1},
            "knows no from; it takes band, head_above, head_share, tail_below, tail_share.",
        ),
        ({"kind": "frequency", "band": "head", "head_share": "few"}, "head_share is 'few'"),
        ({"kind": "length"}, "needs 'from' or 'to'"),
        ({"kind": "length", "from": 5, "to": 2}, "No length is from 5 to 2"),
        ({"kind": "length", "from": "few"}, "from is 'few'; expected a whole number"),
        ({"kind": "length", "from": 2.5}, "from is '2.5'; expected a whole number"),
        ({"kind": "length", "from": 1e400}, "from is 'inf'; expected a whole number"),
        ({"kind": "frequency", "band": "middle"}, "expected head, torso or tail"),
        ({"kind": "frequency", "band": "head", "head_above": 3}, "Give both cuts"),
        (
            {"kind": "frequency", "band": "head", "head_above": 3, "tail_below": 5},
            "head and tail at once",
        ),
        ({"kind": "frequency", "band": "head", "head_share": 2}, "expected a share between"),
        ({"kind": "language"}, "Name the language"),
        ({"kind": "\ud800"}, "A text of the rule holds U+0000 or half a character"),
        ({"kind": "navigational", "brands": ["a", "b\0"]}, "holds U+0000 or half a character"),
        ({"kind": "tag", "key": "topic"}, "and its value"),
        ({"kind": "navigational", "brands": "one"}, "Brands are a list"),
    ],
)
def test_a_rule_that_asks_for_what_cannot_be_is_refused(rule, words):
    with pytest.raises(SliceRuleError) as caught:
        checked_rule(rule)

    assert words in str(caught.value)


def test_a_rule_that_names_an_unknown_slice_is_refused():
    with pytest.raises(ExpressionError, match="there is no slice 's'"):
        taken_by({"kind": "expression", "expression": "in slice s"}, QUERIES, NOWHERE)
    with pytest.raises(ExpressionError, match="there is no slice 's'"):
        checked_rule({"kind": "expression", "expression": "in slice s"}, ["t"])


def test_query_without_a_word_has_a_length():
    assert set(taken_by({"kind": "length", "to": 0}, [asked("…")], NOWHERE).reasons) == {"q1"}


def test_weights_count_documents_and_not_words():
    weights = weights_of([{"a", "b"}, {"a"}, {"c"}], {"a", "z"})

    assert weights["z"] > weights["a"] > 0


def test_words_keep_what_belongs_to_them():
    text = "Don't use os.path in C++, C# or .NET 3.5; read_text() instead… ok?"

    kept = "don't use os.path in c++ c# or .net 3.5 read_text instead ok"
    assert " ".join(words_of(text)) == kept


@pytest.mark.parametrize(
    ("text", "n"), [("हिन्दी में समाचार", 3), ("İstanbul'da hava", 2), ("நாள் காட்டி", 2)]
)
def test_marks_cut_no_word(text, n):
    assert len(words_of(text)) == n


# --- a real log ------------------------------------------------------------------------------


@pytest.mark.data
def test_head_and_tail_of_a_library_log_equal_a_direct_count(data):
    """4,145 distinct queries: 5 % are 207, half are 2,072; who ties with the next goes to torso."""
    counts: Counter[str] = Counter()
    with gzip.open(data / "query_log_library" / "popular-23-24.csv.gz", "rt") as file:
        for row in csv.DictReader(file):
            counts[row["search string cleaned"]] += int(row["searches"])
    queries = [AskedQuery(text, text, frequency=n) for text, n in counts.items()]

    head, torso, tail = (
        set(taken_by({"kind": "frequency", "band": band}, queries, NOWHERE).reasons)
        for band in ("head", "torso", "tail")
    )

    ordered = sorted(counts.values(), reverse=True)
    assert len(ordered) == 4145
    assert head == {text for text, n in counts.items() if n > ordered[207]}
    assert tail == {text for text, n in counts.items() if n < ordered[::-1][2072]}
    assert torso == counts.keys() - head - tail
    assert ordered[2072] in {counts[text] for text in torso}
    assert len(head) <= 207
    assert len(tail) <= 2072


def test_query_that_was_asked_once_is_said_to_have_been_asked_one_time():
    rule = checked_rule({"kind": "frequency", "band": "tail", "head_above": 8, "tail_below": 5})

    reasons = taken_by(rule, QUERIES, NOWHERE).reasons

    assert {reason.text for reason in reasons.values()} == {"asked 1 time"}
