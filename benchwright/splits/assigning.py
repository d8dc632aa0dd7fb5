"""From queries and a recipe to splits; whatever the mode, families stay whole."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from itertools import accumulate

from benchwright.recipes.splits import Mode, Straddling
from benchwright.splits.balancing import Stratum, strata_by_family
from benchwright.splits.errors import (
    CutMissingError,
    CutOrderError,
    CutOutsideError,
    EmptyPeriodError,
    EmptySplitError,
    MissingDatesError,
    NothingToSplitError,
    SliceEverywhereError,
    UnknownSliceError,
)
from benchwright.splits.recipe import SPLITS, SplitRecipe
from benchwright.splits.types import (
    DROPPED,
    IN_GAP,
    LEFT_OUT,
    STRADDLES,
    Assignment,
    SplitQuery,
    family_names,
)

SHOWN_SLICES = 8


def split_queries(
    queries: Sequence[SplitQuery],
    recipe: SplitRecipe,
    given_splits: Mapping[str, str] | None = None,
) -> Assignment:
    """The split of every family, and the queries that are in none.

    `given_splits` is {query id: split} for the mode `given`, checked by `given.read_given`. The
    order of the queries does not matter.

    Raises
    ------
    SplittingError
        If the recipe cannot be followed with these queries; the message says what to do.
    """
    recipe.check()
    if not queries:
        raise NothingToSplitError
    listed = sorted(queries, key=lambda query: query.qid.encode())
    assignment = _MODES[recipe.mode](listed, recipe, given_splits or {})
    _refuse_empty(listed, recipe, assignment)
    return assignment


def _refuse_empty(
    listed: Sequence[SplitQuery], recipe: SplitRecipe, assignment: Assignment
) -> None:
    sizes = assignment.sizes
    missing = [split for split in _expected(recipe) if not sizes.get(split)]
    if not missing:
        return
    if recipe.mode == Mode.CHRONOLOGICAL:
        raise _empty_period(missing[0], listed, assignment)
    families = _sizes(listed)
    if recipe.mode == Mode.GIVEN:
        advice = "Give it queries in the file."
    else:
        advice = "Give it a larger share, or make fewer splits."
    raise EmptySplitError(
        split=missing[0],
        n_families=len(families),
        largest=max(families.values()),
        advice=advice,
    )


def _empty_period(
    split: str, listed: Sequence[SplitQuery], assignment: Assignment
) -> EmptyPeriodError:
    begins = dict(assignment.cuts).get(split)
    later = [cut for _, cut in assignment.cuts if begins is None or cut > begins]
    qids = [
        query.qid
        for query in listed
        if query.first_seen
        and (begins is None or query.first_seen >= begins)
        and not any(query.first_seen >= cut for cut in later)
    ]
    reasons = [assignment.excluded.get(qid) for qid in qids]
    return EmptyPeriodError(
        split=split,
        n=len(qids),
        n_gap=reasons.count(IN_GAP),
        n_out=reasons.count(STRADDLES) + reasons.count(DROPPED),
    )


def _expected(recipe: SplitRecipe) -> list[str]:
    if recipe.mode == Mode.GIVEN:
        return ["test"]
    if recipe.mode == Mode.CHRONOLOGICAL and recipe.test_from:
        return ["train", "dev", "test"] if recipe.dev_from else ["train", "test"]
    return [split for split in SPLITS if recipe.shares.get(split)]


def _whole(listed: Sequence[SplitQuery], families: Mapping[str, str]) -> Assignment:
    """Families of which every query is in the family's split."""
    return Assignment(families, {query.qid: families[query.family] for query in listed})


# --- by share ------------------------------------------------------------------------------


def _stratified(
    listed: Sequence[SplitQuery], recipe: SplitRecipe, given_splits: Mapping[str, str]
) -> Assignment:
    return _whole(listed, balanced_families(listed, recipe.shares, recipe.seed))


