"""The numbers printed for two collections of real labels, to their last digit."""

import csv
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from django.core.management import call_command

from benchwright.agreement.coefficients import (
    Level,
    Weights,
    fleiss,
    krippendorff,
    percent_agreement,
)
from benchwright.agreement.labels import Labels, split_at
from benchwright.agreement.two_raters import cohen, pair_tables
from benchwright.qrels.rules import majority

pytestmark = pytest.mark.data
N_SETS = 17
SCALE = (0, 1, 2, 3)


def rows_of(path: Path, rater: str):
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            query, _, docid, grade = line.split()
            yield query, docid, rater, int(grade)


def tsv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t"))


@pytest.fixture(scope="module")
def challenge(data) -> Path:
    return data / "annotations_llmjudge"


def names(folder: Path) -> list[str]:
    return sorted(path.stem for path in (folder / "labels").iterdir())


def beside_gold(folder: Path, name: str, scale=None) -> Labels:
    gold = rows_of(folder / "nist_gold.qrels", "gold")
    return Labels.from_rows([*gold, *rows_of(folder / "labels" / f"{name}.qrels", name)], scale)


def test_all_kappas_and_alphas_of_17_sets_are_the_printed_ones_to_4_digits(challenge):
    expected = {row["submission"]: row for row in tsv(challenge / "expected_agreement.tsv")}

    assert len(expected) == N_SETS
    assert sorted(expected) == names(challenge)
    for name, row in expected.items():
        # As it was printed: the one label outside the scale is a fifth grade.
        labels = beside_gold(challenge, name)
        table, counts = pair_tables(labels)[0, 1], labels.counts()
        fields = {
            "kappa_unweighted": cohen(table).value,
            "kappa_linear": cohen(table, Weights.LINEAR).value,
            "kappa_quadratic": cohen(table, Weights.QUADRATIC).value,
            **{f"kappa_ge{t}": cohen(_binary(table, t)).value for t in (1, 2, 3)},
            **{
                f"alpha_{level}": krippendorff(counts, labels.scale, level).value for level in Level
            },
            "exact_agreement": percent_agreement(counts).value,
        }
        printed = {
            "paper_kappa_4point": fields["kappa_unweighted"],
            "paper_alpha": fields["alpha_ordinal"],
            "paper_kappa_0v123": fields["kappa_ge1"],
            "paper_kappa_01v23": fields["kappa_ge2"],
            "paper_kappa_012v3": fields["kappa_ge3"],
        }
        assert {key: round(value, 6) for key, value in fields.items()} == {
            key: pytest.approx(float(row[key]), abs=1.1e-6) for key in fields
        }, name
        assert {key: f"{value:.4f}" for key, value in printed.items()} == {
            key: row[key] for key in printed
        }, name


def _binary(table, position):
    """The table of two grades: below `position`, and from it on."""
    below_and_above = np.add.reduceat(table, [0, position], axis=0)
    return np.add.reduceat(below_and_above, [0, position], axis=1)


@pytest.mark.parametrize("name", ["Olz-exp", "h2oloo-zeroshot2"])
def test_command_says_what_was_printed(challenge, tmp_path, capsys, name):
    files = []
    for of in (challenge / "nist_gold.qrels", challenge / "labels" / f"{name}.qrels"):
        rows = ("\t".join(map(str, (q, d, grade))) for q, d, _, grade in rows_of(of, ""))
        files.append(tmp_path / f"{of.stem}.tsv")
        files[-1].write_text("query-id\tcorpus-id\tgrade\n" + "\n".join(rows))
    (row,) = (r for r in tsv(challenge / "expected_agreement.tsv") if r["submission"] == name)
    scale = "0,1,2,3,10" if int(row["labels_outside_0_3"]) else "0,1,2,3"

    call_command("agreement", *map(str, files), "--scale", scale)

    result = dict(line.split(": ", 1) for line in capsys.readouterr().out.splitlines())
    for label, key in (
        ("Cohen's kappa", "kappa_unweighted"),
        ("Cohen's kappa, linear", "kappa_linear"),
        ("Cohen's kappa, quadratic", "kappa_quadratic"),
        ("Krippendorff's alpha, nominal", "alpha_nominal"),
        ("Krippendorff's alpha, ordinal", "alpha_ordinal"),
        ("Krippendorff's alpha, interval", "alpha_interval"),
    ):
        assert result[label].split(",")[0].split(" ")[0] == f"{float(row[key]):.4f}", label


