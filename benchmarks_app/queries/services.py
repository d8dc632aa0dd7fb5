"""Families drawn at random, for people to label: what a mean of all queries may rest on."""

from uuid import uuid4

from django.db import transaction

from benchmarks_app.common.services import audit
from benchmarks_app.models import Benchmark, QueryDraw, User
from benchmarks_app.queries.selectors import families_to_draw
from benchwright.estimation.drawing import drawn
from benchwright.estimation.errors import DrawSizeError

MAX_SEED = 2**31


@transaction.atomic
def draw_families(*, benchmark: Benchmark, n: int, user: User) -> QueryDraw:
    """The first `n` families in the benchmark's order; the same number again changes nothing.

    Raises
    ------
    DrawSizeError
        If there are fewer, or more of the same families were drawn already.
    """
    Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)  # one seed, for good
    families = sorted(set(families_to_draw(benchmark).values()))
    first = benchmark.query_draws.order_by("pk").first()
    draw = drawn(families, n, seed=first.seed if first else uuid4().int % MAX_SEED)
    before = benchmark.query_draws.filter(frame=draw.frame).order_by("-n_drawn").first()
    if before is not None and before.n_drawn == n:
        return before
    least = before.n_drawn + 1 if before else 1
    if not least <= n <= len(families):
        raise DrawSizeError(n=n, least=least, most=len(families))
    row = QueryDraw.objects.create(
        benchmark=benchmark,
        seed=draw.seed,
        frame=draw.frame,
        n_population=draw.n_population,
        families=list(draw.families),
        n_drawn=n,
        created_by=user,
    )
    audit.record(
        actor=user,
        action="draw-queries",
        benchmark=benchmark,
        target=str(row),
        seed=row.seed,
        frame=row.frame,
    )
    return row
