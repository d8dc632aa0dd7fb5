"""Grades from what people clicked: a log is read once by a job, which makes a set of qrels of kind
click and forgets the log. docs/clicks.md says what the grades are worth.
"""
