"""Queries to families: hand-made cases, and what holds for any queries and verdicts."""

import csv
import random
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright.families import (
    Embeddings,
    GroupingOptions,
    Known,
    Link,
    Linkage,
    QueryText,
    Reason,
    grouped,
    review_costs,
    static_embeddings,
)
from benchwright.families.clustering import agglomerated, clusters_of, kept_apart
from benchwright.families.errors import GroupingOptionError, ParaphraseExtraError
from benchwright.families.grouping import SHOWN
from benchwright.matrices import static_vectors
from benchwright.recipes.parameters import ParameterError
from tests.examples import examples

WORDS_ALIKE = [
    "how long do goldfish live in a bowl",
    "how long do goldfsh live in a bwl",
    "how long does a goldfish live in bowls",
    "How long do goldfish live in a bowl?",
    "goldfish live in a bowl how long",
    "cost of a house",
    "costs of a house",
]


def queries(*texts, **positives):
    return [
        QueryText(f"q{n}", text, frozenset(positives.get(f"q{n}", ())))
        for n, text in enumerate(texts)
    ]


def members(found):
    return [family.members for family in found.families]


def reasons(found):
    return {(link.a, link.b, link.reason.value) for link in found.links}


def test_no_queries_have_no_families():
    assert grouped([]).families == ()


def test_each_reason_is_told():
    grouping = grouped(
        queries(
            "How do I locate my card?",
            "how do i locate my card",
            "lost cards",
            "card lost!",
            "what is a goldfish",
            "unlike all others",
            "quite another matter",
            q5={"d1", "d2"},
            q6={"d1", "d2"},
        )
    )

    assert reasons(grouping) == {
        ("q0", "q1", "exact"),
        ("q2", "q3", "bag"),
        ("q5", "q6", "relevant"),
    }
    assert members(grouping) == [("q0", "q1"), ("q2", "q3"), ("q4",), ("q5", "q6")]


def test_equal_wordings_leave_no_doubt_and_doubtful_ones_wait_for_review():
    grouping = grouped(
        queries(
            "cost of a new house", "Cost of a new house?", "do goldfish grow", "do goldfish row"
        )
    )

    sure, doubtful = grouping.families
    assert (sure.doubt, sure.is_flagged) == (0.0, False)
    assert doubtful.is_flagged and doubtful.why == "doubtful"
    assert 0.2 < doubtful.doubt <= 0.4
    assert grouping.n_flagged == 1


def test_the_weakest_link_a_family_needs_is_its_doubt():
    links = [
        Link("q0", "q1", Reason.EMBEDDING, 0.9),
        Link("q1", "q2", Reason.EMBEDDING, 0.7),
        Link("q0", "q2", Reason.EMBEDDING, 0.65),
    ]

    (family,) = grouped(queries("aaaa", "bbbb", "cccc"), known=Known(links=links)).families

    assert family.doubt == pytest.approx(0.3)


def test_a_bag_of_the_same_words_read_differently_waits_for_review():
    grouping = grouped(queries("a b c d e f", "f e d c b a"))

    assert grouping.families[0].is_flagged
    assert grouping.links[0].reason is Reason.BAG and grouping.links[0].similarity < 0.6


def test_embeddings_join_what_words_do_not():
    vectors = np.array([[1, 0.02], [1, 0], [0, 1]], np.float32)
    vectors /= np.linalg.norm(vectors, axis=1)[:, None]
    embeddings = Embeddings(("q0", "q1", "q2", "unknown")[:3], vectors)

    grouping = grouped(queries("car", "automobile", "tree", "bush"), embeddings=embeddings)

    assert reasons(grouping) == {("q0", "q1", "embedding")}
    assert grouping.n_without_embedding == 1


def test_half_the_relevant_documents_in_common_are_enough():
    texts = ("aaaa", "bbbb", "cccc")

    grouping = grouped(queries(*texts, q0={"1", "2"}, q1={"2"}, q2={"2", "3", "4"}))

    assert reasons(grouping) == {("q0", "q1", "relevant")}


# --- verdicts --------------------------------------------------------------------------------


