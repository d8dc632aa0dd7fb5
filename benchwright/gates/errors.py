"""What a person can get wrong with a gate, and mend.

ScoringError (benchwright/errors.py)
├── PolicyFormatError        a policy that is no policy of ours, field by field
├── PolicySliceError         a slice of the policy that the data does not have
├── PolicySplitError         a split of the policy that the release does not grade
├── PolicyMeasureError       a measure of the policy that the runs were not scored by
├── RehearsalError           a rehearsal of no runs, or of too many
├── RehearsalFileError       a rehearsal stored beside a policy that cannot be read
└── GateReportError          a file that is no report of a gate
"""

from benchwright.errors import ScoringError


class PolicyFormatError(ScoringError, code="policy-format"):
    message = "{where}: {field} is {value}; expected {expected}. Correct it."


class PolicySliceError(ScoringError, code="policy-slice"):
    message = (
        "The policy names the slice '{name}', which holds no graded query; expected one of "
        "{known}. Give the file of slices that the policy was made for, or make a new policy."
    )


class PolicySplitError(ScoringError, code="policy-split"):
    message = (
        "The policy is about the split '{split}', of which release {release} grades no query; "
        "expected one of {known}. Choose another split, or all queries."
    )


class PolicyMeasureError(ScoringError, code="policy-measure"):
    message = (
        "Run '{run}' has no values of {measure}, which the policy asks for; expected one for every "
        "query. Score the run again."
    )


class RehearsalError(ScoringError, code="rehearsal"):
    message = (
        "{count} runs are named to rehearse with; expected 1 to {most} beside the baseline. Name "
        "runs that are there already, never the candidate."
    )


class RehearsalFileError(ScoringError, code="rehearsal-file"):
    message = "{file} is no rehearsal: {reason}. Delete it, or rehearse the policy again."


class GateReportError(ScoringError, code="gate-report"):
    message = "A report ends in '{suffix}'; expected {known}. Name the file so."
