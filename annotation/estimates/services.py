"""Means of runs from the labels of drawn documents, and differences of two, with intervals.

They are worked out once for each state of the ledger, of families, of rule and of machine's grades.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import inf
from typing import TYPE_CHECKING, Any

from django.core.cache import cache

from annotation.common.selectors.ledger import last_event_of
from annotation.common.selectors.policies import policy_of
from annotation.estimates.errors import (
    OtherStrategyError,
    PopulationChangedError,
    RunOutsideError,
    UnlabelledError,
)
from annotation.estimates.selectors import (
    Grades,
    Guess,
    drawn_entries,
    families_then,
    grades_by_rule,
    guess_of,
)
from annotation.models import Pool
from annotation.pools.services.planning import population_for, top_of
from benchmarks_app.common.selectors.qrel_sets import gains_of, machine_sets, relevant_values
from benchmarks_app.models import Run, User
from benchmarks_app.queries.selectors import queries_drawn
from benchwright.errors import BenchmarkError
from benchwright.pools import Recipe, recipe_of
from benchwright.texts.counting import first_of

if TYPE_CHECKING:
    from benchwright.estimation.documents import DocumentDraw, DocumentEstimate
    from benchwright.estimation.populations import Population
    from benchwright.pools import Pair
    from benchwright.statistics.families import Floats

KEPT_SECONDS = 24 * 3600
NAMED_AT_MOST = 3
# Of a stored probability and the one that is worked out anew.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Estimated:
    """A mean, or a difference of two, with its 95 % interval, from `n_labels` of the documents."""

    value: float
    low: float
    high: float
    n_labels: int
    n_documents: int


@dataclass(frozen=True)
class RunEstimate:
    """A run with its mean; `difference` is less the reference's, None of the reference itself."""

    run: str
    mean: Estimated
    difference: Estimated | None = None


@dataclass(frozen=True)
class Estimates:
    """What a pool's labels say of its runs, the best first; `error` is why there are none.

    `guess` is the set of a machine's grades that helped, `incomplete` one that did not as it has
    `n_guessed` of the documents alone. `n_cant_judge` drawn documents count 0.
    """

    measure: str
    n_documents: int
    n_queries: int
    n_drawn: int
    n_labelled: int = 0
    n_cant_judge: int = 0
    n_families: int = 0
    as_of: int = 0
    reference: str = ""
    guess: str = ""
    incomplete: str = ""
    n_guessed: int = 0
    rows: tuple[RunEstimate, ...] = ()
    warnings: tuple[str, ...] = ()
    error: BenchmarkError | None = None

    @property
    def refusal(self) -> str:
        return str(self.error or "")

    @property
    def n_lacking(self) -> int:
        return self.n_drawn - self.n_labelled - self.n_cant_judge

    @property
    def sentence(self) -> str:
        """What decides: who is best, and whom it is ahead of."""
        if self.error:
            return self.refusal
        others = [(row.run, row.difference) for row in self.rows if row.difference]
        means = {row.run: row.mean for row in self.rows}
        reference = means[self.reference]
        about = f"{self.reference} has an estimated {self.measure} of {_spoken(reference)}"
        if not others:
            return f"{about}."
        ahead = [run for run, of in others if of.high < 0]
        behind = [run for run, of in others if of.low > 0]
        open_ = [run for run, of in others if of.low <= 0 <= of.high]
        clauses = [
            f"{words} {first_of(runs, NAMED_AT_MOST)}"
            for words, runs in (
                ("ahead of", ahead),
                ("behind", behind),
                ("not told apart from", open_),
            )
            if runs
        ]
        return f"{about}: {'; '.join(clauses)}."


def _spoken(of: Estimated) -> str:
    return f"{of.value:.3f} ({of.low:.3f} to {of.high:.3f})"


def estimates_of(pool: Pool, user: User, *, against: str = "") -> Estimates:
    """The estimates of a pool's runs that a person may see, with differences to `against`.

    By default to the run with the highest mean.

    Raises
    ------
    OtherStrategyError
        If its documents were not drawn for estimates.
    RunOutsideError
        If `against` is none of its runs.
    """
    if not pool.is_for_estimates:
        raise OtherStrategyError(pool=pool.name)
    visible = Run.objects.visible_to(user).filter(pools=pool).order_by("name")
    runs = list(visible.values_list("name", flat=True))
    if against and against not in runs:
        raise RunOutsideError(run=against, pool=pool.name, known=", ".join(runs))
    families = families_then(pool)
    kept_as = _key(pool, families, runs, against)
    estimates: Estimates | None = cache.get(kept_as)
    if estimates is None:
        estimates = _estimates(pool, families, runs, against)
        cache.set(kept_as, estimates, KEPT_SECONDS)
    return estimates


def _key(pool: Pool, families: Mapping[str, str], runs: Sequence[str], against: str) -> str:
    """Named for all that estimates follow from."""
    benchmark = pool.benchmark
    policy = policy_of(benchmark)
    facts = (
        *(pool.pk, pool.created_at.timestamp(), pool.digest, runs, against),
        *(last_event_of(benchmark), policy.rule.name, policy.rule.version, policy.settings),
        *(sorted(families.items()), sorted(relevant_values(benchmark))),
        list(machine_sets(benchmark).values_list("pk", "created_at")),
    )
    return f"estimates-{sha256(repr(facts).encode()).hexdigest()}"


