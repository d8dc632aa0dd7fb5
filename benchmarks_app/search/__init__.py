"""Going to what one can name: pages, queries, documents, runs, slices, releases and people."""
