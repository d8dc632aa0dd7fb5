"""What can go wrong with bringing a collection by its name.

BenchmarkError
├── CollectionNameError     not a name of a collection
├── ExtraMissingError       what reads it is not installed
├── AddressRefusedError     no address that may be asked
├── DownloadError           the other side does not give it, or not all of it
│   └── UnreachableError    nobody answers there, or nobody who may be asked
├── ChecksumError           what came is not what was expected
└── CollectionShapeError    what came holds no corpus, queries and qrels
"""

from benchwright.errors import BenchmarkError


class CollectionNameError(BenchmarkError, code="collection-name"):
    message = "'{given}' names no collection: {why}"


class ExtraMissingError(BenchmarkError, code="extra-missing"):
    message = (
        "{what} is read with a library that is not installed here. Install it where the site runs: "
        "pip install 'benchwright[{extra}]', and start the worker again."
    )


class AddressRefusedError(BenchmarkError, code="address-refused"):
    message = (
        "{address}: {why}. Only public http and https addresses are asked; who runs the site can "
        "allow others (FETCH_PRIVATE_ADDRESSES)."
    )


class DownloadError(BenchmarkError, code="download"):
    message = "{address}: {why}. {advice}"


class UnreachableError(DownloadError, code="unreachable"):
    """One sentence for whatever keeps a name from being asked.

    Who may write addresses could otherwise tell which names a private network has, and which of
    its ports are open.
    """

    message = (
        "{address}: {why}. Look whether the site may reach it, then try again; who runs the site "
        "can allow others (FETCH_PRIVATE_ADDRESSES), and finds the cause in its log."
    )

    def __init__(self, *, address: str) -> None:
        why = "no connection: nobody answers there, or it is not in the public network"
        super().__init__(address=address, why=why)


class ChecksumError(BenchmarkError, code="checksum"):
    message = (
        "{address}: what was downloaded has the {algorithm} {found}, expected {expected}. It was "
        "thrown away; fetch it again, and if it stays so, do not trust the source."
    )


class CollectionShapeError(BenchmarkError, code="collection-shape"):
    message = "{name} is not in BEIR's layout: {why}"