def _estimates(
    pool: Pool, families: Mapping[str, str], runs: Sequence[str], against: str
) -> Estimates:
    benchmark, population = pool.benchmark, pool.parameters["population"]
    recipe = recipe_of(pool.strategy, pool.order, pool.seed, pool.parameters)
    drawn, as_of = drawn_entries(pool), last_event_of(benchmark)
    facts: dict[str, Any] = {
        "measure": f"{recipe.measure.upper()}@{recipe.depth}",
        "n_documents": population["n_documents"],
        "n_queries": population["n_queries"],
        "n_drawn": len(drawn),
        "as_of": as_of,
    }
    try:
        grades = grades_by_rule(benchmark, as_of, drawn)
        facts |= {"n_labelled": len(grades.of), "n_cant_judge": len(grades.cant_judge)}
        lacking = len(drawn) - len(grades.of) - len(grades.cant_judge)
        if lacking:
            raise UnlabelledError(n=lacking, n_drawn=len(drawn))
        basis = _basis(pool, recipe, families, grades)
        facts |= _said_of_machine(basis.guess) | _rows(basis, runs, against)
    except BenchmarkError as error:
        facts["error"] = error
    return Estimates(**facts)


@dataclass(frozen=True)
class _Basis:
    """What every mean of a pool rests on; gains are NaN where a document was not drawn."""

    population: Population
    draw: DocumentDraw
    gains: Floats
    guess: Guess
    family_of: list[str]

    @property
    def most(self) -> float:
        """What a mean can be at most."""
        return 1.0 if self.population.measure == "P" else inf

    def estimate(self, amounts: Floats, *, least: float = 0.0) -> DocumentEstimate:
        import numpy as np

        from benchwright.estimation.documents import document_mean

        guess = self.guess
        return document_mean(
            amounts,
            self.gains,
            self.draw,
            self.population.of_query,
            n_queries=len(self.population.queries),
            families=self.family_of,
            machine=np.array(guess.grades, dtype=np.int64) if guess.qrel_set else None,
            span=(least, self.most),
        )


def _basis(pool: Pool, recipe: Recipe, families: Mapping[str, str], grades: Grades) -> _Basis:
    import numpy as np

    population = _population(pool, recipe, families)
    draw = _draw(pool, recipe, population)
    gain = gains_of(pool.benchmark, population.measure)
    # Who could not judge a document leaves it without a grade: boards count such a one 0.
    gain_of_pair = dict.fromkeys(grades.cant_judge, 0.0)
    gain_of_pair |= {pair: gain(grade) for pair, grade in grades.of.items()}
    return _Basis(
        population,
        draw,
        gains=np.array([gain_of_pair.get(pair, np.nan) for pair in population.pairs]),
        guess=guess_of(pool.benchmark, population.pairs),
        family_of=[families[qid] for qid in population.queries],
    )


def _rows(basis: _Basis, runs: Sequence[str], against: str) -> dict[str, object]:
    """The runs, the best first, each with its difference to the reference."""
    amounts = {run: basis.population.amounts(run) for run in runs}
    means = {run: basis.estimate(amounts[run]) for run in runs}
    best_first = sorted(runs, key=lambda run: (-means[run].mean, run))
    reference = against or best_first[0]
    differences = {
        run: _estimated(basis.estimate(amounts[run] - amounts[reference], least=-basis.most))
        for run in best_first
        if run != reference
    }
    return {
        "rows": tuple(
            RunEstimate(run, _estimated(means[run]), differences.get(run)) for run in best_first
        ),
        "reference": reference,
        "n_families": len(set(basis.family_of)),
        "warnings": means[reference].warnings,
    }


def _said_of_machine(guess: Guess) -> dict[str, object]:
    return {
        "guess": guess.qrel_set.name if guess.qrel_set else "",
        "incomplete": guess.incomplete.name if guess.incomplete else "",
        "n_guessed": guess.n,
    }


def _estimated(of: DocumentEstimate) -> Estimated:
    return Estimated(of.mean, of.low, of.high, of.n_labels, of.n_documents)


def _population(pool: Pool, recipe: Recipe, families: Mapping[str, str]) -> Population:
    """What the pool was drawn from.

    Raises
    ------
    PopulationChangedError
        If the queries are others by now.
    """
    from benchwright.estimation.drawing import frame_of

    queries = set(families)
    if draw := pool.parameters.get("draw"):
        queries &= queries_drawn(pool.benchmark.query_draws.get(pk=draw))
    if frame_of(queries) != pool.parameters["population"]["frame"]:
        raise PopulationChangedError(what="Queries were removed or came in")
    frames = {run.name: top_of(run, recipe.depth) for run in pool.runs.order_by("name")}
    return population_for(recipe, frames, queries)


def _draw(pool: Pool, recipe: Recipe, population: Population) -> DocumentDraw:
    """The draw as it comes out again, which is that of the pool's entries.

    Raises
    ------
    PopulationChangedError
        If it is another.
    """
    draw = population.drawn(budget=recipe.labels or 0, seed=recipe.seed)
    again, stored = population.pairs_of(draw), drawn_entries(pool)
    if not _is_same(again, stored):
        raise PopulationChangedError(what="What the runs retrieved is another")
    return draw


def _is_same(again: Mapping[Pair, float], stored: Mapping[Pair, float]) -> bool:
    return again.keys() == stored.keys() and all(
        abs(again[pair] - probability) <= ROUNDING for pair, probability in stored.items()
    )
