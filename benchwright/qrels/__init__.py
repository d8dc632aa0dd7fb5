"""From labels to grades: events of a ledger, versioned rules, raters, files of qrels and of known
grades, and what of them is old.
"""
