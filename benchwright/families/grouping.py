"""Queries to families: every link with its similarity and reason, every family with its doubt.

Links come from equal keys, similar wording, similar embeddings, shared relevant documents, the
file the queries came from, and people. What hangs together is a family, unless a person said that
two of its members differ, or only a chain holds it together. The same queries and options give
the same families, whatever the order.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from typing import Any

import numpy as np

from benchwright.families.clustering import (
    clusters_of,
    kept_apart,
    numbered,
    spanning_links,
)
from benchwright.families.cutting import CHAINED, LOOSE, Cap, Edges, Part, parts_of
from benchwright.families.embeddings import Embeddings
from benchwright.families.errors import GroupingOptionError
from benchwright.families.keys import DEFAULT_LANGUAGE
from benchwright.families.linking import (
    REASONS,
    Link,
    LinkTable,
    Progress,
    QueryText,
    Reason,
    Wordings,
    link_alike,
    link_answered_alike,
    link_bags,
    link_close,
    link_equal,
    link_known,
)
from benchwright.recipes import families
from benchwright.recipes.families import Linkage
from benchwright.recipes.parameters import check
from benchwright.texts.counting import counted

# --- Queries to families: every link with its similarity and reason, every family with its doubt.

ALGORITHM = "families-1"
# Why a family waits for review: besides a cluster that was cut (`cutting`), a link in doubt.
DOUBTFUL = "doubtful"


@dataclass(frozen=True, slots=True)
class Family:
    """Queries in the order of their ids' bytes.

    `doubt` is 1 less the similarity of the weakest link that the family needs to hang together; of
    one that may be a chain, of the two members least alike. `is_flagged` says that a person should
    look, and `why`: "doubtful", "loose" (two members are unlike), "chained" (it was cut out of a
    larger one) or "large". `needs` are the similarities of the links that hold it together, where
    they are not sure beforehand, the weakest first.
    """

    members: tuple[str, ...]
    doubt: float = 0.0
    is_flagged: bool = False
    why: str = ""
    needs: tuple[float, ...] = ()

    @property
    def name(self) -> str:
        """The id that a families file names it by: its first member's."""
        return self.members[0]


@dataclass(frozen=True)
class GroupingOptions:
    """From where on queries are linked, and when a family is taken apart.

    Links of `merge_at` and more join queries without a question; from `review_at` on they join
    them for splitting, and the family waits for review. A family of more than `largest` wordings,
    or with two that are less alike than `least_similarity`, may be a chain: it is cut into parts
    that are `recut_at` alike, on average or each with each (`recut_by`), and waits for review.
    """

    merge_at: float = families.MERGE_AT.default
    review_at: float = families.REVIEW_AT.default
    embedding_at: float = families.EMBEDDING_AT.default
    # Cosine of static vectors; below `merge_at` such a family waits for review as any other.
    paraphrase_at: float = families.PARAPHRASE_AT.default
    relevant_at: float = families.RELEVANT_AT.default
    largest: int = families.LARGEST.default
    least_similarity: float = families.LEAST_SIMILARITY.default
    recut_at: float = families.RECUT_AT.default
    recut_by: Linkage = families.RECUT_BY.default
    language: str = DEFAULT_LANGUAGE
    minhash_above: int = 100_000
    # Kept of each query beside those that hold its family together.
    links_a_query: int = 20

    def __post_init__(self) -> None:
        check(families.GROUPING, self)
        if self.review_at > self.merge_at:
            expected = f"at most merge_at ({self.merge_at})"
            raise GroupingOptionError(name="review_at", value=self.review_at, expected=expected)
        for name, least in (("minhash_above", 0), ("links_a_query", 1)):
            value = getattr(self, name)
            if value < least:
                raise GroupingOptionError(name=name, value=value, expected=f"{least} or more")

    @property
    def cap(self) -> Cap:
        return Cap(self.largest, self.least_similarity, self.recut_at, self.recut_by)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "GroupingOptions":
        """Options as they were kept; what they lack has its default."""
        names = {field.name for field in fields(cls)}
        options = {name: value for name, value in stored.items() if name in names}
        if "recut_by" in options:
            options["recut_by"] = Linkage(options["recut_by"])
        return cls(**options)