def test_a_label_outside_the_scale_can_be_taken_as_missing(challenge):
    whole = beside_gold(challenge, "h2oloo-zeroshot2", SCALE)

    assert len(whole) == 2 * 4423 - 1
    assert whole.scale == SCALE


def test_all_raters_together(challenge):
    rows = list(rows_of(challenge / "nist_gold.qrels", "gold"))
    for name in names(challenge):
        rows += rows_of(challenge / "labels" / f"{name}.qrels", name)
    labels = Labels.from_rows(rows, SCALE)
    counts = labels.counts()
    expected = {
        row["statistic"]: row["value"]
        for row in tsv(challenge / "expected_agreement_all_raters.tsv")
    }

    assert len(labels.rater_keys) == int(expected["raters"])
    assert labels.n_items == int(expected["items"])
    for level in Level:
        value = krippendorff(counts, SCALE, level).value
        assert f"{value:.6f}" == expected[f"krippendorff_alpha_{level}"]
    result = fleiss(counts)
    assert f"{result.value:.6f}" == expected["fleiss_kappa_items_with_all_raters"]
    assert result.n_items == int(expected["items_with_all_raters"])


@pytest.mark.parametrize("name", ["experts_3", "crowd_3p_doc_nohigh"])
def test_experts_and_crowd_of_the_news_collection(data, name):
    folder = data / "annotations_nyt_crowd"
    judged = tsv(folder / f"{name}.tsv")
    labels = Labels.from_rows(
        ((r["topic_id"], r["doc_id"], r["annotator"], int(r["grade"])) for r in judged), (0, 1, 2)
    )
    counts = labels.counts()
    fields = {
        "annotators": len(labels.rater_keys),
        "items": labels.n_items,
        "ratings": len(labels),
        **{
            f"krippendorff_alpha_{level}": krippendorff(counts, labels.scale, level).value
            for level in Level
        },
        "krippendorff_alpha_nominal_binary_ge1": krippendorff(
            split_at(counts, 1), (0, 1), Level.NOMINAL
        ).value,
        "fleiss_kappa": fleiss(counts).value,
        "mean_pairwise_percent_agreement": percent_agreement(counts).value,
        **_majority_beside_nist(judged),
    }
    if name == "experts_3":
        tables = pair_tables(labels)
        for a, b in ((0, 1), (0, 2), (1, 2)):
            who = f"{labels.rater_keys[a]}_{labels.rater_keys[b]}"
            for weights in Weights:
                fields[f"cohen_kappa_{weights}_{who}"] = cohen(tables[a, b], weights).value
    expected = {
        row["statistic"]: float(row["value"])
        for row in tsv(folder / "expected_agreement.tsv")
        if row["set"] == name and not row["statistic"].startswith("ratings_per_item")
    }

    assert fields == {key: pytest.approx(value, abs=6e-7) for key, value in expected.items()}


def _majority_beside_nist(judged) -> dict[str, float]:
    """Our majority rule (the lowest of tied grades) beside the official grade."""
    results: dict[tuple[str, str], list[int]] = {}
    nist: dict[tuple[str, str], int] = {}
    for row in judged:
        pair = row["topic_id"], row["doc_id"]
        results.setdefault(pair, []).append(int(row["grade"]))
        nist[pair] = int(row["nist_grade"])
    rows = [("q", pair, "us", majority(labels)) for pair, labels in results.items()]
    rows += [("q", pair, "nist", grade) for pair, grade in nist.items()]
    table = pair_tables(Labels.from_rows(rows, (0, 1, 2)))[0, 1]
    ties = sum(
        len(top := Counter(labels).most_common(2)) > 1 and top[0][1] == top[1][1]
        for labels in results.values()
    )
    return {
        "ties_in_majority_vote": ties,
        **{
            f"cohen_kappa_{weights}_majority(lowest_grade_on_tie)_vs_nist": cohen(
                table, weights
            ).value
            for weights in Weights
        },
    }
