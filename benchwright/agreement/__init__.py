"""How far assessors agree: coefficients, intervals, and where the disagreement lies.

Labels may be missing anywhere. Where a number is undefined it says so, with the reason. Formulas
and sources are in docs/agreement.md.
"""

# Key in a report, name, note: what the page and the command tell, in this order.
COEFFICIENTS = (
    ("exact", "Same grade", "of the pairs of labels of a document; context, no more"),
    ("relevant", "Same side of relevant", "both below the relevance threshold, or neither"),
    ("alpha_ordinal", "Krippendorff's alpha, ordinal", "any number of people, labels may miss"),
    ("alpha_interval", "Krippendorff's alpha, interval", "grades as numbers"),
    ("alpha_nominal", "Krippendorff's alpha, nominal", "any other grade is as wrong"),
    ("ac2", "Gwet's AC2, quadratic", "a check where one grade is very common"),
    ("ac1", "Gwet's AC1", "the same without weights"),
    ("fleiss", "Fleiss' kappa", "documents with the usual number of labels"),
    ("cohen_quadratic", "Cohen's kappa, quadratic", "two people"),
    ("cohen_linear", "Cohen's kappa, linear", "two people"),
    ("cohen_unweighted", "Cohen's kappa", "two people, any other grade is as wrong"),
)
