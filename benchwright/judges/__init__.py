"""Models that judge: the client of an endpoint with its retries, costs and limits, and messages."""
