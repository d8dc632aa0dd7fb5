"""What files say of queries beside their texts: families, weights and slices."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.urls import reverse

from benchmarks_app.collections.services.part_rows import PartFile, said_apart
from benchmarks_app.collections.services.staging import ROWS_PER_BATCH, Import
from benchmarks_app.common.services.exposure import refuse_hiding
from benchmarks_app.families.services.changes import STATES, judge_anew, states_of
from benchmarks_app.models import Benchmark, FamilyChange, FamilyLink, Query, QueryFamily, Slice
from benchmarks_app.slices.services import importing_slices, records
from benchwright.detection import FileKind
from benchwright.files.external_sort import batched
from benchwright.formats.errors import FamilyOnTwoSidesError, NothingImportedError
from benchwright.texts.counting import counted
from benchwright.uploads.row_streams import pairs_said, slices_said

# Read before the queries, whose rows they complete.
FAMILIES_FIRST = (FileKind.FAMILIES, FileKind.WEIGHTS)
NAMED_AT_MOST = 3


@dataclass
class Said:
    """Families by name and weights, by query id, and which file names it.

    `rows` are the families written so far.
    """

    families: dict[str, str] = field(default_factory=dict)
    weights: dict[str, float] = field(default_factory=dict)
    rows: dict[str, QueryFamily] = field(default_factory=dict)
    file_of: dict[str, str] = field(default_factory=dict)

    def family_of(self, qid: str, named: str) -> str:
        """What the family of a query is called: as a file of families or its own row says."""
        if qid in self.families:
            return self.families[qid]
        return named or f"\0{qid}"


def read_said(work: Import, files: Sequence[PartFile]) -> Said:
    """Read the files of families and of weights."""
    annotations = Said()
    for file in files:
        pairs = said_apart(work.problems, pairs_said, file.place, file.part.kind)
        annotations.file_of |= dict.fromkeys(pairs, file.place.shown)
        if file.part.kind is FileKind.FAMILIES:
            annotations.families |= pairs
        else:
            annotations.weights |= pairs
        if not pairs and not work.problems.found:
            raise NothingImportedError(file=file.place.shown, what="query")
    return annotations


def stage_said(work: Import, statements: Said) -> None:
    """Have the commit do what files say of queries that were here before.

    Raises
    ------
    FamilyOnTwoSidesError
        If queries that are to be one family are in two splits.
    ExposedQueriesError
        If a family would hide grades that were public.
    """
    if not statements.families and not statements.weights:
        return
    here = {
        row["qid"]: row
        for row in Query.objects.filter(benchmark=work.benchmark, staged_by=None).values(
            "pk", "qid", "family_id", "family__split"
        )
    }
    known_qids = here.keys() | work.staged_qids
    if not work.lacks_queries:
        _tell_unknown(work, statements, known_qids)
    if statements.families:
        groups = _groups(statements.families, here)
        _refuse_two_sides(work, groups)
        n = len({name for qid, name in statements.families.items() if qid in known_qids})
        n_queries = len(known_qids & statements.families.keys())
        work.outcomes.append(f"{counted(n, 'family')} of {counted(n_queries, 'query')}")
        work.on_commit.append(lambda: _regroup(work, statements.families, groups))
    if statements.weights:
        n_queries = len(known_qids & statements.weights.keys())
        work.outcomes.append(f"weights of {counted(n_queries, 'query')}")
        old = {
            row["pk"]: statements.weights[qid]
            for qid, row in here.items()
            if qid in statements.weights
        }
        work.on_commit.append(lambda: _weigh(old))


def _tell_unknown(work: Import, annotations: Said, known_qids: Iterable[str]) -> None:
    for qid in sorted(annotations.file_of.keys() - set(known_qids))[:20]:
        problem = f"query '{qid}' is not in the benchmark. Import its text first, or drop the line."
        work.problems.add(annotations.file_of[qid], 0, problem)


def _groups(families: Mapping[str, str], here: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The queries that were here before, by the name that a file gives their family."""
    groups: defaultdict[str, list[Any]] = defaultdict(list)
    for qid, name in families.items():
        if qid in here:
            groups[name].append(here[qid])
    return dict(groups)


def _refuse_two_sides(work: Import, groups: Mapping[str, list[Any]]) -> None:
    examples, hidden = [], []
    for rows in groups.values():
        sides = {row["family__split"]: row["qid"] for row in rows if row["family__split"]}
        if len(sides) > 1:
            examples.append(", ".join(f"{qid} is in {split}" for split, qid in sides.items()))
        elif set(sides) & set(work.benchmark.hidden_splits):
            hidden += [row["pk"] for row in rows]
    if examples:
        raise FamilyOnTwoSidesError(examples="; ".join(examples[:NAMED_AT_MOST]))
    refuse_hiding(benchmark=work.benchmark, hidden=hidden)


# --- in the commit -------------------------------------------------------------------------


def _regroup(work: Import, families: Mapping[str, str], groups: Mapping[str, list[Any]]) -> None:
    """Put the queries that were here before into the families of the file; link all members."""
    queries = Query.objects.filter(benchmark=work.benchmark)
    rows = list(queries.values_list("qid", "pk", "family_id"))
    members: defaultdict[int, set[int]] = defaultdict(set)
    of_name: defaultdict[str, list[tuple[str, int, int]]] = defaultdict(list)
    for qid, pk, family in rows:
        members[family].add(pk)
        if qid in families:
            of_name[families[qid]].append((qid, pk, family))
    present = {family for name in groups for _, _, family in of_name[name]}
    states = states_of(present)
    moves: dict[int, int] = {}
    for name in groups:
        moves |= _moves(work, of_name[name], members)
    family_of = {pk: family for _, pk, family in rows}
    if moves:
        _write_moves(work, moves, family_of, states)
    _link(work, of_name.values())
    grown = set(moves.values())
    shrunk = {family_of[pk] for pk in moves} - grown
    _settle(work.benchmark, (present | grown) - shrunk, grown, shrunk)


