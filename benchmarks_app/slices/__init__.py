"""Parts of the queries, by rules or by hand, and their members."""
