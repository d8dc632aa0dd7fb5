"""Train, dev and test without leakage: made, proved, and held against queries from outside."""
