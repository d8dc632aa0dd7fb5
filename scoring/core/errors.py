"""What a person can get wrong when scoring or retrieving, and mend.

BenchmarkError
└── ScoringError
    ├── CutoffError              a cutoff, depth or rank threshold below 1
    ├── RelevanceThresholdError  a relevance threshold below 1
    ├── GradeTooLargeError       a grade whose exponential gain is beyond every double
    ├── UnknownMeasureError      a measure name that nobody knows
    ├── MeasureParameterError    a known measure with a parameter it does not take
    ├── UnknownTieRuleError      a tie rule that is not one of ours
    ├── ExpectedDepthError       a depth under the tie rule `expected`
    ├── UnknownScannerError      a scanner that is not one of ours, or not installed
    ├── TooManyOrdersError       ties with more orders than a measure can go through
    ├── NoBracketError           a bracket of a measure that has none
    ├── UnknownMissingRuleError  a rule for missing queries that is not one of ours
    ├── UnknownUnlistedRuleError a rule for documents not in the qrels that is not one of ours
    ├── EmptyRunError            a run without a single row
    ├── EmptyQrelsError          qrels without a single row
    ├── NoCommonQueryError       run and qrels that share no query
├── ColumnsError             a table in memory whose columns cannot be told apart
├── ModelError               a model that fails, or returns what is no list of results
    ├── UnknownAggregationError  a way from passages to documents that is not one of ours
    ├── ParentsNeededError       an aggregation that must know which passage is the first
    ├── ResultFormatError        a file that is no result of ours
    ├── MtebFormatError          a file that is no result of MTEB
    ├── UnknownSystemError       a retrieval system that is not one of ours
    ├── TooFewRunsError          a comparison of fewer than two runs
    ├── TooFewQueriesError       a comparison on fewer than two queries
    ├── RunsDifferError          runs that were scored on different queries
    ├── NoCommonMeasureError     runs that share no measure
    ├── MissingValueError        a run without the value of one query
    ├── NoWeightError            weights of queries that were not scored
    ├── UnknownRunError          a baseline that is none of the runs
    ├── ReservedSliceError       a slice called as all queries are
    ├── UnknownMethodError       a test, correction or interval that is not one of ours
    ├── MethodMisfitError        methods that do not go together
    ├── MethodNumberError        a level, seed or number of draws out of range
    └── DuplicateDocumentError   a corpus that holds one id twice
"""

from benchmarks_app.core.errors import BenchmarkError


class ScoringError(BenchmarkError):
    code = "scoring"
    message = "This cannot be scored."


class CutoffError(ScoringError):
    code = "cutoff"
    message = (
        "The cutoff is {cutoff}; expected a whole number of at least 1. Choose another cutoff."
    )


class RelevanceThresholdError(ScoringError):
    code = "relevance-threshold"
    message = (
        "rel is {rel}; expected a grade of at least 1, from which a document counts as relevant. "
        "Choose another grade."
    )


class GradeTooLargeError(ScoringError):
    code = "grade-too-large"
    message = (
        "A grade is {grade}; exponential gain takes grades up to {largest}. "
        "Use linear gain or a smaller scale."
    )


class UnknownMeasureError(ScoringError):
    code = "unknown-measure"
    message = "'{name}' is no measure we know; expected one of {known}. Check the spelling."


class MeasureParameterError(ScoringError):
    code = "measure-parameter"
    message = "'{name}': {reason}"


class UnknownTieRuleError(ScoringError):
    code = "unknown-tie-rule"
    message = "'{ties}' is no tie rule; expected one of {known}. Choose one of them."


class ExpectedDepthError(ScoringError):
    code = "expected-depth"
    message = (
        "Ties are 'expected' and results are cut at {depth}, where a tie may be cut in two; "
        "expected one of both. Use a measure's own cutoff, or another tie rule."
    )


class UnknownScannerError(ScoringError):
    code = "unknown-scanner"
    message = "BENCHWRIGHT_SCANNER is '{scanner}'; expected {expected}. {advice}"


class TooManyOrdersError(ScoringError):
    code = "too-many-orders"
    message = (
        "{measure} of query '{qid}': the documents of one score can be ordered in too many ways; "
        "expected fewer of one score. Leave the measure out, or choose another tie rule."
    )


class NoBracketError(ScoringError):
    code = "no-bracket"
    message = (
        "{measure} has no bracket: judging a document relevant can lower it; expected a measure "
        "that only grows, such as P@10, RR, Success@10, DCG or RBP. Ask for scenarios instead."
    )


