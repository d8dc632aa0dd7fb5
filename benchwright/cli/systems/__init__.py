"""Commands that ask or measure systems: retrieval, fusion, live endpoints, embeddings, judges."""
