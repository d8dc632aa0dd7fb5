"""What can go wrong between people and a benchmark.

PeopleError
├── LastOwnerError             a benchmark would be left without an owner
├── LastManagerError           a site would be left without somebody who may do everything
├── ManagerNeededError         an account that only a superuser may delete
├── PasswordNeededError        what asks for the password again, without the right one
├── ManyTriesError             passwords that were tried too often
├── FreedPagesError            a database too busy to be written anew
├── InvitationClosedError      an invitation that cannot be accepted any more
│   ├── InvitationExpiredError
│   ├── InvitationUsedError
│   └── InvitationRevokedError
├── InvitationDaysError        an expiry that is not within the limits
├── InvitationAddressError     an invitation that is for another address
├── AddressUnverifiedError     an address that nobody has proved to be theirs
├── AddressLinkError           a link that proves no address
├── AccountRemovedError        an account that was anonymised
├── ManyResetsError            an address that asked for too many links
├── ManyCodesError             codes for a second factor, more than anybody mistypes
├── ManyFactorsError           second factors, more than one account may have
├── FactorSecretError          a second factor whose secret cannot be decrypted
├── FactorAskedError           a second factor that the site asks for, and is not there
├── PasswordsOffError          a site on which passwords sign nobody in
├── NoPasswordError            an account that has no password to ask for
├── ProviderError              signing in through a provider that went wrong
│   ├── ProviderDownError
│   ├── ProviderAnswerError
│   ├── ProviderRefusedError
│   ├── SignInLostError
│   ├── ProviderAddressError
│   ├── ProviderDomainError
│   ├── ProviderAccountTakenError
│   └── ProviderAccountClosedError
├── ScopeError                 an API token that is not good for what was asked
└── BlindError                 results, asked for by somebody who may still be asked to judge
"""

from benchwright.errors import BenchmarkError


class BenchmarkSlugTakenError(BenchmarkError):
    code = "benchmark-slug-taken"
    status = 409
    message = "There is a benchmark '{slug}' already. Choose another short name."


# --- What can go wrong between people and a benchmark.

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


class LastManagerError(PeopleError):
    code = "last-manager"
    status = 409
    message = (
        "{person} is the only superuser of the site. Make another first: "
        "manage.py create_user NAME --email ADDRESS --superuser"
    )


class ManagerNeededError(PeopleError):
    code = "superuser-needed"
    status = 403
    message = "Only a superuser may delete the account of a superuser."


class PasswordNeededError(PeopleError):
    code = "wrong-password"
    status = 403
    message = "This is not your password."


class ManyTriesError(PeopleError):
    code = "many-tries"
    status = 429
    retry_after = 3600
    message = (
        "Too many passwords were tried within an hour: {most} wrong ones. Try again later, or have "
        "a link for a new one sent to you."
    )


