"""What leaks from one split into another is named, each kind by its own name."""

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright.families.keys import accentless_key, bag_keys, exact_key
from benchwright.families.vectors import weighted_grams
from benchwright.findings import Severity
from benchwright.leaks import (
    LeakQuery,
    as_json,
    as_markdown,
    findings_of,
    hard_violations,
    leak_report,
    pairing,
)
from tests.examples import examples

START = datetime(2024, 1, 1, tzinfo=UTC)
# Questions that have nothing to do with each other.
CLEAN = [
    ("t1", "how long do goldfish live in a bowl", "train"),
    ("t2", "cheapest flights from oslo to lisbon", "train"),
    ("t3", "recipe for sourdough bread without starter", "train"),
    ("e1", "symptoms of vitamin d deficiency", "test"),
    ("e2", "who painted the night watch", "test"),
    ("e3", "reset a forgotten router password", "test"),
]


def day(n: int) -> datetime:
    return START + timedelta(days=n)


def query(qid: str, text: str, split: str, **values: object) -> LeakQuery:
    return LeakQuery(qid, text, values.pop("family", qid), split, **values)


def clean() -> list[LeakQuery]:
    """Six queries in two splits, each with a document and a day of its own."""
    return [
        query(qid, text, split, relevant=frozenset({f"d-{qid}"}), first_seen=day(place))
        for place, (qid, text, split) in enumerate(CLEAN)
    ]


CHRONOLOGICAL = {"mode": "chronological", "cuts": {"test": day(3).isoformat()}}


def test_a_clean_split_finds_nothing():
    documents = {f"d-{qid}": day(place) for place, (qid, _, _) in enumerate(CLEAN)}

    report = leak_report(clean(), plan=CHRONOLOGICAL, documents_first_seen=documents)

    assert report["findings"] == []
    assert hard_violations(report) == []
    assert report["pairs"][0]["leaks"] == {}


@pytest.mark.parametrize(
    ("leak", "code", "severity"),
    [
        ("how long do goldfish live in a bowl", "split-leak-exact", Severity.ERROR),
        ("How long do GOLDFISH live in a bowl", "split-leak-exact", Severity.ERROR),
        ("how long do goldfish live, in a bowl?", "split-leak-exact", Severity.ERROR),
        ("Hów lông dó göldfish livé in a böwl?", "split-leak-accents", Severity.ERROR),
        ("in a bowl how long do goldfish live", "split-leak-bag", Severity.ERROR),
        ("how long do goldfish live in a bowls please", "split-leak-near", Severity.ERROR),
        ("how long do goldfsh live in a bwl", "split-leak-possible", Severity.WARNING),
    ],
)
def test_a_planted_wording_is_named_with_both_texts(leak, code, severity):
    planted = query("leak", leak, "test", relevant=frozenset({"d-leak"}))

    report = leak_report([*clean(), planted])

    findings = findings_of(report)
    assert [(finding.code, finding.severity) for finding in findings] == [(code, severity)]
    assert "t1 “how long do goldfish live in a bowl”" in findings[0].message
    assert "leak “" in findings[0].message
    assert report["pairs"][0]["nearest"][0]["b"]["qid"] == "leak"


def test_a_family_on_two_sides_is_named_though_its_wordings_differ():
    planted = query("leak", "lifespan of carassius auratus", "test", family="t1")

    violations = hard_violations(leak_report([*clean(), planted]))

    assert [violation.code for violation in violations] == ["split-leak-family"]
    assert "1 family is on both sides" in violations[0].message


def test_a_relevant_document_of_both_sides_is_named_and_does_not_stop_a_release():
    planted = query("leak", "map of the moon", "test", relevant=frozenset({"d-t1", "d-leak"}))

    report = leak_report([*clean(), planted])

    (finding,) = findings_of(report)
    assert (finding.code, finding.severity) == ("split-leak-documents", Severity.WARNING)
    assert "1 document is relevant on both sides (d-t1): 20.0 %" in finding.message
    assert report["pairs"][0]["shared_documents"]["listed"] == [
        {"docid": "d-t1", "a": ["t1"], "b": ["leak"]}
    ]
    assert hard_violations(report) == []


