"""What people click, as evidence of relevance: logs of pages of results (UBI, rows of impressions,
a page a row) as a stream; clicks over expected clicks, the cascade model and the dynamic Bayesian
network as values with intervals; grades of what has enough evidence; online outcomes by arm.

A grade from clicks is no person's judgment: it is written down as of kind `click`, and never mixed
with people's.
"""
