"""Query logs: read, masked of personal data, counted, grouped into families, and samples drawn from
them by strata with known shares.
"""
