"""How far a pool is and when it may stop: rates of finding, projections, stability of the order."""
