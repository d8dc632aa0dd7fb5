"""The whole default gate on pairs of the runs that come with the data, as docs/gate.md says."""

import pytest

from tests.benchwright.gates.real_pairs import better_by, of_class, simulated, truly_better

pytestmark = pytest.mark.data

BETTER = {
    ("related", 0.03): [
        ("uogTrDPH_QE", "UIowaS_Run2"),
        ("lsa200", "ql_dirichlet"),
        ("minilm_l6_int8", "tfidf_char3to5"),
        ("minilm_l6_int8", "tfidf_word"),
        ("rrf_bm25_minilm", "lsa200"),
        ("rrf_bm25_minilm", "minilm_l6_int8"),
    ],
    ("related", 0.05): [
        ("BERT", "RUIR-doc2vec"),
        ("savantx_nist_run_3", "yn-r1-alltext"),
        ("lsa200", "tfidf_char3to5"),
        ("lsa200", "tfidf_word"),
        ("rrf_bm25_minilm", "bm25_stem"),
    ],
    ("unrelated", 0.03): [
        ("T5R1", "BioinfoUA-noadapt"),
        ("UP-sdqrnd1", "poznan_run3"),
        ("UP-sdqrnd1", "sab20.1.blind"),
        ("sab20.1.blind", "ielab-prf.2query.v3"),
        ("wistud_noSearch", "tcs_ilabs_gg_r1"),
        ("minilm_l6_int8", "ql_dirichlet"),
    ],
    ("unrelated", 0.05): [
        ("BITEM_BL", "UB_NLP_RUN_1"),
        ("TU_Vienna_TKL_1", "ielab-prf.2query.v3"),
        ("Technion-MEDMM", "TU_Vienna_TKL_1"),
        ("Technion-MEDMM", "sab20.1.blind"),
        ("UB_NLP_RUN_1", "DA_IICT_narr_qe"),
        ("UP-sdqrnd1", "ielab-prf.2query.v3"),
        ("ixa-ir-filter-query", "sab20.1.blind"),
        ("uogTrDPH_QE", "BioinfoUA-noadapt"),
    ],
}


@pytest.mark.parametrize(
    ("name", "by"), [(n, d) for n in ("related", "unrelated") for d in (0.015, 0.03, 0.05)]
)
def test_the_pairs_that_carry_a_cell_are_these(name, by):
    pairs = [(pair.candidate, pair.baseline) for pair in truly_better(name, by)]

    assert pairs == BETTER.get((name, by), [])


def test_three_unrelated_pairs_are_better_by_015_which_is_too_few():
    pairs = [(pair.candidate, pair.baseline) for pair in better_by("unrelated", 0.015)]

    assert pairs == [
        ("OHSU_RUN2", "sheikh_bm25_manual"),
        ("Technion-MEDMM", "ixa-ir-filter-query"),
        ("minilm_l6_int8", "bm25_stem"),
    ]


def test_classes_hold_so_many_ordered_pairs():
    assert [len(of_class(name)) for name in ("near", "related", "unrelated")] == [2, 76, 516]


# Pass and block of METHODS for the given runs; harm is planted around the pair's mean.
KNOWN = [
    ("related", 300, "swapped", 0.05, 0.04),
    ("related", 300, 0.015, 0.41, 0.10),
    ("related", 300, 0.03, 0.84, 0.02),
    ("related", 300, 0.05, 0.99, 0.01),
    ("related", 300, "harmed", 0.25, 0.70),
    ("related", 1_000, "swapped", 0.03, 0.04),
    ("related", 1_000, 0.015, 0.71, 0.15),
    ("related", 1_000, 0.03, 0.94, 0.06),
    ("related", 1_000, 0.05, 1.00, 0.00),
    ("related", 1_000, "harmed", 0.12, 0.88),
    ("unrelated", 300, "swapped", 0.05, 0.04),
    ("unrelated", 300, 0.03, 0.74, 0.00),
    ("unrelated", 300, 0.05, 0.81, 0.10),
    ("unrelated", 300, "harmed", 0.49, 0.22),
    ("unrelated", 1_000, "swapped", 0.05, 0.04),
    ("unrelated", 1_000, 0.03, 0.97, 0.01),
    ("unrelated", 1_000, 0.05, 0.89, 0.11),
    ("unrelated", 1_000, "harmed", 0.29, 0.70),
]
N_MADE = 600


@pytest.mark.parametrize(("name", "n", "truth", "passed", "blocked"), KNOWN)
def test_the_gate_is_as_often_right_as_published(name, n, truth, passed, blocked):
    """Within .03, and three standard errors of the comparisons made here."""
    simulation = simulated(name, n, truth, n_made=N_MADE, seed=3)

    for seen, known in zip(simulation[:2], (passed, blocked), strict=True):
        assert abs(seen - known) <= 0.03 + 3 * (known * (1 - known) / N_MADE) ** 0.5 + 0.005
