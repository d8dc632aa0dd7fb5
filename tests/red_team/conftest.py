"""Where attackers stand: a submitter's place at a public benchmark with a hidden split."""

from collections.abc import Callable

import pytest
from django.test import Client

from scoring.scores.services.scoring import Target, score_run
from tests import factories
from tests.scoring.hiding import hiding_benchmark, hiding_release


@pytest.fixture
def attack_with(tmp_path) -> Callable[[str], tuple[Client, list[int]]]:
    """A function that scores two runs of these lines for Sam; gives his client and their keys."""

    def attack_with(lines: str) -> tuple[Client, list[int]]:
        benchmark = hiding_benchmark()
        release = hiding_release(benchmark)
        sam = factories.member(benchmark, "sam", "submitter")
        keys = []
        for name in ("attack", "other"):
            run = factories.run(benchmark, lines, name=name, owner=sam)
            score_run(run=run, target=Target.of(release), folder=tmp_path / name)
            keys.append(run.pk)
        client = Client()
        client.force_login(sam)
        return client, keys

    return attack_with
