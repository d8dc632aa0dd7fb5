"""What can go wrong between here and a site.

ClientError                    all of them; a BenchmarkError
├── ServerAddressError         not the address of a site
├── NotSignedInError           no token is known for the site
├── NotATokenError             what is given as one holds what no token has
├── UnsendableError            no request can hold what is to be sent
├── UnreachableError           nobody answers
├── RedirectedError            the site leads elsewhere, where no token or file is sent
├── StrangeAnswerError         what answers is not this API
├── DigestError                a file is not what the manifest says
├── BrokeOffError              the site failed while it sent a file
├── FolderTakenError           the folder to pull into holds something else
├── NoReleaseError             the benchmark has published nothing
├── NotAReleaseNameError       not of the form SLUG or SLUG@VERSION
├── NoPhaseError              no phase has this name
├── WaitedTooLongError         it was not done in time
└── RefusedError               the site says no: `answer_status`, `answer_code`, `said`, `detail`
    ├── TokenRefusedError      401: unknown, revoked or expired
    ├── ForbiddenError         403: your role does not allow it
    ├── NotThereError          404: not there, or not for you to see
    ├── ConflictError          409: the benchmark does not allow it now
    ├── TooLargeError          413
    ├── TooManyRequestsError   429: longer to wait than was meant to be waited
    └── ServerFaultError       5xx: the fault is the site's
"""

from typing import Any

from benchwright.errors import BenchmarkError


class ClientError(BenchmarkError, code="client"):
    """Whatever went wrong between here and the site."""

    message = "The site could not be asked."


class ServerAddressError(ClientError, code="server-address"):
    message = (
        "'{given}' is not the address of a site: {why}. Give it as your browser shows it, such as "
        "https://benchmarks.example.org."
    )


class NotSignedInError(ClientError, code="not-signed-in"):
    message = (
        "There is no token for {url}, and this needs one. Make one on {url}/account/ and run "
        "`benchwright login {url}`, or set BENCHWRIGHT_TOKEN."
    )


class NotATokenError(ClientError, code="not-a-token"):
    message = (
        "What is given as the token for {url} holds a blank, a line's end or another sign that no "
        "token has. Copy one from {url}/account/, and nothing beside it."
    )


class UnsendableError(ClientError, code="unsendable"):
    message = (
        "{url} cannot be asked with what is to be sent: {why}. Leave out numbers that are none, "
        "characters that are no UTF-8, and what is too long."
    )


class UnreachableError(ClientError, code="unreachable"):
    message = "{url}: nobody answers ({why}). Check the address, and that the site is up."


class RedirectedError(ClientError, code="redirected"):
    message = "{url} leads to {target}, which is not followed: {why}"


class StrangeAnswerError(ClientError, code="strange-answer"):
    message = "{url}: {why}. Is this the address of a Benchwright site, and of its newest version?"


class DigestError(ClientError, code="digest"):
    message = (
        "{file}: its SHA-256 is {found}, expected {expected}. It was thrown away; pull again, and "
        "if it stays so, tell who runs the site."
    )


class BrokeOffError(ClientError, code="broke-off"):
    message = (
        "{url}: the site could not send this to its end. Fetch it again, and if it stays so, tell "
        "who runs the site."
    )


class FolderTakenError(ClientError, code="folder-taken"):
    message = "{folder} holds something else. Name a new or an empty folder with -o."


class NoReleaseError(ClientError, code="no-release"):
    message = "{slug} has no published release yet. Ask who keeps it, or look again later."


class NotAReleaseNameError(ClientError, code="release-name"):
    message = "'{given}' names no release; expected SLUG or SLUG@VERSION, such as stdlib@1.2.0."


class NoPhaseError(ClientError, code="no-phase"):
    message = "{slug} has no phase '{given}'. There is: {known}."


class WaitedTooLongError(ClientError, code="waited-too-long"):
    message = "{what} is still '{state}' after {seconds:.0f} s. It goes on; see {url}."


class RefusedError(ClientError, code="refused"):
    """The site's own answer: its status, its stable code, its sentence, its detail."""

    message = "{said}{listed}"

    def __init__(self, *, detail: Any = None, **facts: Any) -> None:
        super().__init__(detail=detail, listed=_listed(detail), **facts)


class TokenRefusedError(RefusedError, code="token-refused"):
    message = (
        "{url} does not take the token: it is unknown, revoked or expired. Make a new one on "
        "{url}/account/ and run `benchwright login {url}`."
    )


class ForbiddenError(RefusedError, code="forbidden"):
    message = "{said} Ask an owner of the benchmark for the role you need."


class NotThereError(RefusedError, code="not-there"):
    message = (
        "{address}: {said} Check the name; a private benchmark is seen by its members alone, with "
        "their token."
    )


class ConflictError(RefusedError):
    code = "conflict"


class TooLargeError(RefusedError, code="too-large"):
    message = "{said} Compress the file (gzip or zstd), or keep fewer documents of each query."


class TooManyRequestsError(RefusedError, code="too-many-requests"):
    message = "{url} takes no more requests for {seconds:.0f} s. Run it again then."


class ServerFaultError(RefusedError, code="server-fault"):
    message = (
        "{url} failed (HTTP {answer_status}): {said} The fault is the site's: try again later."
    )


OF_STATUS: dict[int, type[RefusedError]] = {
    401: TokenRefusedError,
    403: ForbiddenError,
    404: NotThereError,
    409: ConflictError,
    413: TooLargeError,
    429: TooManyRequestsError,
}


def error_of(status: int) -> type[RefusedError]:
    """Return the class of error that an HTTP status from 400 on means."""
    return ServerFaultError if status >= 500 else OF_STATUS.get(status, RefusedError)


def _listed(detail: Any) -> str:
    """What of an error's detail says where it is wrong, a line each."""
    if not isinstance(detail, dict):
        return ""
    lines = [
        f"\n  {name}: {' '.join(map(str, problems)) if isinstance(problems, list) else problems}"
        for name, problems in detail.items()
        if isinstance(problems, list)
        and problems
        and all(isinstance(problem, str) for problem in problems)
    ]
    return "".join(lines)
