"""What can go wrong between people and a benchmark.

PeopleError
├── LastOwnerError             a benchmark would be left without an owner
├── InvitationClosedError      an invitation that cannot be accepted any more
│   ├── InvitationExpiredError
│   ├── InvitationUsedError
│   └── InvitationRevokedError
├── InvitationDaysError        an expiry that is not within the limits
├── InvitationAddressError     an invitation that is for another address
├── AccountRemovedError        an account that was anonymised
├── ManyResetsError            an address that asked for too many links
├── ScopeError                 an API token that is not good for what was asked
└── BlindError                 results, asked for by somebody who may still be asked to judge
"""

from benchmarks_app.core.errors import BenchmarkError

ASK_AGAIN = "Ask an owner of the benchmark for a new link."


class PeopleError(BenchmarkError):
    code = "people"


class LastOwnerError(PeopleError):
    code = "last-owner"
    status = 409
    message = (
        "{person} is the only owner of {benchmark}, which would be left without one. "
        "Make somebody else an owner first."
    )


class InvitationClosedError(PeopleError):
    """The link was good once; `410 Gone` says that asking again will not help."""

    code = "invitation-closed"
    status = 410


class InvitationExpiredError(InvitationClosedError):
    code = "invitation-expired"
    message = f"This invitation expired on {{expired_on}}. {ASK_AGAIN}"


class InvitationUsedError(InvitationClosedError):
    code = "invitation-used"
    message = f"This invitation was already used; each link works once. {ASK_AGAIN}"


class InvitationRevokedError(InvitationClosedError):
    code = "invitation-revoked"
    message = f"This invitation was withdrawn. {ASK_AGAIN}"


class InvitationDaysError(PeopleError):
    code = "invitation-days"
    message = "An invitation cannot last {days} days; expected 1 to {most}."


class InvitationAddressError(PeopleError):
    """Does not name the address: who only found the link must not learn it."""

    code = "invitation-address"
    status = 403
    message = "This invitation is for another address. Use the account of that address."


class AccountRemovedError(PeopleError):
    code = "account-removed"
    status = 409
    message = "This account was removed, and cannot join or be invited."


class ManyResetsError(PeopleError):
    code = "many-resets"
    status = 429
    message = "From your address came {most} requests for links within an hour. Try again later."


class ScopeError(PeopleError):
    code = "scope"
    status = 403
    message = (
        "This token has not the scope “{scope}”, which is asked for here. "
        "Make one that has it on your account page."
    )


class BlindError(PeopleError):
    code = "still-judging"
    heading = "Withheld while you judge"
    status = 403
    message = (
        "You may still be asked to judge here, so runs, scores and grades are withheld until all "
        "pools are closed or an owner lifts this for you."
    )
