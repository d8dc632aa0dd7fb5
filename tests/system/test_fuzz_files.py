"""Mutated files through a running site: a few hundred of what `make fuzz-files` sends."""

import os
from contextlib import closing

import pytest

from tests.fuzz_files.cases import KINDS, case_of, cases
from tests.fuzz_files.driving import Drive, Finding
from tests.fuzz_files.seeds import seeds
from tests.fuzz_files.sites import UNLIMITED, RunningSite

FILES = int(os.environ.get("FUZZ_FILES", "190"))
MAY_GROW_BY = 50.0


def test_case_is_the_same_each_time_it_is_made():
    names = [case.name for case in cases(4 * len(KINDS), seed=7)]
    again = [case_of(*_parts(name), seed=7).digest for name in reversed(names)]

    assert len(set(names)) == len(names)
    assert again == [case_of(*_parts(name), seed=7).digest for name in reversed(names)]
    assert case_of("csv", 3, seed=8).digest != case_of("csv", 3, seed=7).digest


def _parts(name: str) -> tuple[str, int]:
    kind, number = name.split(":")
    return kind, int(number)


def test_every_kind_has_an_honest_file_and_few_cases_are_left_as_they_were():
    honest = {seed.content for of_kind in seeds().values() for seed in of_kind}
    made = [case_of(kind, number) for kind in KINDS for number in range(8)]

    assert set(seeds()) == set(KINDS)
    assert sum(case.content in honest for case in made) < 0.1 * len(made)


@pytest.mark.slow
def test_no_mutated_file_breaks_a_page_loses_a_worker_or_fills_the_web_process(plain_site):
    results: list[Finding] = []
    plain_site.env |= UNLIMITED
    for kind in ("web", "worker", "sweeper"):
        plain_site.start(kind)

    with closing(
        Drive(RunningSite(plain_site), lambda outcome, case: results.append(outcome))
    ) as drive:
        drive.warm_up(["csv", "parquet", "png"])
        drive.run(cases(FILES, seed=0))

    assert [(result.case, result.signature) for result in results] == []
    assert sum(count.files for count in drive.counts.values()) == FILES
    assert drive.web_at_end - drive.web_at_start < MAY_GROW_BY