class UnknownMissingRuleError(ScoringError):
    code = "unknown-missing-rule"
    message = "'{missing}' is no rule for missing queries; expected zero or skip. Choose one."


class UnknownUnlistedRuleError(ScoringError):
    code = "unknown-unlisted-rule"
    message = (
        "'{unlisted}' is no rule for documents that the qrels do not list; expected {known}. "
        "Choose one."
    )


class EmptyRunError(ScoringError):
    code = "empty-run"
    message = "The run holds no result; expected at least one row. Check that it is the right file."


class EmptyQrelsError(ScoringError):
    code = "empty-qrels"
    message = "The qrels hold no grade; expected at least one row. Check that it is the right file."


class NoCommonQueryError(ScoringError):
    code = "no-common-query"
    message = (
        "Run and qrels have no query in common: the run has {run_ids}, the qrels have {qrel_ids}. "
        "Check that both belong to the same benchmark and split."
    )


class ColumnsError(ScoringError):
    code = "columns"
    message = (
        "The {name} {reason}; expected {{query: {{document: value}}}}, or a table with a column of "
        "queries, one of documents and one of scores or grades. Name them qid, docid and score "
        "(grade in qrels)."
    )


class UnknownAggregationError(ScoringError):
    code = "unknown-aggregation"
    message = "'{how}' is no way to score documents; expected one of {known}. Choose one of them."


class ParentsNeededError(ScoringError):
    code = "parents-needed"
    message = (
        "'{how}' counts the first passage of a document, which ids do not tell; expected a file of "
        "parents. Name it (--parents), each document's first passage first."
    )


class ResultFormatError(ScoringError):
    code = "result-format"
    message = (
        "{file} {reason}; expected a result file as `benchwright score --result FILE` writes it. "
        "Check that it is the right file."
    )


class BenchmarkObjectError(BenchmarkError):
    code = "benchmark-object"
    message = "The benchmark's {where}: {what}."


class ModelError(ScoringError):
    code = "model"
    message = "Query '{qid}' ({text}): the model {reason}."


class MtebFormatError(ScoringError):
    code = "mteb-format"
    message = "{file}: {what}; expected {expected}."


class UnknownSystemError(ScoringError):
    code = "unknown-system"
    message = "'{name}' is no retrieval system; expected one of {known}. Choose one of them."


class TooFewRunsError(ScoringError):
    code = "too-few-runs"
    message = "{count} run to compare; expected at least two. Name another run."


class TooFewQueriesError(ScoringError):
    code = "too-few-queries"
    message = "The runs have {count} query in common; expected at least two. Score more queries."


class RunsDifferError(ScoringError):
    code = "runs-differ"
    message = (
        "Run '{run}' has no value for {count} of the queries of '{other}': {ids}; expected the "
        "same queries in every run. Score all runs on the same qrels, counting missing queries as "
        "zero."
    )


class NoCommonMeasureError(ScoringError):
    code = "no-common-measure"
    message = (
        "The runs share no measure: {measures}; expected at least one that all have. "
        "Score them by the same measures."
    )


class MissingValueError(ScoringError):
    code = "missing-value"
    message = (
        "Run '{run}', query {query}: no value of {measure}; expected one for every query. "
        "Score the run by {measure}, or leave the measure out."
    )


class NoWeightError(ScoringError):
    code = "no-weight"
    message = (
        "None of the {n_queries} scored queries has a weight, so there is no weighted mean. Check "
        "the ids of the weights."
    )


class UnknownRunError(ScoringError):
    code = "unknown-run"
    message = "'{name}' is none of the runs; expected one of {known}. Check the spelling."


class ReservedSliceError(ScoringError):
    code = "reserved-slice"
    message = "A slice is called '{name}', which means all queries here. Give it another name."


class UnknownMethodError(ScoringError):
    code = "unknown-method"
    message = "'{name}' is no {kind}; expected one of {known}. Choose one of them."


class MethodMisfitError(ScoringError):
    code = "method-misfit"
    message = "{reason} Choose another {kind}."


class MethodNumberError(ScoringError):
    code = "method-number"
    message = "{name} is {value}; expected {expected}. Choose another number."


class DuplicateDocumentError(ScoringError):
    code = "duplicate-document"
    message = (
        "Document '{docid}' is in the corpus {count} times; expected every id once. "
        "Remove the others."
    )