def balanced_families(
    listed: Sequence[SplitQuery], shares: Mapping[str, float], seed: int
) -> dict[str, str]:
    """{family: split} with sizes as asked and every stratum spread evenly."""
    import numpy as np  # what lists commands and forms should not wait for it

    from benchwright.splits.balancing import balanced

    strata = strata_by_family(listed)
    sizes = _sizes(listed)
    totals = _totals(strata)
    columns = {stratum: place for place, stratum in enumerate(sorted(totals), start=1)}
    drawn = _draws(listed, seed)
    families = sorted(strata, key=lambda family: drawn[family])
    contents = np.zeros((len(families), len(columns) + 1))
    for row, family in enumerate(families):
        contents[row, 0] = sizes[family]
        for stratum, n in strata[family].items():
            contents[row, columns[stratum]] = n
    rarest = [min(totals[stratum] for stratum in strata[family]) for family in families]
    # Sorting is stable, so what is equal stays in the order of the draw.
    order = sorted(range(len(families)), key=lambda row: (-contents[row, 0], rarest[row]))
    splits = [split for split in SPLITS if shares.get(split)]
    places = balanced(contents, [shares[split] for split in splits], order, seed)
    return {family: splits[place] for family, place in zip(families, places, strict=True)}


def _random(
    listed: Sequence[SplitQuery], recipe: SplitRecipe, given_splits: Mapping[str, str]
) -> Assignment:
    """Families in a random order, cut where the shares say, at the nearest end of a family."""
    sizes = _sizes(listed)
    drawn = _draws(listed, recipe.seed)
    families = sorted(sizes, key=lambda family: drawn[family])
    ends = [0, *accumulate(sizes[family] for family in families)]
    splits = [split for split in SPLITS if recipe.shares.get(split)]
    cuts = accumulate(recipe.shares[split] * ends[-1] for split in splits[:-1])
    bounds = [_nearest(ends, cut) for cut in cuts]
    assignment = {
        family: splits[bisect_right(bounds, place)] for place, family in enumerate(families)
    }
    return _whole(listed, assignment)


def _nearest(ends: Sequence[int], cut: float) -> int:
    """How many families come before a cut, which is moved to the nearest end of one."""
    above = min(bisect_left(ends, cut), len(ends) - 1)
    is_nearer_below = above > 0 and cut - ends[above - 1] < ends[above] - cut
    return above - 1 if is_nearer_below else above


def _draws(listed: Sequence[SplitQuery], seed: int) -> dict[str, bytes]:
    """{family: bytes that sort as a shuffle would}; they hang on the seed and the ids alone."""
    return {
        family: sha256(f"{seed}\t{name}".encode()).digest()
        for family, name in family_names(listed).items()
    }