class FreedPagesError(PeopleError):
    code = "database-busy"
    status = 503
    message = (
        "The database could not be written anew ({reason}), so that bytes of what was deleted may "
        "still be in its files. Try again when the site is quiet."
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


class AddressUnverifiedError(PeopleError):
    code = "address-unverified"
    status = 403
    message = (
        "This invitation is for the address of your account, which you have not confirmed yet. "
        "Open the invitation again: it offers to mail a link to that address."
    )


class AddressLinkError(PeopleError):
    code = "address-link"
    heading = "This link does not work"
    status = 410
    message = (
        "It was used already, is too old, or belongs to another account or an earlier address. "
        "Your account's page mails you a new one."
    )


class AccountRemovedError(PeopleError):
    code = "account-removed"
    status = 409
    message = "This account was removed, and cannot join or be invited."


class ManyResetsError(PeopleError):
    code = "many-resets"
    status = 429
    retry_after = 3600
    message = "From your address came {most} requests for links within an hour. Try again later."


class ManyCodesError(PeopleError):
    code = "many-codes"
    heading = "Too many codes"
    status = 429
    retry_after = 3600
    message = (
        "Within an hour {most} codes were tried for this account from browsers that it has not "
        "been signed in with. Use a browser that it has, try again later, or reset the password."
    )


class ManyFactorsError(PeopleError):
    code = "many-factors"
    status = 409
    message = "An account has at most {most} {kind}. Take one away first."


class FactorSecretError(PeopleError):
    code = "factor-secret"
    status = 409
    message = (
        "This second factor was stored with another secret of the site, so its codes cannot be "
        "checked. Whoever runs the site can name the earlier secret, or take your factors away."
    )


class FactorAskedError(PeopleError):
    code = "factor-asked"
    status = 403
    message = (
        "This site asks you for a second factor, which your account has not. "
        "Sign in on the site and set one up."
    )


class PasswordsOffError(PeopleError):
    code = "passwords-off"
    heading = "Passwords are off"
    status = 403
    message = "Here passwords sign nobody in. Use the button on the sign-in page."


class NoPasswordError(PeopleError):
    code = "no-password"
    status = 403
    message = (
        "Your account has no password here, which is asked for. Sign out, sign in again, and do "
        "this on the site within ten minutes."
    )


class ProviderError(PeopleError):
    """Signing in through a provider went wrong; nobody was signed in."""

    code = "provider"
    heading = "You are not signed in"
    status = 403


class ProviderDownError(ProviderError):
    code = "provider-down"
    status = 503
    retry_after = 60
    message = (
        "The sign-in service ({label}) does not answer. Try again in some minutes; if it goes on, "
        "tell whoever runs this site."
    )


class ProviderAnswerError(ProviderError):
    code = "provider-answer"
    status = 502
    message = (
        "What the sign-in service ({label}) answered is not valid: {reason}. Try again; if it goes "
        "on, tell whoever runs this site."
    )


class ProviderRefusedError(ProviderError):
    code = "provider-refused"
    message = "The sign-in service ({label}) signed nobody in: {reason}. Try again."


class SignInLostError(ProviderError):
    code = "sign-in-lost"
    status = 400
    message = (
        "This sign-in was not begun in this browser, was used already, or took too long. "
        "Begin again on the sign-in page."
    )


class ProviderAddressError(ProviderError):
    code = "provider-address"
    message = (
        "The sign-in service ({label}) has not confirmed an email address of yours. Confirm it "
        "there, then sign in again."
    )


class ProviderDomainError(ProviderError):
    code = "provider-domain"
    message = "Addresses at {domain} may not sign in to this site. Use another account."


class ProviderAccountTakenError(ProviderError):
    """Whoever may name an address at the provider would have the account of that address here."""

    code = "provider-account-taken"
    status = 409
    message = (
        "There is an account with your address already, and signing in through {label} does not "
        "open it. Sign in as you did before. Whoever runs this site can allow accounts to be "
        "linked; then the account's address must be confirmed first, on its page."
    )


class ProviderAccountClosedError(ProviderError):
    code = "provider-account-closed"
    message = "Your account on this site is closed. Ask whoever runs it."


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


# --- What can go wrong with teams.


class StreamsBusyError(BenchmarkError):
    code = "streams-busy"
    status = 503
    retry_after = 5
    message = "Others are being told of their jobs just now. Ask for the job itself, or try again."


class TeamError(BenchmarkError):
    code = "team"
    message = "This cannot be done with this team."


class TeamNameTakenError(TeamError):
    code = "team-name-taken"
    status = 409
    message = "There is a team called '{name}' already. Choose another name."


class NotAMateError(TeamError):
    code = "team-not-a-mate"
    message = (
        "'{username}' is nobody who works on a benchmark with you. Send a link instead: whoever "
        "opens it joins."
    )


class TeamLinkError(TeamError):
    code = "team-link"
    status = 410
    message = "This link no longer works: {reason} Ask a member of the team for another."


class TeamFullError(TeamError):
    code = "team-full"
    status = 409
    message = "The team has {limit} members, and no team has more."


# --- What can go wrong with a request that is sent again.


class RepeatedKeyError(BenchmarkError):
    code = "idempotency-key"
    status = 400
    message = (
        "The Idempotency-Key has {n} characters, or some that are not printable ASCII; expected 1 "
        "to {most}, such as a UUID."
    )


class KeyReusedError(RepeatedKeyError):
    code = "idempotency-key-reused"
    status = 422
    message = (
        "This Idempotency-Key came within the last 24 hours with another request. Send each "
        "request with a key of its own; what is sent again must be the same to the last field."
    )


class KeyBusyError(RepeatedKeyError):
    code = "idempotency-key-busy"
    status = 409
    retry_after = 1
    message = "The first request with this Idempotency-Key is still being answered. Ask again."


# --- What can go wrong with the body of a request.


class BodyCutOffError(BenchmarkError):
    code = "body-cut-off"
    status = 400
    message = "The connection ended after {n} of {n_all} bytes: nothing was taken. Send it again."


class LengthMissingError(BenchmarkError):
    """Of what is sent in chunks nobody can tell whether its end is missing."""

    code = "length-missing"
    status = 411
    message = (
        "The request does not say how long it is, as one that is sent in chunks. Send it with a "
        "Content-Length: most programs do where they are given a file and not a stream."
    )