def test_queries_that_differ_are_not_joined_although_equal():
    grouping = grouped(queries("Java", "java", "JAVA"), known=Known(different=[("q0", "q2")]))

    assert members(grouping) == [("q0", "q1"), ("q2",)]
    assert [(link.a, link.b) for link in grouping.refused] == [("q0", "q2")]


def test_queries_that_differ_are_not_joined_through_others():
    texts = (
        "how can i top up my card today",
        "how can i top up my card",
        "how can i top up my card by cheque",
    )
    together = grouped(queries(*texts))
    assert len(together.families) == 1

    grouping = grouped(queries(*texts), known=Known(different=[("q0", "q2")]))

    similarity = {(link.a, link.b): link.similarity for link in together.links}
    nearer = ("q0", "q1") if similarity["q0", "q1"] > similarity["q1", "q2"] else ("q1", "q2")
    assert nearer in members(grouping)
    assert not any({"q0", "q2"} <= set(family) for family in members(grouping))


def test_queries_said_to_be_the_same_are_joined_without_doubt():
    (family,) = grouped(queries("car", "automobile"), known=Known(same=[("q1", "q0")])).families

    assert family.members == ("q0", "q1")
    assert (family.doubt, family.is_flagged) == (0.0, False)


def test_same_holds_against_the_cap_on_chains():
    texts = ["do goldfish grow", "do goldfish row", "an unlike wording altogether"]

    grouping = grouped(queries(*texts), known=Known(same=[("q0", "q2")]))

    assert {"q0", "q2"} <= set(grouping.families[0].members)


def test_different_wins_over_the_last_of_the_verdicts_that_contradict_it():
    known = Known(same=[("q0", "q1"), ("q1", "q2")], different=[("q0", "q2")])

    grouping = grouped(queries("one", "two", "three"), known=known)

    assert members(grouping) == [("q0", "q1"), ("q2",)]


WORDS = st.sampled_from(["card", "cards", "lost", "new", "york", "goldfish", "grow", "a", "of"])
TEXTS = st.lists(st.lists(WORDS, min_size=1, max_size=4).map(" ".join), min_size=2, max_size=12)


@settings(max_examples=examples(60))
@given(TEXTS, st.data())
def test_any_verdict_holds_and_every_query_is_in_one_family(texts, data):
    ids = st.integers(0, len(texts) - 1).map(lambda n: f"q{n}")
    pairs = st.lists(st.tuples(ids, ids).filter(lambda pair: pair[0] != pair[1]), max_size=5)
    different, same = data.draw(pairs), data.draw(pairs)

    grouping = grouped(queries(*texts), known=Known(different=different, same=same))

    family_of = {qid: family.name for family in grouping.families for qid in family.members}
    assert sorted(family_of) == sorted(f"q{n}" for n in range(len(texts)))
    assert all(family_of[a] != family_of[b] for a, b in different)
    if not different:
        assert all(family_of[a] == family_of[b] for a, b in same)


@settings(max_examples=25)
@given(TEXTS, st.randoms(use_true_random=False))
def test_the_order_of_the_queries_makes_no_difference(texts, rng: random.Random):
    given_order = queries(*texts)
    shuffled = rng.sample(given_order, len(given_order))

    assert grouped(given_order) == grouped(shuffled)


# --- chains ----------------------------------------------------------------------------------

CHAIN = [
    "alpha bravo charlie delta echo",
    "bravo charlie delta echo foxtrot",
    "charlie delta echo foxtrot golf",
    "delta echo foxtrot golf hotel",
    "echo foxtrot golf hotel india",
    "foxtrot golf hotel india juliet",
    "golf hotel india juliet kilo",
    "hotel india juliet kilo lima",
]


@pytest.mark.parametrize("method", list(Linkage))
def test_a_chain_is_cut_and_its_parts_wait_for_review(method):
    options = GroupingOptions(review_at=0.5, recut_by=method, recut_at=0.45)

    grouping = grouped(queries(*CHAIN), options)

    assert grouping.n_recut == 1
    assert len(grouping.families) > 1
    assert all(f.is_flagged and f.why == "chained" for f in grouping.families if len(f.members) > 1)