def test_of_many_queries_out_of_time_the_first_three_are_named():
    texts = ("map of the moon", "cold bread soup", "whale songs", "tin roof noise")
    planted = [query(f"l{n}", text, "train", first_seen=day(4)) for n, text in enumerate(texts)]

    (violation,) = hard_violations(leak_report([*clean(), *planted], plan=CHRONOLOGICAL))

    named = ", ".join(f"l{n} (2024-01-05)" for n in range(3))
    assert violation.message.startswith("4 queries of train were first asked when ")
    assert violation.message.endswith(f": {named}.")


def test_a_query_out_of_time_is_named_where_time_decides():
    planted = query("late", "map of the moon", "train", first_seen=day(4))

    violations = hard_violations(leak_report([*clean(), planted], plan=CHRONOLOGICAL))
    elsewhere = leak_report([*clean(), planted], plan={"mode": "stratified"})

    assert [violation.code for violation in violations] == ["split-leak-time"]
    assert "late (2024-01-05)" in violations[0].message
    assert elsewhere["findings"] == []
    assert elsewhere["pairs"][0]["time"]["n_inverted"] == 1


def test_a_train_positive_that_appeared_after_the_cut_is_named():
    documents = {"d-t1": day(0), "d-t2": day(9), "d-e1": day(9)}

    report = leak_report(clean(), plan=CHRONOLOGICAL, documents_first_seen=documents)

    (violation,) = hard_violations(report)
    assert violation.code == "split-leak-late-documents"
    assert "1 document that appeared after the cut (2024-01-04) is relevant" in violation.message
    assert "d-t2 (2024-01-10)" in violation.message
    assert report["documents_after_cut"]["n_known"] == 2


def test_pairs_that_people_told_apart_are_counted_and_not_held_against_the_split():
    near = query("leak", "how long do goldfish live in a bowls please", "test")

    report = leak_report([*clean(), near], told_apart={("leak", "t1")})

    assert report["findings"] == []
    assert report["pairs"][0]["told_apart"] == 1
    assert report["pairs"][0]["nearest"][0]["is_told_apart"] is True


@pytest.mark.parametrize(
    ("one", "other", "code"),
    [
        ("Où est le café", "ou est le cafe", "split-leak-accents"),
        ("año nuevo", "ano nuevo", "split-leak-accents"),
        ("τι ώρα είναι", "τι ωρα ειναι", "split-leak-accents"),
        ("ещё раз", "еще раз", "split-leak-accents"),
        ("хлеб мой", "хлеб мои", None),
        ("किताब", "कताब", None),
    ],
)
def test_accents_alone_are_an_error_and_marks_that_are_letters_are_not(one, other, code):
    queries = [query("a", one, "train"), query("b", other, "test")]

    hard = hard_violations(leak_report([*clean(), *queries]))
    assert [finding.code for finding in hard] == ([code] if code else [])
    apart = leak_report([*clean(), *queries], told_apart={("a", "b")})
    assert hard_violations(apart) == []


def test_the_same_text_is_never_excused():
    same = query("leak", "How long do goldfish live in a bowl?", "test")

    report = leak_report([*clean(), same], told_apart={("leak", "t1")})

    assert [violation.code for violation in hard_violations(report)] == ["split-leak-exact"]


def test_a_hidden_split_keeps_its_documents_to_itself():
    sentinel = "secret-document"
    queries = [
        query("t9", "map of the moon", "train", relevant=frozenset({sentinel})),
        query("e9", "height of mount fuji", "test", relevant=frozenset({sentinel})),
        *clean(),
    ]

    hidden = leak_report(queries, hidden={"test"})
    other = leak_report(
        [*queries[:1], query("e9", "height of mount fuji", "test"), *clean()], hidden={"test"}
    )

    whole = leak_report(queries)
    assert whole["pairs"][0]["shared_documents"]["n"] == 1
    assert hidden["pairs"][0]["shared_documents"] is None
    assert "of hidden grades | not told" in as_markdown(hidden)
    assert as_json(hidden) == as_json(other)
    assert sentinel not in as_json(hidden)
    assert sentinel not in as_markdown(hidden)
    # Nor may a digest or a count be tried against guesses at single grades.
    assert hidden["inputs_sha256"] == other["inputs_sha256"]
    assert hidden["label_density"] == other["label_density"]
    assert hidden["splits"][1]["n_without_relevant"] is None


def test_each_pair_of_splits_has_its_facts():
    queries = [*clean(), query("v1", "height of mount fuji", "dev")]

    report = leak_report(queries)

    assert [(pair["a"], pair["b"]) for pair in report["pairs"]] == [
        ("train", "dev"),
        ("train", "test"),
        ("dev", "test"),
    ]


