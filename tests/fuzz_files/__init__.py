"""Mutated files through a running site: no fault, no lost worker, no broken page.

A case is `kind:number` under a seed, and is made the same way each time: a small honest file
(`seeds`), damaged by a few mutators that know its form (`bytewise`, `texts`, `structured`).
`making` builds the benchmark they are sent to, `doors` sends them, `sites` is what is sent to,
`driving` watches it.
"""
