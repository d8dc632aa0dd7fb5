"""Is a candidate good enough to be tried on people? A policy, checks in an order, one verdict.

`policy` says what must be shown, `evidence` what is known of both runs, `checks` holds the one
against the other, `verdict` comes to an answer, `reports` write it down. docs/gate.md explains it.
"""
