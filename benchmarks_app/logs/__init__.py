"""Query logs: masked, counted, and sampled for queries."""