def test_one_split_alone_leaks_nothing():
    queries = [query("e1", "one", "test"), query("e2", "one", "test")]

    report = leak_report(queries)

    assert (report["pairs"], report["findings"]) == ([], [])


def test_counts_and_balance_are_those_computed_by_hand():
    queries = [
        query("a", "how long do goldfish live", "train", slices=("tail",)),
        query("b", "cheapest flights to lisbon", "train", relevant=frozenset({"x"})),
        query("c", "how long do goldfish live?", "test", slices=("tail",), family="a"),
        query("d", "symptoms of vitamin d deficiency", "test", relevant=frozenset({"x", "y"})),
    ]

    report = leak_report(queries)

    (pair,) = report["pairs"]
    assert pair["shared_families"] == 1
    assert (pair["shared_exact_keys"], pair["shared_bag_keys"]) == (1, 1)
    assert pair["max_similarity"] == 1.0
    assert pair["pairs_at_least"] == {"from_60": 1, "from_70": 1, "from_80": 1}
    assert pair["shared_documents"]["share_of_a"] == 1.0
    assert pair["shared_documents"]["share_of_b"] == 0.5
    (tail,) = report["slices"]
    assert (tail["name"], tail["n"], tail["share"], tail["deviation"]) == ("tail", 2, 0.5, 0.0)


@pytest.mark.parametrize(("n", "depth"), [(3_000, 0.2), (3_001, 0.4)])
def test_pairs_are_looked_for_further_down_where_there_are_few(n, depth):
    words = [f"{chr(97 + place % 26)}{place * 7919:x}{place % 26}" for place in range(n - 30)]
    near = [f"how long do goldfish live in a bowl of {place}" for place in range(30)]
    queries = [
        query(f"q{place}", text, ("train", "test")[place % 2])
        for place, text in enumerate(near + words)
    ]

    (pair,) = leak_report(queries)["pairs"]

    assert pair["searched_from"] == depth
    assert len(pair["nearest"]) == 20


def test_report_is_json_and_markdown_that_say_the_same():
    report = leak_report([*clean(), query("leak", "How long do goldfish live in a bowl!", "test")])

    assert json.loads(as_json(report)) == report
    text = as_markdown(report)
    assert "**error** `split-leak-exact` (train and test)" in text
    assert "| 1.000 | how long do goldfish live in a bowl (t1) |" in text
    assert report["assignment_sha256"] in text


def test_report_is_the_same_in_whatever_order_queries_come():
    assert as_json(leak_report(clean())) == as_json(leak_report(clean()[::-1]))


# --- every count, by loops over all pairs ----------------------------------------------------

WORDS = ["card", "cards", "lost", "new", "york", "why", "café", "cafe", "symptoms"]
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
DAYS = st.none() | st.integers(0, 20).map(day)
QUERIES = st.lists(
    st.builds(
        LeakQuery,
        qid=st.uuids().map(str),
        # Of the last two the cosine is 0.
        text=st.one_of(TEXTS, TEXTS.map(str.upper), TEXTS.map("{}?".format), st.sampled_from("ée")),
        family=st.sampled_from("abcdefgh"),
        split=st.sampled_from(["train", "dev", "test"]),
        slices=st.sets(st.sampled_from("xy")).map(tuple),
        relevant=st.frozensets(st.sampled_from("rstuvw"), max_size=3),
        first_seen=DAYS,
    ),
    min_size=2,
    max_size=12,
    unique_by=lambda query: query.qid,
)


def likeness(queries):
    """{(text, text): cosine}, of each wording with each other."""
    wordings = sorted({exact_key(query.text) for query in queries})
    rows = weighted_grams(wordings)
    cosines = (rows @ rows.T).toarray()
    place = {wording: n for n, wording in enumerate(wordings)}
    return lambda a, b: cosines[place[exact_key(a.text)], place[exact_key(b.text)]]