def _moves(
    work: Import, group: list[tuple[str, int, int]], members: Mapping[int, set[int]]
) -> dict[int, int]:
    """{query: family} of those of a group that must move, so that they are one family alone."""
    keys = {pk for _, pk, _ in group}
    present = sorted({family for _, _, family in group})
    splits = QueryFamily.objects.filter(pk__in=present).exclude(split="")
    split = splits.values_list("split", flat=True).first() or ""
    own = next((family for family in present if members[family] <= keys), None)
    if own is None:
        own = QueryFamily.objects.create(benchmark=work.benchmark, split=split).pk
    elif split:
        QueryFamily.objects.filter(pk=own).update(split=split)
    return {pk: own for _, pk, family in group if family != own}


def _write_moves(
    work: Import,
    moves: Mapping[int, int],
    family_of: Mapping[int, int],
    states: Mapping[str, Any],
) -> None:
    touched = {family_of[pk] for pk in moves} | set(moves.values())
    before: defaultdict[int, list[int]] = defaultdict(list)
    after: defaultdict[int, list[int]] = defaultdict(list)
    for pk, family in family_of.items():
        if family in touched:
            before[family].append(pk)
        if moves.get(pk, family) in touched:
            after[moves.get(pk, family)].append(pk)
    by_family: defaultdict[int, list[int]] = defaultdict(list)
    for pk, family in moves.items():
        by_family[family].append(pk)
    for family, keys in by_family.items():
        for some in batched(keys, ROWS_PER_BATCH):
            Query.objects.filter(pk__in=some).update(family=family)
    for some in batched(sorted(touched), ROWS_PER_BATCH):
        QueryFamily.objects.filter(pk__in=some, queries=None).delete()
    FamilyChange.objects.create(
        benchmark=work.benchmark,
        kind=FamilyChange.Kind.GROUP,
        # With their splits, which an undoing gives back.
        before={**_named(before), STATES: {key: states[key] for key in _named(before)}},
        after={**_named(after), STATES: states_of(after)},
        actor=work.upload.owner,
    )


def _settle(benchmark: Benchmark, named: set[int], grown: set[int], shrunk: set[int]) -> None:
    """Families that the file names are in no doubt; who reviewed others has not seen these.

    What is left of a family waits for review only if it did so before.
    """
    for keys in batched(sorted(named), ROWS_PER_BATCH):
        QueryFamily.objects.filter(pk__in=keys).update(doubt=0.0, is_flagged=False)
    for keys in batched(sorted(grown), ROWS_PER_BATCH):
        QueryFamily.objects.filter(pk__in=keys).update(reviewed_by=None, reviewed_at=None)
    waiting = QueryFamily.objects.filter(benchmark=benchmark, is_flagged=True)
    judge_anew(benchmark, shrunk.intersection(waiting.values_list("pk", flat=True)))


def _named(members: Mapping[int, list[int]]) -> dict[str, list[int]]:
    return {str(family): sorted(queries) for family, queries in members.items()}


def _link(work: Import, groups: Iterable[list[tuple[str, int, int]]]) -> None:
    """Say why they are one family: from its smallest id to each of the others."""
    for some in batched(_given_links(work, groups), ROWS_PER_BATCH):
        FamilyLink.objects.bulk_create(some, ignore_conflicts=True)


def _given_links(
    work: Import, groups: Iterable[list[tuple[str, int, int]]]
) -> Iterator[FamilyLink]:
    for group in groups:
        first, *others = sorted(group, key=lambda row: row[0].encode())
        for other in others:
            a, b = sorted((first[1], other[1]))
            yield FamilyLink(
                benchmark=work.benchmark,
                query_a_id=a,
                query_b_id=b,
                reason=FamilyLink.Reason.GIVEN,
                similarity=1.0,
            )


def _weigh(weights: Mapping[int, float]) -> None:
    by_weight: defaultdict[float, list[int]] = defaultdict(list)
    for pk, weight in weights.items():
        by_weight[weight].append(pk)
    for weight, keys in by_weight.items():
        for some in batched(keys, ROWS_PER_BATCH):
            Query.objects.filter(pk__in=some).update(weight=weight)


# --- slices --------------------------------------------------------------------------------


def stage_slices(work: Import, files: Sequence[PartFile]) -> None:
    """Have the commit put queries into slices as the files say."""
    if not files:
        return
    registered = Slice.objects.filter(benchmark=work.benchmark, is_registered=True)
    names = registered.values_list("name", flat=True)
    refusals = {name: records.registered_refusal(name) for name in names}
    known_qids = set(work.benchmark.queries.committed().values_list("qid", flat=True))
    known_qids |= work.staged_qids
    queries_of: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for file in files:
        read = said_apart(work.problems, slices_said, file.place, known_qids, refusals)
        for name, qids in read.items():
            queries_of[name] |= qids
    if not queries_of and not work.problems.found:
        raise NothingImportedError(file=files[0].place.shown, what="slice")
    n_queries = sum(map(len, queries_of.values()))
    work.outcomes.append(
        f"{counted(len(queries_of), 'slice')} of {counted(n_queries, 'query')} in all"
    )
    work.on_commit.append(lambda: _put(work, queries_of))


def _put(work: Import, queries_of: Mapping[str, Iterable[str]]) -> None:
    keys = dict(work.benchmark.queries.values_list("qid", "pk"))
    for name, qids in queries_of.items():
        importing_slices.import_members(work.benchmark, name, [keys[qid] for qid in qids])
    work.url = work.url or reverse("slice-list", args=[work.benchmark.slug])
