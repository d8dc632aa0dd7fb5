"""Files whatever they hold: archives that are opened safely, lines of any packing, Parquet,
sorting of more rows than fit into memory.
"""
