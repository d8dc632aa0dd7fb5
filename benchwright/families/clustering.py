"""From links to clusters: what hangs together, what may not, and what only chains hold."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import scipy

from benchwright.recipes.families import Linkage

_LATER = 1e-9


def clusters_of(n: int, a: Any, b: Any) -> Any:
    """The cluster of each of `n` nodes under the links a[i]-b[i], numbered by their first node."""
    if not a.size:
        return np.arange(n)
    links = scipy.sparse.coo_array((np.ones(a.size, dtype=np.int8), (a, b)), shape=(n, n))
    return numbered(scipy.sparse.csgraph.connected_components(links, directed=False)[1])


def numbered(labels: Any) -> Any:
    """The same clusters, numbered in the order in which they first appear.

    Examples
    --------
    >>> numbered(np.array([7, 3, 7])).tolist()
    [0, 1, 0]
    """
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(first.size, dtype=np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[inverse]


def spanning_links(n: int, a: Any, b: Any, similarity: Any) -> Any:
    """Which links hold the clusters together at their strongest: a maximum spanning forest.

    A truth value for each link. Of several links between two nodes only the strongest can be in it.
    """
    # Distances of zero would count as no link.
    strongest_first = np.lexsort((b, a, -similarity))
    key = a * np.int64(n) + b
    _, first = np.unique(key[strongest_first], return_index=True)
    chosen = strongest_first[first]
    lengths = scipy.sparse.coo_array(
        (2.0 - similarity[chosen], (a[chosen], b[chosen])), shape=(n, n)
    )
    tree = scipy.sparse.csgraph.minimum_spanning_tree(lengths.tocsr()).tocoo()
    in_tree = set((tree.coords[0].astype(np.int64) * n + tree.coords[1]).tolist())
    is_spanning = np.zeros(a.size, dtype=bool)
    is_spanning[chosen] = [link in in_tree for link in key[chosen].tolist()]
    return is_spanning


def kept_apart(
    nodes: Sequence[int],
    links: Iterable[tuple[int, int]],
    different: Iterable[tuple[int, int]],
) -> tuple[dict[int, int], list[tuple[int, int]]]:
    """Clusters in which no pair of `different` comes together, and the links that were not taken.

    Links are taken in the order given, the surest first; one that would bring such a pair together,
    directly or through others, is left out. So a node between two that differ stays with the one
    it is more surely linked to.

    Returns
    -------
    tuple
        {node: the first node of its cluster}, and the links left out.
    """
    clusters = {node: [node] for node in nodes}
    of = {node: node for node in nodes}
    enemies: dict[int, set[int]] = {node: set() for node in nodes}
    for a, b in different:
        enemies[a].add(b)
        enemies[b].add(a)
    refused = []
    for a, b in links:
        first, second = of[a], of[b]
        if first == second:
            continue
        if not enemies[first].isdisjoint(clusters[second]):
            refused.append((a, b))
            continue
        if len(clusters[first]) < len(clusters[second]):
            first, second = second, first
        for node in clusters[second]:
            of[node] = first
        clusters[first] += clusters.pop(second)
        enemies[first] |= enemies.pop(second)
    least = {root: min(members) for root, members in clusters.items()}
    return {node: least[of[node]] for node in nodes}, refused


def agglomerated(similarity: Any, least: float, together: Any, method: Linkage) -> Any:
    """Clusters made by joining the two most alike, as long as they are `least` alike or more.

    Parameters
    ----------
    similarity
        Symmetric, of shape (nodes, nodes).
    together
        A group of each node; a group is never cut, however little alike its members are.
    """
    # What belongs together is joined first, also before what is word for word the same.
    distances = 1.0 - np.clip(similarity, 0.0, 1.0) + _LATER
    distances[together[:, None] == together[None, :]] = 0.0
    condensed = scipy.spatial.distance.squareform(distances, checks=False)
    tree = scipy.cluster.hierarchy.linkage(condensed, method.value)
    labels = scipy.cluster.hierarchy.fcluster(tree, 1.0 - least + 2 * _LATER, "distance")
    return numbered(labels)
