"""Runs against each other: differences, tests, tables, pictures, and how robust they are."""
