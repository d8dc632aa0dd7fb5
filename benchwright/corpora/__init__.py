"""Documents of a collection: stored as Parquet, cut, compared by version, whole or in passages."""
