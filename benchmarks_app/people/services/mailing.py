"""Mail is sent beside the answer, one at a time, by a thread of the web server."""

import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from django.db import connections

from benchmarks_app.site_path import tell_thread

log = logging.getLogger(__name__)
# By then the answer has gone: work beside it would slow it down, for known names alone.
PAUSE_SECONDS = 0.2
_SENDER = ThreadPoolExecutor(1, thread_name_prefix="mail", initializer=tell_thread)


def send_later(send: Callable[[], object]) -> None:
    """Look up and send without the answer waiting: its time would tell whether anybody is there."""
    _SENDER.submit(_sent, send)


def _sent(send: Callable[[], object]) -> None:
    time.sleep(PAUSE_SECONDS)
    try:
        send()
    except Exception:
        log.exception("mail was not sent")
    finally:
        connections.close_all()
