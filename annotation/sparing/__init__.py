"""Sparing people what a machine gave grade 0: asked for, audited, checked for good, switched off.

Who judges sees nothing of it: a document that is spared is not asked, as if it were in no pool.
"""