def test_a_family_of_a_file_is_whole_and_sure_however_unlike_its_wordings():
    links = [Link("q0", other, Reason.GIVEN, 1.0) for other in ("q1", "q2", "q3")]
    texts = ["delete a directory", "rm -rf equivalent", "remove a tree", "shutil for folders"]

    (family,) = grouped(queries(*texts), known=Known(links=links)).families

    assert (family.doubt, family.is_flagged) == (0.0, False)


def test_complete_linkage_leaves_no_pair_below_the_cut():
    options = GroupingOptions(review_at=0.5, recut_by=Linkage.COMPLETE, recut_at=0.45)

    grouping = grouped(queries(*CHAIN), options)

    assert all(family.doubt <= 0.55 + 1e-6 for family in grouping.families)


def test_a_large_family_of_like_wordings_stays_whole_and_waits_for_review():
    texts = [f"how do i change the pin of my new card, please{'!' * n} {n}" for n in range(25)]

    grouping = grouped(queries(*texts))

    (family,) = grouping.families
    assert family.why == "large"


def test_copies_do_not_make_a_family_large():
    grouping = grouped(queries(*["the same question"] * 30))

    assert not grouping.families[0].is_flagged


def test_a_cluster_too_large_for_a_matrix_is_first_asked_for_more_similarity(monkeypatch):
    monkeypatch.setattr("benchwright.families.cutting._LARGEST_MATRIX", 4)

    grouping = grouped(queries(*CHAIN), GroupingOptions(review_at=0.5))

    assert max(len(family.members) for family in grouping.families) <= 4
    assert sorted(q for family in grouping.families for q in family.members) == sorted(
        f"q{n}" for n in range(len(CHAIN))
    )


def test_above_a_number_of_queries_pairs_are_found_by_minhash():
    texts = [f"how do i change the {word} of my card" for word in ("pin", "limit", "name")]
    texts += [text.replace("change", "chnage") for text in texts]

    everything = grouped(queries(*texts))
    sampled = grouped(queries(*texts), GroupingOptions(minhash_above=0))

    assert sampled.is_sampled and not everything.is_sampled
    similarities = {(link.a, link.b): link.similarity for link in everything.links}
    assert {(link.a, link.b) for link in sampled.links} <= similarities.keys()
    assert members(sampled) == members(everything)


@pytest.mark.parametrize(("minhash_above", "n_steps"), [(0, 32), (100, 12)])
def test_each_step_is_told_up_to_its_end(monkeypatch, minhash_above, n_steps):
    monkeypatch.setattr("benchwright.families.cutting._TOLD_EVERY", 1)
    texts = [f"{text} {n}" for text in ("cost of a house", "do goldfish grow") for n in range(6)]
    steps = []

    grouped(
        queries(*texts),
        GroupingOptions(minhash_above=minhash_above),
        on_progress=lambda *step: steps.append(step),
    )

    assert ("Comparing wordings", n_steps, n_steps) in steps
    assert [step[1:] for step in steps if step[0] == "Making families"] == [(0, 1), (0, 2), (1, 2)]


def test_links_of_a_crowd_are_cut_to_the_strongest_and_hold_the_family():
    texts = [f"how do i change the pin of my new card please {n}" for n in range(30)]

    grouping = grouped(queries(*texts), GroupingOptions(links_a_query=2))

    place = {f"q{n}": n for n in range(30)}
    a = np.array([place[link.a] for link in grouping.links])
    b = np.array([place[link.b] for link in grouping.links])
    assert len(grouping.links) < 30 * 6
    assert clusters_of(30, a, b).max() == 0


# --- parts -----------------------------------------------------------------------------------


def test_a_node_between_two_that_differ_stays_with_the_surer_one():
    roots, refused = kept_apart([0, 1, 2, 3], [(1, 2), (0, 1), (2, 3)], [(0, 2)])

    assert roots == {0: 0, 1: 1, 2: 1, 3: 1}
    assert refused == [(0, 1)]


def test_what_belongs_together_is_never_cut():
    alike = np.array([[1, 0, 0], [0, 1, 1], [0, 1, 1]], float)
    together = np.array([0, 0, 2])

    labels = agglomerated(alike, 0.9, together, Linkage.COMPLETE)

    assert labels[0] == labels[1]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"merge_at": 0}, "merge_at is 0; expected a number above 0 and at most 1"),
        ({"embedding_at": 1.5}, "embedding_at is 1.5"),
        ({"review_at": 0.9}, r"review_at is 0.9; expected at most merge_at \(0.8\)"),
        ({"largest": 1}, "largest is 1; expected a whole number from 2"),
    ],
)
def test_an_option_outside_its_range_is_refused(wrong, words):
    with pytest.raises((GroupingOptionError, ParameterError), match=words):
        GroupingOptions(**wrong)