@dataclass(frozen=True)
class Known:
    """What is known beforehand: links given, and what people said of pairs.

    A pair of `same` is joined before any other, those named first the earliest. A pair of
    `different` never comes together: where it contradicts pairs of `same` through others, the last
    of these is left out.
    """

    links: Sequence[Link] = ()
    same: Sequence[tuple[str, str]] = ()
    different: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class GroupedQueries:
    """Families in the order of their first ids, links in the order of theirs.

    `refused` are the links that a verdict "different" kept from joining their queries; `n_recut`
    counts the clusters that were looked at once more, and cut where they are chains; `is_sampled`
    says that pairs were looked for by MinHash; `n_without_embedding` counts queries that a given
    file of embeddings lacks.
    """

    families: tuple[Family, ...]
    links: tuple[Link, ...]
    refused: tuple[Link, ...] = ()
    n_recut: int = 0
    is_sampled: bool = False
    n_without_embedding: int = 0

    @property
    def n_flagged(self) -> int:
        return sum(family.is_flagged for family in self.families)


def grouped(
    queries: Sequence[QueryText],
    options: GroupingOptions | None = None,
    *,
    known: Known | None = None,
    embeddings: Embeddings | None = None,
    paraphrases: Embeddings | None = None,
    on_progress: Progress | None = None,
) -> GroupedQueries:
    """The families of the queries, and why.

    Parameters
    ----------
    queries
        Each id once; ids of `known` and `embeddings` that are not among them are passed over.
    paraphrases
        Static vectors (`paraphrases.static_embeddings`), linked from `paraphrase_at` on.

    Examples
    --------
    >>> queries = [QueryText("1", "Do goldfish grow?"), QueryText("2", "do golddish grow"),
    ...            QueryText("3", "do goldfish grow"), QueryText("4", "cost of a house")]
    >>> found = grouped(queries)
    >>> [(family.members, family.is_flagged) for family in found.families]
    [(('1', '2', '3'), True), (('4',), False)]
    >>> [(link.a, link.b, link.reason.value) for link in found.links]
    [('1', '2', 'text'), ('1', '3', 'exact')]
    """
    if not queries:
        return GroupedQueries((), ())
    return _Grouping(queries, options or GroupingOptions(), known or Known(), on_progress).done(
        embeddings, paraphrases
    )


