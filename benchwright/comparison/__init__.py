"""Two runs or many, query by query: which is better, by how much, how sure, and for whom not.

`comparing.compare` aligns values by family and comes back with an `outcome`; `patterns` reads it,
`robustness` asks whether it survives variants, `ladder` what of it outsiders may be told.
"""
