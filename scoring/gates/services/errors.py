"""What a person can get wrong with policies and gates of the site, and mend.

ScoringError (benchwright/errors.py)
├── PolicySlicesError          slices of a policy that are not registered or too small to show
├── PolicyThereError           a version of a policy that says what the newest one says
├── PolicyRetiredError         a gate by a policy that was retired
├── PolicyAfterCandidateError  a policy changed after the candidate was uploaded
├── GateItselfError            a candidate that is the policy's own baseline
├── GateRunError               a run of another benchmark, or one that was withdrawn
├── RehearsalTooLateError     a rehearsal after a candidate was seen, or with one
├── OnlineIntervalError       an A/B result without difference and interval that does not say so
└── GateUndecidedError         an A/B result of a gate without a verdict
"""

from benchwright.errors import ScoringError


class PolicySlicesError(ScoringError):
    code = "policy-slices"
    message = (
        "The slices {names} are not registered on release {release}; expected some of {known}. "
        "Register them on the page Slices and publish a release, or leave them out."
    )


class PolicyThereError(ScoringError):
    code = "policy-there"
    status = 409
    message = "{policy} says the same already (SHA-256 {digest}). Use it, or change something."


class PolicyRetiredError(ScoringError):
    code = "policy-retired"
    status = 409
    message = "{policy} was retired on {at:%Y-%m-%d}. Choose another policy, or make a new version."


class PolicyAfterCandidateError(ScoringError):
    code = "policy-after-candidate"
    status = 409
    message = (
        "{policy} was changed after '{candidate}' was uploaded: its verdict would prove nothing. "
        "Use the version that was there before, or upload the candidate again."
    )


class OnlineIntervalError(ScoringError):
    code = "online-interval"
    message = (
        "The A/B result has {given}; expected a difference inside an interval (difference, low, "
        "high), or none of the three and `has_no_interval`. Look it up, or say that there is none."
    )


class RehearsalTooLateError(ScoringError):
    code = "rehearsal-too-late"
    status = 409
    message = (
        "{reason}: rates are looked at before a candidate is. Rehearse with runs that were no "
        "candidates, and before the first gate."
    )


class GateItselfError(ScoringError):
    code = "gate-itself"
    message = "'{run}' is the baseline of {policy}; expected another run. Choose a candidate."


class GateRunError(ScoringError):
    code = "gate-run"
    message = "The run '{run}' {reason}. Choose another run."


class GateUndecidedError(ScoringError):
    code = "gate-undecided"
    status = 409
    message = "{gate} has no verdict yet. Record the A/B result once it has one."
