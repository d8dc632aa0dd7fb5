"""Clusters that only a chain of links holds together, taken apart."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchwright.families.clustering import agglomerated, clusters_of
from benchwright.families.similarity import Progress
from benchwright.families.vectors import Matrix
from benchwright.recipes.families import Linkage

# Why a cluster was looked at once more.
LARGE = "large"
LOOSE = "loose"
CHAINED = "chained"

# A cluster of more nodes is first taken apart by asking for more similarity, step by step.
_LARGEST_MATRIX = 4_000
_STEP = 0.05
_TOLD_EVERY = 1_000


@dataclass(frozen=True)
class Edges:
    """Links between nodes; `is_said` where a person or a file said that both are one need."""

    a: Any
    b: Any
    similarity: Any
    is_said: Any

    def inside(self, labels: Any) -> "Edges":
        """Those between two nodes of one cluster, and not of a node with itself."""
        return self.at((labels[self.a] == labels[self.b]) & (self.a != self.b))

    def at(self, places: Any) -> "Edges":
        return Edges(self.a[places], self.b[places], self.similarity[places], self.is_said[places])


@dataclass(frozen=True)
class Part:
    """Nodes that stay together, and why their cluster was looked at once more, if it was.

    `cluster` is the number of the cluster they are of; `least` is the similarity of the two that
    are least alike, where it was looked at.
    """

    nodes: Any
    cluster: int
    why: str = ""
    least: float = 1.0


@dataclass(frozen=True)
class Cap:
    """When a cluster is looked at once more, and how it is cut then.

    It is when it has more than `largest` nodes, or two that are less alike than `least`; it is cut
    by `method` into parts that are `recut_at` alike.
    """

    largest: int
    least: float
    recut_at: float
    method: Linkage


def parts_of(
    labels: Any, edges: Edges, rows: Matrix, cap: Cap, on_progress: Progress
) -> Iterator[Part]:
    """Each cluster whole, or in the parts it was cut into.

    Two nodes are as alike as their texts, or as the strongest link between them says. What a person
    said is one need stays together; so does a large cluster whose nodes are alike enough.
    """
    edges = edges.inside(labels)
    by_cluster = np.argsort(labels[edges.a], kind="stable")
    edges = edges.at(by_cluster)
    nodes = np.argsort(labels, kind="stable")
    n = int(labels.max()) + 1 if labels.size else 0
    node_bounds = np.searchsorted(labels[nodes], np.arange(n + 1))
    edge_bounds = np.searchsorted(labels[edges.a], np.arange(n + 1))
    for cluster in range(n):
        if cluster % _TOLD_EVERY == 0:
            on_progress(cluster, n)
        inside = nodes[node_bounds[cluster] : node_bounds[cluster + 1]]
        if inside.size <= 2:
            yield Part(inside, cluster)
            continue
        own = edges.at(slice(edge_bounds[cluster], edge_bounds[cluster + 1]))
        yield from _cut(cluster, inside, own, rows, cap)


def _cut(cluster: int, nodes: Any, edges: Edges, rows: Matrix, cap: Cap) -> Iterator[Part]:
    if nodes.size > _LARGEST_MATRIX:
        for part, own in _pieces(nodes, edges):
            for cut in _cut(cluster, part, own, rows, cap):
                yield Part(cut.nodes, cluster, CHAINED, cut.least)
        return
    alike = _matrix(nodes, edges, rows)
    a, b = np.searchsorted(nodes, edges.a), np.searchsorted(nodes, edges.b)
    together = clusters_of(nodes.size, a[edges.is_said], b[edges.is_said])
    alike[together[:, None] == together[None, :]] = 1.0
    lowest = float(alike.min())
    if nodes.size <= cap.largest and lowest >= cap.least:
        yield Part(nodes, cluster)
        return
    labels = agglomerated(alike, cap.recut_at, together, cap.method)
    # Without a link that says why, two halves of a part are no family.
    inside = labels[a] == labels[b]
    labels = clusters_of(nodes.size, a[inside], b[inside])
    whole = LOOSE if lowest < cap.least else LARGE
    why = CHAINED if labels.max() else whole
    for label in range(int(labels.max()) + 1):
        inside = np.flatnonzero(labels == label)
        yield Part(nodes[inside], cluster, why, float(alike[np.ix_(inside, inside)].min()))


def _matrix(nodes: Any, edges: Edges, rows: Matrix) -> Any:
    """How alike each node is to each, shape (nodes, nodes)."""
    texts = rows[nodes]
    alike = np.clip((texts @ texts.T).toarray(), 0.0, 1.0)
    a, b = np.searchsorted(nodes, edges.a), np.searchsorted(nodes, edges.b)
    np.maximum.at(alike, (a, b), edges.similarity)
    np.maximum.at(alike, (b, a), edges.similarity)
    np.fill_diagonal(alike, 1.0)
    return alike


def _pieces(nodes: Any, edges: Edges) -> Iterator[tuple[Any, Edges]]:
    """What still hangs together where more similarity is asked, in pieces that fit into memory."""
    least = float(edges.similarity.min())
    labels = np.zeros(nodes.size, np.int64)
    a, b = np.searchsorted(nodes, edges.a), np.searchsorted(nodes, edges.b)
    while np.bincount(labels).max() > _LARGEST_MATRIX and least < 1.0:
        least += _STEP
        strong = (edges.similarity >= least) | edges.is_said
        labels = clusters_of(nodes.size, a[strong], b[strong])
    of_edge = np.where(labels[a] == labels[b], labels[a], -1)
    for label in range(int(labels.max()) + 1):
        piece = nodes[labels == label]
        for start in range(0, piece.size, _LARGEST_MATRIX):
            part = piece[start : start + _LARGEST_MATRIX]
            own = edges.at(of_edge == label)
            inside = np.isin(own.a, part) & np.isin(own.b, part)
            yield part, own.at(inside)