def _sizes(listed: Sequence[SplitQuery]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for query in listed:
        sizes[query.family] = sizes.get(query.family, 0) + 1
    return sizes


def _totals(strata: Mapping[str, Mapping[Stratum, int]]) -> dict[Stratum, int]:
    totals: dict[Stratum, int] = {}
    for counted in strata.values():
        for stratum, n in counted.items():
            totals[stratum] = totals.get(stratum, 0) + n
    return totals


# --- by slice, by file ---------------------------------------------------------------------


def _without_slice(
    listed: Sequence[SplitQuery], recipe: SplitRecipe, given_splits: Mapping[str, str]
) -> Assignment:
    """Families with a query of the slice are the test split; the others are given out by share."""
    name = recipe.slice_name
    held_out = {query.family for query in listed if name in query.slices}
    if not held_out:
        raise UnknownSliceError(name=name, advice=_slices_there_are(listed))
    rest = [query for query in listed if query.family not in held_out]
    if not rest:
        raise SliceEverywhereError(name=name)
    shares = {split: recipe.shares.get(split, 0.0) for split in ("train", "dev")}
    whole = sum(shares.values()) or 1.0
    split_shares = {split: share / whole for split, share in shares.items() if share} or {
        "train": 1.0
    }
    assignment = balanced_families(rest, split_shares, recipe.seed)
    return _whole(listed, {**assignment, **dict.fromkeys(held_out, "test")})


def _slices_there_are(listed: Sequence[SplitQuery]) -> str:
    names = sorted({name for query in listed for name in query.slices})
    if not names:
        return "There is none yet; make a slice first."
    cut = ", …" if len(names) > SHOWN_SLICES else ""
    return f"Choose one of: {', '.join(names[:SHOWN_SLICES])}{cut}"


def _given(
    listed: Sequence[SplitQuery], recipe: SplitRecipe, given_splits: Mapping[str, str]
) -> Assignment:
    families = dict.fromkeys((query.family for query in listed), "")
    for query in listed:
        families[query.family] = given_splits[query.qid] or families[query.family]
    splits = {query.qid: given_splits[query.qid] for query in listed if given_splits[query.qid]}
    excluded = {query.qid: LEFT_OUT for query in listed if not given_splits[query.qid]}
    return Assignment(families, splits, excluded)


# --- by time -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _When:
    """In which period a query was asked (0 is before the first cut), and if in its gap."""

    period: int
    is_in_gap: bool


def _chronological(
    listed: Sequence[SplitQuery], recipe: SplitRecipe, given_splits: Mapping[str, str]
) -> Assignment:
    dated = _dated(listed)
    cuts = _cuts(sorted(dated.values()), recipe)
    gap = timedelta(days=recipe.gap_days)
    when = {qid: _when(moment, cuts, gap) for qid, moment in dated.items()}
    names = ["train", *(split for split, _ in cuts)]
    members: dict[str, list[str]] = {}
    for query in listed:
        members.setdefault(query.family, []).append(query.qid)
    families: dict[str, str] = {}
    splits: dict[str, str] = {}
    excluded: dict[str, str] = {}
    for family, qids in members.items():
        qids_kept, left_out = _divided({qid: when[qid] for qid in qids}, recipe.straddling)
        splits.update((qid, names[when[qid].period]) for qid in qids_kept)
        excluded.update(left_out)
        families[family] = names[when[qids_kept[0]].period] if qids_kept else ""
    return Assignment(families, splits, excluded, cuts)


def _dated(listed: Sequence[SplitQuery]) -> dict[str, datetime]:
    dated = {query.qid: query.first_seen for query in listed if query.first_seen}
    lacking = [query.qid for query in listed if query.qid not in dated]
    if lacking:
        raise MissingDatesError(n=len(lacking), of=len(listed), example=f"'{lacking[0]}'")
    return dated


def _cuts(moments: Sequence[datetime], recipe: SplitRecipe) -> tuple[tuple[str, datetime], ...]:
    """Where each later split begins, in the order of time."""
    if recipe.test_from is None:
        cuts = _cuts_of_shares(moments, recipe.shares)
    elif recipe.dev_from is None:
        cuts = (("test", recipe.test_from),)
    elif recipe.dev_from >= recipe.test_from:
        raise CutOrderError(dev=_day(recipe.dev_from), test=_day(recipe.test_from))
    else:
        cuts = (("dev", recipe.dev_from), ("test", recipe.test_from))
    for _, cut in cuts:
        if not moments[0] < cut <= moments[-1]:
            raise CutOutsideError(cut=_day(cut), first=_day(moments[0]), last=_day(moments[-1]))
    return cuts


def _cuts_of_shares(
    moments: Sequence[datetime], shares: Mapping[str, float]
) -> tuple[tuple[str, datetime], ...]:
    splits = [split for split in SPLITS if shares.get(split)]
    if splits[0] != "train" or len(splits) < 2:
        raise CutMissingError
    ends = accumulate(shares[split] for split in splits)
    at = [min(round(end * len(moments)), len(moments) - 1) for end in ends]
    return tuple(zip(splits[1:], (moments[place] for place in at), strict=False))


def _when(moment: datetime, cuts: Sequence[tuple[str, datetime]], gap: timedelta) -> _When:
    period = sum(moment >= cut for _, cut in cuts)
    return _When(period, period > 0 and moment < cuts[period - 1][1] + gap)


def _divided(
    members: Mapping[str, _When], straddling: Straddling
) -> tuple[list[str], dict[str, str]]:
    """Members of a family that are in its split, and the others with the reason."""
    firm = [member.period for member in members.values() if not member.is_in_gap]
    periods = {member.period for member in members.values()}
    if len(periods) > 1 and straddling == Straddling.DROP_FAMILY:
        return [], dict.fromkeys(members, DROPPED)
    period = min(firm, default=max(periods))
    qids_kept = [qid for qid, when in members.items() if when == _When(period, False)]
    return qids_kept, {
        qid: STRADDLES if when.period > period else IN_GAP
        for qid, when in members.items()
        if qid not in qids_kept
    }


def _day(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d}"


_Maker = Callable[[Sequence[SplitQuery], SplitRecipe, Mapping[str, str]], Assignment]
_MODES: Mapping[Mode, _Maker] = {
    Mode.STRATIFIED: _stratified,
    Mode.RANDOM: _random,
    Mode.CHRONOLOGICAL: _chronological,
    Mode.LEAVE_SLICE_OUT: _without_slice,
    Mode.GIVEN: _given,
}
