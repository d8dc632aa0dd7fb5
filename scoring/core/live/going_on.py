"""Asking what has no answer yet, each answer written down before the next is awaited."""

from collections.abc import Callable, Sequence
from contextlib import closing

from scoring.core.live.asking import Answered, Ask, Endpoint, Failed, ask_all
from scoring.core.live.errors import AskingFailedError
from scoring.core.live.keeping import Keeper

Tell = Callable[[int, int], None]
"""Takes how many queries are answered by now, and how many failed."""


def ask_missing(
    endpoint: Endpoint,
    queries: Sequence[Ask],
    keeper: Keeper,
    *,
    may_fail: int,
    system: str,
    kept: str,
    tell: Tell,
) -> list[Failed]:
    """Ask every query that the keeper does not know; the ones that failed, if so many may.

    `system` and `kept` are for the message: who was asked, and where answers stay.

    Raises
    ------
    AskingFailedError
        With one failure more than `may_fail`.
    EndpointError
        If the address may not be asked at all.
    """
    known = keeper.known(queries)
    missing = [query for query in queries if query[0] not in known]
    texts = dict(missing)
    n_answered, failed = len(known), list[Failed]()
    tell(n_answered, 0)
    with closing(ask_all(endpoint, missing)) as outcomes:
        for outcome in outcomes:
            if isinstance(outcome, Answered):
                keeper.add(outcome, texts[outcome.qid])
                n_answered += 1
            else:
                failed.append(outcome)
            if len(failed) > may_fail:
                raise AskingFailedError(
                    system=system,
                    failed=[(one.qid, one.why) for one in failed],
                    n_asked=n_answered + len(failed),
                    may_fail=may_fail,
                    kept=kept,
                )
            tell(n_answered, len(failed))
    return failed
