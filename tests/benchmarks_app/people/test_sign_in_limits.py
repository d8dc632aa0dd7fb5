"""Wrong passwords and resets: who has to wait, and who cannot be made to wait by an outsider."""

from threading import Event

import pytest
from django.core import mail
from django.core.cache import caches
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from benchmarks_app import settings as site
from benchmarks_app.people.services import mailing
from benchmarks_app.people.services.mailing import send_later

RESET = "/password/reset/"
HOME, OFFICE = "192.0.2.1", "198.51.100.1"


@pytest.fixture(autouse=True)
def two_failures(settings) -> None:
    settings.AXES_FAILURE_LIMIT = 2


def sign_in(client: Client, name: str, password: str, address: str, **headers: str) -> int:
    fields = {"username": name, "password": password}
    return client.post("/sign-in/", fields, REMOTE_ADDR=address, headers=headers).status_code


def right(client: Client, name: str, address: str, **headers: str) -> int:
    """302 where the right password lets somebody in."""
    return sign_in(client, name, "a long password", address, **headers)


def guess(name: str, address: str, **headers: str) -> int:
    return sign_in(Client(), name, "a wrong password", address, **headers)


@pytest.fixture
def browser(ada) -> Client:
    """What Ada signs in with, at home."""
    client = Client()
    assert right(client, "ada", HOME) == 302
    client.post(reverse("sign-out"))
    return client


def guess_from_everywhere(name: str) -> None:
    for n in range(20):
        guess(name, f"203.0.113.{n}")


def test_guesses_from_many_addresses_stop_the_name_for_strangers(ada):
    guess_from_everywhere("ada")

    assert right(Client(), "ada", OFFICE) == 429


def test_outsiders_do_not_lock_out_who_signs_in_from_where_they_usually_do(browser):
    guess_from_everywhere("ada")

    assert right(Client(), "ada", HOME) == 302
    assert right(browser, "ada", OFFICE) == 302


def test_neighbours_at_the_same_address_do_not_lock_out_a_browser_that_is_known(browser):
    for _ in range(3):
        guess("ada", HOME)

    assert right(Client(), "ada", HOME) == 429
    assert right(browser, "ada", HOME) == 302


def test_one_password_tried_on_many_names_stops_the_address(ada, bo):
    for n in range(20):
        guess(f"name{n}", HOME)

    assert right(Client(), "ada", HOME) == 429
    assert right(Client(), "bo", OFFICE) == 302


def test_known_browser_is_held_to_the_limit_too(browser):
    answers = [sign_in(browser, "ada", "a wrong password", OFFICE) for _ in range(2)]

    assert answers == [200, 429]
    assert right(browser, "ada", OFFICE) == 429


def test_browser_of_one_person_does_not_help_with_anothers_name(browser, bo):
    guess_from_everywhere("bo")

    assert right(browser, "bo", OFFICE) == 429


def test_nobody_makes_up_a_known_browser(ada):
    made_up = {"User-Agent": "device 1", "Cookie": f"device={ada.pk}:1:1:1"}
    for n in range(20):
        guess("ada", f"203.0.113.{n}", **made_up)

    assert right(Client(), "ada", OFFICE, **made_up) == 429


# --- resets --------------------------------------------------------------------------------


def ask_reset(email: str, address: str = HOME) -> int:
    return Client().post(RESET, {"email": email}, REMOTE_ADDR=address).status_code


def test_account_is_sent_so_many_links_an_hour_and_the_answer_stays_the_same(settings, ada, bo):
    settings.PASSWORD_RESETS_PER_HOUR = 2

    answers = [ask_reset("ada@example.org", f"203.0.113.{n}") for n in range(4)]
    ask_reset("bo@example.org")

    assert answers == [302] * 4
    assert [message.to[0] for message in mail.outbox] == ["ada@example.org"] * 2 + [
        "bo@example.org"
    ]


def test_address_asks_so_often_an_hour_whatever_names_it_gives(settings, db):
    settings.PASSWORD_RESETS_PER_HOUR = 1

    answers = [ask_reset(f"name{n}@example.org") for n in range(11)]

    assert answers == [302] * 10 + [429]
    assert ask_reset("name@example.org", OFFICE) == 302


def test_answer_does_the_same_for_known_and_unknown_addresses(monkeypatch, ada):
    later = []
    monkeypatch.setattr(mailing, "send_later", later.append)
    asked = []
    for email in ("ada@example.org", "nobody@example.org"):
        with CaptureQueriesContext(connection) as queries:
            ask_reset(email)
        asked.append([query["sql"] for query in queries])

    assert asked[0] == asked[1]
    assert len(later) == 2
    assert not mail.outbox


def test_answer_does_not_wait_for_the_mail():
    may_end, has_ended = Event(), Event()

    send_later(lambda: may_end.wait(10) and has_ended.set())

    assert not has_ended.is_set()
    may_end.set()
    assert has_ended.wait(10)


def test_mail_that_fails_is_logged_and_the_next_is_sent(caplog):
    def fails() -> None:
        raise OSError("no route")

    has_ended = Event()
    send_later(fails)
    send_later(has_ended.set)

    assert has_ended.wait(10)
    assert "mail was not sent" in caplog.text


def test_mail_without_a_server_is_a_file_for_the_operator_and_in_no_log(settings, ada, capfd):
    settings.EMAIL_BACKEND = site.EMAIL_BACKEND
    settings.EMAIL_FILE_PATH = settings.DATA_DIR / "mail"

    ask_reset("ada@example.org")

    [file] = settings.EMAIL_FILE_PATH.iterdir()
    assert "To: ada@example.org" in file.read_text()
    assert RESET in file.read_text()
    assert RESET not in "".join(capfd.readouterr())


def test_folder_of_mail_is_closed_to_others():
    assert site.EMAIL_FILE_PATH == site.DATA_DIR / "mail"
    assert site.EMAIL_FILE_PATH.stat().st_mode & 0o077 == 0


def test_counts_are_not_pushed_out_by_many_others():
    counts = caches["limits"]
    for n in range(2_000):
        counts.set(f"address-{n}", n)

    assert counts.get("address-0") == 0
