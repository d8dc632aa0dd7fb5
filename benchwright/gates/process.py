"""Check 4: did it come about as it was said beforehand? A flag holds a candidate back."""

from benchwright.gates.evidence import Process
from benchwright.gates.findings import Check, Finding, Level
from benchwright.gates.policy import Policy
from benchwright.texts.counting import counted, number_beside, percent_beside

UNKNOWN = "Nobody knows it here."


def process(policy: Policy, facts: Process, *, n_queries: int) -> Check:
    """What is known of submissions, contamination, age and agreement of labels, and the policy."""
    findings = (
        _policy(facts),
        _seen(facts),
        _submissions(policy, facts),
        _contamination(policy, facts, n_queries),
        _stale(policy, facts),
        _agreement(policy, facts),
    )
    return Check("process", "Process", findings)


def _finding(name: str, is_flag: bool, reason: str, change: str, **numbers: object) -> Finding:
    if is_flag:
        return Finding(name, "flagged", Level.BAD, reason, change, numbers)
    return Finding(name, "in order", Level.GOOD, reason, "", numbers)


def _unknown(name: str) -> Finding:
    return Finding(name, "not known", Level.NOTE, UNKNOWN)


def _policy(facts: Process) -> Finding:
    name = "Written down beforehand"
    if facts.is_registered:
        return _finding(name, False, "Measure, slices and margins are those of the policy.", "")
    reason = "No policy was given, so nothing shows that measure and slices were chosen before."
    return Finding(name, "not known", Level.NOTE, reason, "Write a policy and name it.")


def _seen(facts: Process) -> Finding:
    name = "Policy before candidate"
    if facts.seen_before_policy is None:
        return _unknown(name)
    if facts.seen_before_policy:
        reason = "The candidate was uploaded before the policy was made: seen before the policy."
        return _finding(name, True, reason, "Make the policy first, then upload the candidate.")
    return _finding(name, False, "The policy is older than the candidate.", "")


def _submissions(policy: Policy, facts: Process) -> Finding:
    name, n, most = "Earlier submissions", facts.prior_submissions, policy.limits.submissions
    if n is None:
        return _unknown(name)
    reason = f"{counted(n, 'earlier submission')} on these hidden queries; up to {most} are fine."
    change = "The best of many looks better than it is: confirm it on queries not used so far."
    return _finding(name, n > most, reason, change, n=n, most=most)


def _contamination(policy: Policy, facts: Process, n_queries: int) -> Finding:
    name, n, most = "Contamination", facts.contaminated, policy.limits.contaminated_share
    if n is None:
        return _unknown(name)
    share = n / max(n_queries, 1)
    percent = percent_beside(share, most)
    finding = f"{counted(n, 'query')} ({percent} %) known to be in a list from outside"
    reason = f"{finding}; at most {100 * most:g} %."
    change = "Leave these queries out in the next release."
    return _finding(name, share > most, reason, change, n=n, share=share)


def _stale(policy: Policy, facts: Process) -> Finding:
    name, share, most = "Fresh labels", facts.stale_share, policy.limits.stale_share
    if share is None:
        return _unknown(name)
    percent = percent_beside(share, most)
    finding = f"{percent} % of the labels are stale (document gone or changed, or too old)"
    reason = f"{finding}; at most {100 * most:g} %."
    return _finding(name, share > most, reason, "Judge their documents again.", share=share)


def _agreement(policy: Policy, facts: Process) -> Finding:
    name, alpha, least = "Agreement of labels", facts.agreement, policy.limits.agreement
    if alpha is None:
        return _unknown(name)
    written = number_beside(alpha, least, decimals=2)
    reason = f"Krippendorff's alpha is {written}; at least {least:g} is asked for."
    change = "Revise the guideline and judge the disputed documents again."
    return _finding(name, alpha < least, reason, change, alpha=alpha)