class _Grouping:
    """One grouping under way: queries in the order of their ids, links between them."""

    def __init__(
        self,
        queries: Sequence[QueryText],
        options: GroupingOptions,
        known: Known,
        on_progress: Progress | None,
    ) -> None:
        self.options = options
        self.known = known
        self.tell = on_progress or (lambda what, done, total: None)
        self.queries = sorted(queries, key=lambda query: query.qid.encode())
        self.place = {query.qid: n for n, query in enumerate(self.queries)}
        self.different = self._places(known.different)
        self.wordings = Wordings(self.queries, self.different.tolist())
        self.links = LinkTable()

    def _places(self, pairs: Sequence[tuple[str, str]]) -> Any:
        """Pairs of ids that are there, as places."""
        places = [(self.place[a], self.place[b]) for a, b in pairs if {a, b} <= self.place.keys()]
        return np.array([pair for pair in places if pair[0] != pair[1]], np.int64).reshape(-1, 2)

    def done(self, embeddings: Embeddings | None, paraphrases: Embeddings | None) -> GroupedQueries:
        is_sampled = self._link(embeddings, paraphrases)
        making = partial(self.tell, "Making families")
        making(0, 1)
        edges = self._edges()
        labels, refused = self._clusters(edges)
        parts = list(parts_of(labels, edges, self.wordings.rows, self.options.cap, making))
        del self.wordings.rows  # a quarter of the memory, which families and links need now
        labels = _labels(parts, self.wordings.n)
        forest = self._forest(edges, labels)
        n_recut = len({part.cluster for part in parts if part.why})
        missing = set(self.place) - set(embeddings.ids) if embeddings else ()
        return GroupedQueries(
            families=self._families(parts, edges, forest),
            links=self.links.told(self.queries, self._kept(forest)),
            refused=self.links.told(self.queries, refused),
            n_recut=n_recut,
            is_sampled=is_sampled,
            n_without_embedding=len(missing),
        )

    def _link(self, embeddings: Embeddings | None, paraphrases: Embeddings | None) -> bool:
        options = self.options
        link_known(self.links, self.known.links, self.place)
        link_equal(self.links, self.wordings)
        is_sampled = link_alike(
            self.links,
            self.wordings,
            least=options.review_at,
            minhash_above=options.minhash_above,
            tell=self.tell,
        )
        link_bags(self.links, self.wordings, options.language)
        for vectors, least in (
            (embeddings, options.embedding_at),
            (paraphrases, options.paraphrase_at),
        ):
            if vectors:
                link_close(self.links, self.queries, vectors, least=least, tell=self.tell)
        link_answered_alike(self.links, self.queries, least=options.relevant_at, tell=self.tell)
        return is_sampled

    def _edges(self) -> Edges:
        """The links between wordings, and after them what people said is the same.

        What a file says is one family is said as well: its links need no likeness of words.
        """
        same = self._places(self.known.same)
        node, links = self.wordings.node, self.links
        return Edges(
            a=node[np.append(links.a, same[:, 0])],
            b=node[np.append(links.b, same[:, 1])],
            similarity=np.append(links.similarity, np.ones(len(same))),
            is_said=np.append(
                links.reason <= REASONS.index(Reason.GIVEN), np.ones(len(same), bool)
            ),
        )

    def _clusters(self, edges: Edges) -> tuple[Any, Any]:
        """The cluster of each wording, and the places of the links that a verdict refused."""
        labels = clusters_of(self.wordings.n, edges.a, edges.b)
        apart = self.wordings.node[self.different]
        torn = np.unique(labels[apart[labels[apart[:, 0]] == labels[apart[:, 1]]]])
        if not torn.size:
            return labels, np.empty(0, np.int64)
        nodes = np.flatnonzero(np.isin(labels, torn))
        apart = apart[np.isin(labels[apart], torn).all(axis=1)]
        order = np.lexsort((edges.b, edges.a, -edges.similarity, ~edges.is_said))
        order = order[np.isin(labels[edges.a[order]], torn)]
        pairs = list(zip(edges.a[order].tolist(), edges.b[order].tolist(), strict=True))
        root, left_out = kept_apart(nodes.tolist(), pairs, apart.tolist())
        labels[nodes] = [self.wordings.n + root[node] for node in nodes.tolist()]
        is_refused = np.isin(order, order[[pair in left_out for pair in pairs]])
        return numbered(labels), order[is_refused & (order < self.links.a.size)]

    def _forest(self, edges: Edges, labels: Any) -> Any:
        """Which edges hold the families together at their strongest."""
        inside = np.flatnonzero((labels[edges.a] == labels[edges.b]) & (edges.a != edges.b))
        own = edges.at(inside)
        is_spanning = np.zeros(edges.a.size, bool)
        low, high = np.minimum(own.a, own.b), np.maximum(own.a, own.b)
        is_spanning[inside] = spanning_links(self.wordings.n, low, high, own.similarity)
        return is_spanning

    def _families(self, parts: Sequence[Part], edges: Edges, forest: Any) -> tuple[Family, ...]:
        weakest = np.ones(self.wordings.n)
        labels = _labels(parts, self.wordings.n)
        np.minimum.at(weakest, labels[edges.a[forest]], edges.similarity[forest])
        by_label = np.argsort(labels[self.wordings.node], kind="stable")
        bounds = np.flatnonzero(np.diff(labels[self.wordings.node][by_label], prepend=-1))
        why = {int(labels[part.nodes[0]]): part for part in parts}
        needs: dict[int, list[float]] = {}
        for place in np.flatnonzero(forest & (edges.similarity < 1)):
            needs.setdefault(int(labels[edges.a[place]]), []).append(float(edges.similarity[place]))
        families = [
            self._family(members, why[label], float(weakest[label]), needs.get(label, ()))
            for label, members in enumerate(np.split(by_label, bounds[1:]))
        ]
        return tuple(sorted(families, key=lambda family: family.name.encode()))

    def _family(self, members: Any, part: Part, weakest: float, needs: Sequence[float]) -> Family:
        qids = tuple(self.queries[n].qid for n in members.tolist())
        similarity = part.least if part.why in (CHAINED, LOOSE) else weakest
        if len(qids) == 1:
            return Family(qids)
        is_doubtful = similarity < self.options.merge_at - 1e-6
        why = part.why or (DOUBTFUL if is_doubtful else "")
        return Family(qids, max(0.0, 1.0 - similarity), bool(why), why, tuple(sorted(needs)))

    def _kept(self, forest: Any) -> Any:
        """Places of the links to tell: what holds families together, and each query's strongest."""
        links, n = self.links, self.options.links_a_query
        is_kept = forest[: links.a.size] | (links.reason <= REASONS.index(Reason.EXACT))
        for ends in (links.a, links.b):
            order = np.lexsort((links.b, links.a, -links.similarity, ends))
            starts = np.searchsorted(ends[order], ends[order])
            is_kept[order[np.arange(order.size) - starts < n]] = True
        return np.flatnonzero(is_kept)


