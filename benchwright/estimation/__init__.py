"""Means that people's labels and a machine's estimates carry together, and what that is worth.

`drawing` draws what people label, so that it can be proved; `corrected` estimates means of queries
(prediction-powered inference), `documents` sums over documents of unequal probability, `planning`
compares the two in labels and hours; `learned` makes estimates without any model behind a key, and
`auditing` tells whether a machine's grade 0 may spare work. Formulas are in
docs/machine-judges.md.
"""
