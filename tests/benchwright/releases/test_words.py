"""Card, citation and changelog: what people and machines read of a release."""

import re

import pytest
import yaml

from benchwright.exports.card import card, size_category
from benchwright.releases.changelog import bibtex, changelog, escaped
from benchwright.releases.options import ReleaseOptions

FACTS = {
    "title": "Toy: a | test",
    "version": "1.2.0",
    "lang": "de-CH",
    "licence": "CC BY 4.0",
    "unit": "document",
    "tie_rule": "trec",
    "threshold": 2,
    "n_queries": 1200,
    "n_families": 900,
    "grades": [
        {"value": 0, "name": "no", "is_relevant": False},
        {"value": 2, "name": "yes | sure", "is_relevant": True},
    ],
    "qrels": {"name": "ours", "kind": "human", "rule": "median v1", "n": 9000, "n_relevant": 800},
    "corpus": {"n_documents": 25_000, "snapshot_date": "2026-01-02"},
    "splits": {
        "dev": {"n_queries": 200, "n_graded": 150, "n_relevant": 800, "is_hidden": False},
        "test": {"n_queries": 1000, "is_hidden": True},
    },
    "slices": {"head|torso": 40},
    "leaks": {"said": []},
    "reliability": {"n_queries": 1150, "tier": "production", "detectable": 0.0213},
    "warnings": ["Something to know."],
}
TEXT = "Questions people ask.\n\n## Who asks"


def parted(text: str) -> tuple[dict, str]:
    _, head, body = text.split("---\n", 2)
    return yaml.safe_load(head), body


def test_head_of_the_card_is_what_hubs_read():
    head, _ = parted(card(FACTS, text=TEXT, citation="@misc{x}"))

    assert head == {
        "pretty_name": "Toy: a | test",
        "version": "1.2.0",
        "license": "cc-by-4.0",
        "language": ["de"],
        "multilinguality": ["monolingual"],
        "task_categories": ["text-retrieval"],
        "task_ids": ["document-retrieval"],
        "annotations_creators": ["expert-generated"],
        "size_categories": ["10K<n<100K"],
        "tags": ["information-retrieval", "benchmark", "benchwright"],
    }


def test_card_fills_in_counts_splits_grades_and_limits():
    _, body = parted(card(FACTS, text=TEXT, citation="@misc{x}"))

    for line in (
        "| Documents | 25,000, as of 2026-01-02 |",
        "| Queries | 1,200 in 900 families |",
        "| dev | 200 | 150 | 800 |",
        "| 2 | yes \\| sure | yes |",
        "| head\\|torso | 40 |",
        "Relevant from 2 on.",
        "- Nothing leaks from one split into another.",
        "Differences below 0.021 cannot be told from chance.",
        "- Something to know.",
        "@misc{x}",
    ):
        assert line in body, line
    assert body.index("Questions people ask.") < body.index("## Splits")


def test_card_says_nothing_of_hidden_grades_but_that_they_are_hidden():
    _, body = parted(card(FACTS, text="", citation=""))

    assert "| test | 1,000 | withheld | withheld |" in body
    assert "Hidden: test." in body


def test_licence_that_hubs_do_not_know_keeps_its_name():
    head, _ = parted(card({**FACTS, "licence": "Ask us"}, text="", citation=""))
    none, _ = parted(card({**FACTS, "licence": ""}, text="", citation=""))

    assert (head["license"], head["license_name"]) == ("other", "Ask us")
    assert none["license"] == "unknown"


def test_agreement_and_pool_systems_are_told_and_private_runs_are_only_counted():
    agreement = {
        "n_labels": 1000,
        "n_annotators": 3,
        "n_doubled": 100,
        "alpha": 0.7123,
        "low": 0.61,
        "high": 0.8,
    }
    pool = {
        "name": "main",
        "strategy": "depth-k",
        "n_documents": 500,
        "n_systems": 3,
        "systems": ["bm25", "tfidf"],
    }
    facts = {**FACTS, "qrels": {**FACTS["qrels"], "agreement": agreement}, "pools": [pool]}

    _, body = parted(card(facts, text="", citation=""))

    assert "Krippendorff's alpha (ordinal) 0.71 [0.61, 0.80]." in body
    assert "500 documents of 3 systems (bm25, tfidf and 1 that is not named)." in body


@pytest.mark.parametrize(
    ("n", "name"), [(1, "n<1K"), (1_000, "1K<n<10K"), (10**6, "1M<n<10M"), (10**9, "100M<n<1B")]
)
def test_size_category(n, name):
    assert size_category(n) == name


# --- citation ------------------------------------------------------------------------------------


def test_entry_is_made_of_what_is_known_and_escaped():
    entry = bibtex(
        slug="toy", title="Q&A_100%", version="1.0.0", year=2026, authors=["Ada {L}", "Bo"]
    )

    assert entry == (
        "@misc{toy-1.0.0,\n"
        "  title = {{Q\\&A\\_100\\%}},\n"
        "  author = {{Ada \\{L\\}} and {Bo}},\n"
        "  year = {2026},\n"
        "  version = {1.0.0},\n"
        "}\n"
    )


def test_braces_of_an_entry_are_balanced_whatever_the_title():
    entry = bibtex(slug="t", title="a } b { c \\ d", version="1.0.0", year=2026, authors=["x"])
    unescaped = re.sub(r"\\[{}]", "", entry)

    assert unescaped.count("{") == unescaped.count("}")


def test_bibtex_that_was_given_is_kept_and_other_words_become_a_note():
    citation = "@article{mine,\n  title={Mine},\n}\n\n"
    facts = {"slug": "t", "title": "T", "version": "1.0.0", "year": 2026, "authors": ["x"]}

    assert bibtex(**facts, citation=citation) == "@article{mine,\n  title={Mine},\n}\n"
    assert "note = {See our paper \\#3}" in bibtex(**facts, citation="See our\npaper #3")


def test_every_special_character_is_escaped():
    assert escaped("\\ { } & % $ # _ ~ ^") == (
        r"\textbackslash{} \{ \} \& \% \$ \# \_ \textasciitilde{} \textasciicircum{}"
    )


# --- changelog -----------------------------------------------------------------------------------


def test_changelog_has_the_newest_first_and_keeps_the_rest():
    first = changelog(
        version="1.0.0", date="2026-01-01", notes="Begun.", parent=None, reasons=(), diff={}
    )
    counts = {"added": 1200, "changed": 0, "removed": 0}
    second = changelog(
        version="1.1.0",
        date="2026-02-01",
        notes="",
        parent="1.0.0",
        reasons=["1,200 labels were added"],
        diff={"by_split": {"test": counts}, "by_slice": {"a|b": counts}},
        before=first,
    )

    assert first == "# Changelog\n\n## 1.0.0 (2026-01-01)\n\nBegun.\n\nThe first release.\n"
    assert second == (
        "# Changelog\n\n## 1.1.0 (2026-02-01)\n\nSince 1.0.0: 1,200 labels were added.\n\n"
        "| labels of | added | changed | removed |\n|---|---:|---:|---:|\n"
        "| split test | 1,200 | 0 | 0 |\n| slice a\\|b | 1,200 | 0 | 0 |\n\n"
        "## 1.0.0 (2026-01-01)\n\nBegun.\n\nThe first release.\n"
    )


def test_options_come_back_from_json_and_old_ones_have_the_defaults():
    options = ReleaseOptions(threshold=2, left_out=("beir",), accepted=("x",))

    assert ReleaseOptions.from_json(options.as_json()) == options
    assert ReleaseOptions.from_json({"unknown": 1}) == ReleaseOptions()