def _labels(parts: Sequence[Part], n: int) -> Any:
    """The number of the part that each node is in, by their first nodes."""
    labels = np.empty(n, np.int64)
    for number, part in enumerate(parts):
        labels[part.nodes] = number
    return numbered(labels)


# --- What a threshold costs: how many families would wait for a person, and for how many answers.

SHOWN = (0.60, 0.65, 0.70, 0.75, 0.80, 0.85, 0.90)


@dataclass(frozen=True, slots=True)
class ReviewCost:
    """Reviews where links from `merge_at` on join without a question.

    `n_families` would wait, with `n_queries` in them: that many answers where each family is
    answered as a whole, and is one need. `n_pairs` are the answers of somebody who goes from pair
    to pair: links in doubt that a family needs to hang together. Copies count once, and need none.
    """

    merge_at: float
    n_families: int
    n_queries: int
    n_pairs: int

    def __str__(self) -> str:
        return (
            f"merge at {self.merge_at:.2f}: {counted(self.n_families, 'family')} of "
            f"{counted(self.n_queries, 'query')} {'waits' if self.n_families == 1 else 'wait'} "
            f"for review, {counted(self.n_pairs, 'pair')} in doubt"
        )


def review_costs(
    grouped_queries: GroupedQueries, thresholds: Sequence[float]
) -> tuple[ReviewCost, ...]:
    """The reviews at each `merge_at`; all else is as the queries were grouped.

    Which families there are does not depend on `merge_at`, only which of them wait: chains that
    were looked at once more do at any.
    """
    return tuple(_cost(grouped_queries.families, at) for at in thresholds)


def _cost(families: Sequence[Family], merge_at: float) -> ReviewCost:
    sure_from = merge_at - 1e-6
    waiting = [
        family
        for family in families
        if family.why not in ("", DOUBTFUL) or any(need < sure_from for need in family.needs)
    ]
    # A chain may hang together by sure links alone: then its least alike two are asked for.
    pairs = [sum(need < sure_from for need in family.needs) or 1 for family in waiting]
    n_queries = sum(len(family.members) for family in waiting)
    return ReviewCost(merge_at, len(waiting), n_queries, sum(pairs))
