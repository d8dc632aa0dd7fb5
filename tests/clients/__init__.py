"""Clients that others generate of docs/openapi.json take a benchmark from its files to its board.

`main_path.py` and `main_path.ts` do the same with the two clients that docs/own-client.md makes.
They run outside of the tests' environment, in that of `make clients`.
"""
