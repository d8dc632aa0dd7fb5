"""What can go wrong with contextual precision; `Failure.code` is the code of one of these.

ScoringError (benchwright/errors.py)
├── ImageError               an image that is broken, too large, or of a kind we do not take
├── CaseFormatError          a case in memory that is none
├── JudgeExtraError          the `judge` extra is not installed
├── JudgeSettingError        a judge that cannot be set up so
├── CacheFileError           a file that is no cache of ours
└── CaseError                a case that cannot be scored; the others go on
    ├── EmptyPartError           no input, or no expected output
    ├── JudgeAnswerError         an answer that is not what was asked for, twice
    ├── JudgeRefusalError        the judge declines to answer
    ├── JudgeLengthError         the answer was cut at its greatest length
    ├── JudgeFilterError         a content filter of the endpoint held the answer back
    ├── JudgeBusyError           too many requests, again and again
    ├── JudgeServerError         the endpoint fails, again and again
    ├── JudgeTimeoutError        no answer in time, again and again
    ├── JudgeConnectionError     no connection, or one that breaks off, again and again
    ├── JudgeRequestError        the endpoint does not take what was sent
    ├── JudgeAccessError         the endpoint does not take the key, or does not know the model
    ├── JudgeObjectError         a judge object that raises, or returns what is no answer
    └── RemoteImageError         an image behind an address that cannot be sent
"""

from benchwright.errors import ScoringError


class ImageError(ScoringError, code="image"):
    message = "{name}: {reason}"


class CaseFormatError(ScoringError, code="case-format"):
    message = "{where}: {what}; expected {expected}."


class JudgeExtraError(ScoringError, code="judge-extra"):
    message = (
        "{what} needs the package '{package}', which is not installed. "
        "Install it: pip install 'benchwright[judge]'."
    )


class JudgeSettingError(ScoringError, code="judge-setting"):
    message = "{name} is {value}; expected {expected}."


class CacheFileError(ScoringError, code="cache-file"):
    message = "{file}: {reason}; expected a cache that `{command} --cache` has made."


class CaseError(ScoringError, code="case"):
    """A case that cannot be scored."""

    message = "The case cannot be scored."


class EmptyPartError(CaseError, code="empty-part"):
    message = "The {part} is empty; expected a text or an image. Give the case one."


class JudgeAnswerError(CaseError, code="judge-answer"):
    message = "The judge's answer was not usable, twice: {problem}. Try another model, or again."


class JudgeRefusalError(CaseError, code="judge-refusal"):
    message = "The judge declined to answer: {words}"


class JudgeLengthError(CaseError, code="judge-length"):
    message = (
        "The judge's answer was cut off after {tokens} tokens (finish_reason is 'length'). "
        "Allow longer answers, or give the case fewer nodes."
    )


class JudgeFilterError(CaseError, code="judge-filter"):
    message = "A content filter of the endpoint held the answer back."


class JudgeBusyError(CaseError, code="judge-busy"):
    message = (
        "The endpoint took no more requests (429) in {attempts} attempts. Ask it less often, or "
        "try the case again later."
    )


class JudgeServerError(CaseError, code="judge-server"):
    message = "The endpoint failed ({status}) in {attempts} attempts. Try the case again later."


class JudgeTimeoutError(CaseError, code="judge-timeout"):
    message = (
        "The endpoint gave no answer within {seconds:g} s in {attempts} attempts. Allow it more "
        "time, or try the case again later."
    )


class JudgeConnectionError(CaseError, code="judge-connection"):
    message = (
        "The connection to the endpoint failed or broke off in {attempts} attempts: {why}. Check "
        "its address, or try the case again later."
    )


class JudgeRequestError(CaseError, code="judge-request"):
    message = "The endpoint did not take the request ({status}): {why}"


class JudgeAccessError(CaseError, code="judge-access"):
    message = "The endpoint gave no access ({status}): {why} Check the key and the model's name."


class JudgeObjectError(CaseError, code="judge-object"):
    message = "The judge {why}."


class RemoteImageError(CaseError, code="remote-image"):
    message = "Image {url}: {why}"