def counted_pairs(side_a, side_b, alike, apart):
    """What a pair of splits says of its pairs of queries."""
    counts = Counter()
    for a in side_a:
        for b in side_b:
            is_exact = exact_key(a.text) == exact_key(b.text)
            is_plain = accentless_key(a.text) == accentless_key(b.text)
            is_bag = len(set(bag_keys([a.text, b.text]))) == 1
            cosine = 1.0 if is_exact else alike(a, b) + 1e-6
            if not (is_plain or is_bag or cosine >= 0.2):
                continue
            is_apart = frozenset((a.qid, b.qid)) in apart
            counts["told_apart"] += is_apart
            counts.update(f"from_{level}" for level in (60, 70, 80) if cosine >= level / 100)
            reasons = {
                "family": a.family == b.family,
                "exact": is_exact,
                "accents": is_plain and not is_apart,
                "bag": is_bag and not is_plain and not is_apart,
                "near": cosine >= 0.8 and not is_bag and not is_plain and not is_apart,
                "possible": cosine >= 0.6 and not is_bag and not is_plain and not is_apart,
            }
            counts.update(next(([kind] for kind, holds in reasons.items() if holds), []))
    return +counts


@settings(max_examples=examples(60), deadline=None)
@given(QUERIES, st.data())
def test_every_count_of_a_report_is_that_of_loops_over_all_pairs(queries, data):
    qids = [query.qid for query in queries]
    couples = st.lists(st.sampled_from(qids), min_size=2, max_size=2, unique=True)
    apart = set(map(frozenset, data.draw(st.lists(couples, max_size=5))))

    report = leak_report(queries, told_apart={tuple(sorted(pair)) for pair in apart})

    sides = {name: [q for q in queries if q.split == name] for name in ("train", "dev", "test")}
    sides = {name: of for name, of in sides.items() if of}
    for pair, (a, b) in zip(report["pairs"], combinations(sides.values(), 2), strict=True):
        kinds = {kind: leaks["n"] for kind, leaks in pair["leaks"].items()}
        counts = {**pair["pairs_at_least"], "told_apart": pair["told_apart"], **kinds}
        assert +Counter(counts) == counted_pairs(a, b, likeness(queries), apart)
        families, texts, bags, documents = (
            set.intersection(*({*of(side)} for side in (a, b)))
            for of in (
                lambda side: [query.family for query in side],
                lambda side: [exact_key(query.text) for query in side],
                lambda side: bag_keys([query.text for query in side]),
                lambda side: [docid for query in side for docid in query.relevant],
            )
        )
        assert pair["shared_families"] == len(families)
        assert pair["shared_exact_keys"] == len(texts)
        assert pair["shared_bag_keys"] == len(bags)
        relevant = [len({d for query in side for d in query.relevant}) for side in (a, b)]
        shares = [round(len(documents) / n, 6) if n else None for n in relevant]
        shared_documents = pair["shared_documents"]
        assert [
            shared_documents["n"],
            shared_documents["share_of_a"],
            shared_documents["share_of_b"],
        ] == [len(documents), *shares]
        early, late = ([q.first_seen for q in side if q.first_seen] for side in (a, b))
        inverted = sum(moment >= min(late) for moment in early) if early and late else None
        assert (pair["time"] or {}).get("n_inverted") == inverted
    for row in report["slices"]:
        inside = {name: sum(row["name"] in q.slices for q in of) for name, of in sides.items()}
        whole = sum(inside.values()) / len(queries)
        shares = {name: n / len(sides[name]) for name, n in inside.items()}
        assert (row["share"], row["shares"]) == (whole, shares)
        assert row["deviation"] == max(abs(share - whole) for share in shares.values())


def test_pairs_told_apart_are_not_among_those_from_60():
    far = query("far", "goldfish in a bowl", "test")

    text = as_markdown(leak_report([*clean(), far], told_apart={("far", "t1")}))

    assert "| pairs from .60 / .70 / .80 | 0 / 0 / 0 |" in text
    assert "| pairs of any likeness said to differ by a person | 1 |" in text


@pytest.mark.parametrize("similarity", [0.7996, 0.79996])
def test_similarity_is_not_rounded_to_what_pairs_are_counted_from(similarity, monkeypatch):
    monkeypatch.setattr(pairing, "similar_rows", lambda rows, **options: [(0, 1, similarity)])
    queries = [LeakQuery("a", "one", "1", "train"), LeakQuery("b", "two", "2", "test")]

    report = leak_report(queries)

    assert report["pairs"][0]["pairs_at_least"]["from_80"] == 0
    assert report["pairs"][0]["max_similarity"] == similarity
    assert f"| greatest similarity across | {similarity} |" in as_markdown(report)
