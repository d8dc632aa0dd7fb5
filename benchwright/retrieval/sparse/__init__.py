"""An inverted index and the weightings over it: counting, sharding, compiled and plain search."""
