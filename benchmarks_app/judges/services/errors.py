"""What a person can get wrong with judges and their keys, and mend.

ScoringError (benchwright/errors.py)
├── JudgeExtraMissingError   the packages that speak to a judge are not installed
├── JudgeAddressError        an address that no judge may have
├── JudgeKeyVariableError    a variable that the operator has not allowed, or that is empty
├── JudgeKeySealError        a sealed key that cannot be opened any more
├── JudgeKeyMovedError       a sealed key that would go to another host than it was given for
├── JudgeNameError           a second judge of one name
└── JudgeInUseError          a judge that is being tried, or asked
"""

from benchwright.errors import ScoringError


class JudgeExtraMissingError(ScoringError):
    code = "judge-extra-missing"
    status = 409
    message = (
        "This site cannot speak to a judge: {packages} not installed. Whoever runs it installs "
        "the extra `judge` (pip install 'benchwright[judge]') and starts it again."
    )


class JudgeAddressError(ScoringError):
    code = "judge-address"
    message = "{address}: {why}. Enter the address that the endpoint's API begins with."


class JudgeKeyVariableError(ScoringError):
    code = "judge-key-variable"
    status = 409
    message = "The key in {variable} cannot be used: {why}."


class JudgeKeySealError(ScoringError):
    code = "judge-key-seal"
    status = 409
    message = (
        "The key of '{judge}' cannot be opened, for the site's SECRET_KEY has changed since it was "
        "entered. Enter the key again."
    )


class JudgeKeyMovedError(ScoringError):
    code = "judge-key-moved"
    message = (
        "The stored key was entered for {before} and is not sent elsewhere. Enter the key for "
        "{after}."
    )


class JudgeNameError(ScoringError):
    code = "judge-name"
    status = 409
    message = "A judge named '{name}' is in this benchmark already. Choose another name."


class JudgeInUseError(ScoringError):
    code = "judge-in-use"
    status = 409
    message = "'{judge}' is {doing} at the moment. Wait until that has ended, or cancel it."
