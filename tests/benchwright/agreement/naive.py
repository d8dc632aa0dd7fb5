"""The coefficients once more, word by word from their definitions, with loops and no arrays.

`table` is a list of items, each a list of the labels it got.
"""

from itertools import combinations, permutations
from statistics import median_low


def pairs_of(labels):
    return list(permutations(labels, 2))


def percent(table):
    shares = [
        sum(a == b for a, b in pairs_of(labels)) / len(pairs_of(labels))
        for labels in table
        if len(labels) > 1
    ]
    return sum(shares) / len(shares) if shares else None


def alpha(table, distance):
    """`distance(a, b, given)` of two labels, `given` being all pairable labels."""
    known = [labels for labels in table if len(labels) > 1]
    results = [label for labels in known for label in labels]
    n = len(results)
    if len(set(results)) < 2:
        return None
    observed = (
        sum(
            sum(distance(a, b, results) for a, b in pairs_of(labels)) / (len(labels) - 1)
            for labels in known
        )
        / n
    )
    expected = sum(distance(a, b, results) for a, b in pairs_of(results)) / (n * (n - 1))
    return 1 - observed / expected


def nominal(a, b, _):
    return float(a != b)


def interval(a, b, _):
    return float(a - b) ** 2


def ordinal(a, b, given):
    low, high = min(a, b), max(a, b)
    between = sum(low <= label <= high for label in given)
    return (between - (given.count(a) + given.count(b)) / 2) ** 2 if a != b else 0.0


def gwet(table, scale, weight):
    known = [labels for labels in table if len(labels) > 1]
    if not known:
        return None
    pa = sum(
        sum(weight(a, b) for a, b in pairs_of(labels)) / len(pairs_of(labels)) for labels in known
    ) / len(known)
    graded = [labels for labels in table if labels]
    common = [sum(labels.count(k) / len(labels) for labels in graded) / len(graded) for k in scale]
    all_weights = sum(weight(a, b) for a in scale for b in scale)
    q = len(scale)
    pe = all_weights / (q * (q - 1)) * sum(p * (1 - p) for p in common)
    return (pa - pe) / (1 - pe)


def leave_one_out(labels):
    """The lower median of the others, for each label of an item; None where there are none."""
    return [
        median_low(labels[:place] + labels[place + 1 :]) if len(labels) > 1 else None
        for place in range(len(labels))
    ]


def pair_table(ratings, a, b, scale):
    """Counts of the grades that two raters gave the items they share; {item: {rater: grade}}."""
    shared = [
        (grade_of[a], grade_of[b])
        for grade_of in ratings.values()
        if a in grade_of and b in grade_of
    ]
    return [[shared.count((x, y)) for y in scale] for x in scale]


def raters_in(ratings):
    return sorted({rater for grade_of in ratings.values() for rater in grade_of})


def rater_pairs(ratings):
    return list(combinations(raters_in(ratings), 2))
