"""Search endpoints that are described, tried, and asked for runs."""