# --- what a threshold costs -----------------------------------------------------------------------


@given(st.lists(st.sampled_from(WORDS_ALIKE), min_size=1, max_size=12), st.sampled_from(SHOWN))
def test_reviews_counted_beforehand_are_those_of_grouping_so(texts, merge_at):
    asked = queries(*texts)

    (cost,) = review_costs(grouped(asked, GroupingOptions(review_at=0.6)), [merge_at])

    grouping = grouped(asked, GroupingOptions(review_at=0.6, merge_at=merge_at))
    waiting = [family for family in grouping.families if family.is_flagged]
    assert (cost.n_families, cost.n_queries) == (
        len(waiting),
        sum(len(family.members) for family in waiting),
    )
    assert cost.n_pairs >= cost.n_families


def test_equal_texts_need_no_review_however_many():
    grouping = grouped(
        queries(*["Do goldfish grow?", "do goldfish  grow", "DO GOLDFISH GROW"] * 20)
    )

    assert members(grouping) == [tuple(sorted(f"q{n}" for n in range(60)))]
    (cost,) = review_costs(grouping, [1.0])
    assert (cost.n_families, cost.n_pairs) == (0, 0)


def test_one_answer_settles_what_takes_several_pair_by_pair():
    grouping = grouped(
        queries("opening hours library", "opening hour library", "opening hours librari")
    )

    (cost,) = review_costs(grouping, [0.99])

    assert (cost.n_families, cost.n_queries, cost.n_pairs) == (1, 3, 2)


# --- paraphrases ----------------------------------------------------------------------------------

has_static_vectors = pytest.mark.skipif(
    not static_vectors.is_installed(), reason="the extra demo is not installed"
)


@has_static_vectors
def test_paraphrases_are_linked_and_wait_where_they_are_in_doubt():
    asked = queries("how to get a divorce", "getting divorced from husband", "cost of a house", "")

    grouping = grouped(
        asked, GroupingOptions(paraphrase_at=0.6), paraphrases=static_embeddings(asked)
    )

    assert members(grouped(asked)) == [("q0",), ("q1",), ("q2",), ("q3",)]
    assert members(grouping) == [("q0", "q1"), ("q2",), ("q3",)]
    assert reasons(grouping) == {("q0", "q1", "embedding")}
    assert grouping.families[0].is_flagged


@has_static_vectors
@pytest.mark.data
def test_paraphrases_raise_the_recall_of_wordings_of_dl19(data):
    rows = variations(data / "query_families" / "penha_dl19_variations")
    asked = [QueryText(str(n), text) for n, (text, _) in enumerate(rows)]
    topic = {str(n): of for n, (_, of) in enumerate(rows)}

    without, found = (
        pairs_right(grouped(asked, paraphrases=of), topic)
        for of in (None, static_embeddings(asked))
    )

    assert without[1] < 0.88
    assert found[0] == 1.0
    assert found[1] > 0.92


def variations(folder):
    with (folder / "variations_trec2019_labeled.csv").open(encoding="utf-8", newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["valid"].lower() == "true"]
    originals = {row["q_id"]: row["original_query"] for row in rows}
    return [(text, of) for of, text in originals.items()] + [
        (row["variation"], row["q_id"]) for row in rows
    ]


def pairs_right(found, topic):
    """Precision and recall of pairs in one family."""
    pairs = [pair for family in found.families for pair in combinations(family.members, 2)]
    right = sum(topic[a] == topic[b] for a, b in pairs)
    sizes = Counter(topic.values()).values()
    return right / len(pairs), right / sum(n * (n - 1) / 2 for n in sizes)


def test_paraphrases_without_the_extra_are_refused(monkeypatch):
    monkeypatch.setattr(static_vectors, "find_spec", lambda name: None)

    with pytest.raises(ParaphraseExtraError, match="Install the extra demo"):
        static_embeddings(queries("a"))
