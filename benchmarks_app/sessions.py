"""Sessions in the database, read by a statement that is written out: it runs at every request.

A row has a digest of the key that its cookie holds: who reads the database, or a copy of it, is
let in by none of them.
"""

from hashlib import sha256
from types import SimpleNamespace
from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends import db
from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import connection
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from benchmarks_app.models import User

# In the session of who came through the provider: when (`at`), and where to sign out (`end`).
PROVIDER = "provider"

_SESSION = "SELECT session_data FROM django_session WHERE session_key = %s AND expire_date > %s"


class SessionStore(db.SessionStore):
    def _get_session_from_db(self) -> SimpleNamespace | None:
        now = connection.ops.adapt_datetimefield_value(timezone.now())
        with connection.cursor() as cursor:
            cursor.execute(_SESSION, [_stored(self.session_key or ""), now])
            row = cursor.fetchone()
        if row is None:
            self._session_key = None
            return None
        return SimpleNamespace(session_data=row[0])

    def exists(self, session_key: str) -> bool:
        return super().exists(_stored(session_key))

    def create_model_instance(self, data: dict[str, Any]) -> AbstractBaseSession:
        row = super().create_model_instance(data)
        row.session_key = _stored(row.session_key)
        return row

    def delete(self, session_key: str | None = None) -> None:
        key = session_key or self.session_key
        if key:
            super().delete(_stored(key))


def _stored(key: str) -> str:
    return sha256(key.encode()).hexdigest()[:40]


def claimed_user(request: HttpRequest) -> int | None:
    """Whose session this says it is; nobody is signed in until `is_signed_in` agrees."""
    session = request.session
    if session.get(BACKEND_SESSION_KEY) not in settings.AUTHENTICATION_BACKENDS:
        return None
    return int(session[SESSION_KEY]) if SESSION_KEY in session else None


def is_signed_in(request: HttpRequest, user_id: int, password: str | None, is_active: bool) -> bool:
    """Whether a session is that of this user, whose row the caller has read with other things.

    As `request.user`, which reads the row alone; it is asked where a session does not fit, because
    it may be one of an earlier secret key.
    """
    if password is not None and is_active:
        expected = User(pk=user_id, password=password).get_session_auth_hash()
        if constant_time_compare(request.session.get(HASH_SESSION_KEY, ""), expected):
            return True
    return bool(request.user.is_authenticated)
