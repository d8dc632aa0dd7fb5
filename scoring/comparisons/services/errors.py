"""What can be wrong with a comparison that is asked for.

ScoringError (benchwright/errors.py)
├── ComparedRunError         a run that is not there, or that one may not see
├── NotScoredHereError       a run without scores on the release
├── TooManyComparedError     more runs than are compared at once
├── ComparisonNotReadyError  numbers that a job has to work out first
├── ComparisonSignInError    numbers that are computed for people who are signed in
└── NoPublicQueryError       a release whose graded queries are all hidden from who asks
"""

from benchwright.errors import ScoringError


class ComparedRunError(ScoringError):
    code = "compared-run"
    message = (
        "There is no run '{name}' here. Name runs by their numbers or names, separated by commas."
    )


class NotScoredHereError(ScoringError):
    code = "run-not-scored"
    status = 409
    message = (
        "No scores on release {version}, so there is nothing to compare: {names}. "
        "A maintainer scores the benchmark's runs on the leaderboard."
    )


class TooManyComparedError(ScoringError):
    code = "too-many-compared"
    message = "{n} runs are named; at most {limit} are compared at once. Leave some out."


class ComparisonNotReadyError(ScoringError):
    code = "comparison-not-ready"
    status = 409
    message = (
        "Comparing {n_runs} runs on {n_queries} queries takes a job, which was not started yet. "
        "Start it with the button of the page, or POST the same parameters."
    )


class ComparisonSignInError(ScoringError):
    code = "comparison-sign-in"
    status = 409
    message = (
        "These numbers are not there yet, and are computed for people who are signed in. Sign in."
    )


class NoPublicQueryError(ScoringError):
    code = "no-public-query"
    status = 409
    message = (
        "All graded queries of release {version} are in hidden splits. What is worked out query "
        "by query is told of public ones alone, so there is nothing to tell here. Look at the "
        "means on the leaderboard."
    )
