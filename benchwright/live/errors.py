"""What can go wrong with asking a search endpoint, told so that somebody can mend it.

ScoringError
└── LiveError
    ├── TemplateError       a body or query string that cannot be filled
    ├── PathError           a path into the answer that cannot be read
    ├── HeadersError        a header that may not be sent, or carries a secret in the open
    ├── SecretError         a variable that may not be used here, or has no value
    ├── EndpointError       an address that may not be asked
    ├── AnswerError         one query got no answer that can be used
    ├── AskingFailedError   more queries failed than may
    ├── OtherAnswersError   kept answers that were asked for in another way
    ├── NoAnswersError      a file that holds none, where kept ones should be
    └── AnswersBusyError    kept answers that another process adds to
"""

from collections.abc import Sequence

from benchwright.errors import ScoringError


class LiveError(ScoringError, code="live"):
    message = "The system could not be asked."


class TemplateError(LiveError, code="live-template"):
    message = "The template: {why}"


class PathError(LiveError, code="live-path"):
    message = (
        "The path '{path}': {why}. Write names with dots between them, [*] for every member of a "
        "list, [0] for the first, as in hits.hits[*]."
    )


class HeadersError(LiveError, code="live-headers"):
    message = "The header in line {line}: {why}"


class SecretError(LiveError, code="live-secret"):
    message = "The environment variable {variable}: {why}"


class EndpointError(LiveError, code="live-address"):
    message = "{address}: {why}. {advice}"


class AnswerError(LiveError, code="live-answer"):
    """One attempt at one query; `is_passing` where another attempt may do better."""

    message = "{why}"

    def __init__(
        self, *, why: str, is_passing: bool = False, status: int = 0, wait: float | None = None
    ) -> None:
        super().__init__(why=why, is_passing=is_passing, answer_status=status, wait=wait)


SHOWN = 5


class AskingFailedError(LiveError, code="live-failed", status=409):
    """`failed` are pairs of query id and cause as they happened; `kept` is where the rest stays."""

    message = "{told}"

    def __init__(
        self,
        *,
        system: str,
        failed: Sequence[tuple[str, str]],
        n_asked: int,
        may_fail: int,
        kept: str = "",
    ) -> None:
        listed = "; ".join(f"query '{qid}': {why}" for qid, why in failed[:SHOWN])
        more = f"; and {len(failed) - SHOWN} more" if len(failed) > SHOWN else ""
        allowed = f"{may_fail} may" if may_fail else "none may"
        text = (
            f"{system} failed to answer {len(failed)} of the {n_asked:,} queries asked so far, and "
            f"{allowed}. No run was made. {listed}{more}."
        )
        if kept:
            text += f" What was answered is kept {kept}: trying again goes on from there."
        super().__init__(told=text, failed=tuple(failed), n_asked=n_asked, may_fail=may_fail)


class OtherAnswersError(LiveError, code="live-other-answers", status=409):
    """`differing` are what was asked in another way, as words of a sentence."""

    message = (
        "{file}:1: these answers were asked for in another way: {told}. Expected those of this "
        "command. Ask as before to go on, or start over with --fresh, or choose another output."
    )

    def __init__(self, *, file: str, differing: Sequence[str]) -> None:
        parts = "; ".join(differing)
        super().__init__(file=file, told=parts, differing=tuple(differing))


class NoAnswersError(LiveError, code="live-no-answers", status=409):
    message = (
        "{file}:1: this is no file of kept answers; expected one that `benchwright ask` began. "
        "Move it away, or choose another output, or replace it with --fresh."
    )


class AnswersBusyError(LiveError, code="live-answers-busy", status=409):
    message = (
        "{file}: another command adds its answers to this file; expected to be alone with it. Wait "
        "for that one to end, or choose another output."
    )
