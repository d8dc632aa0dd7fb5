"""Signing in and out, lock-out, passwords, the profile."""

import re
from datetime import timedelta

import pytest
from django.core import mail
from django.test import Client
from django.test.utils import override_script_prefix
from django.urls import reverse

from benchmarks_app.common.selectors.people import named
from benchmarks_app.models import AuditEvent, User
from benchmarks_app.people.services import mailing
from benchmarks_app.people.services.api_tokens import create_api_token, token_of
from benchmarks_app.people.services.people import address_tokens

SIGN_IN = "/sign-in/"
RIGHT = {"username": "ada", "password": "a long password"}
WRONG = {"username": "ada", "password": "a wrong password"}


def is_signed_in(client) -> bool:
    return "_auth_user_id" in client.session


def link_in_mail() -> str:
    return re.search(r"http://testserver(/password/reset/\S+)", mail.outbox[-1].body)[1]


def open_reset_form(client, link: str):
    """The form's page, which has the token in the session instead of its address."""
    return client.get(link, follow=True)


def test_right_password_signs_in_and_leads_to_the_page_asked_for(client, ada):
    asked = client.get(reverse("account-detail"))

    answer = client.post(asked["Location"], {**RIGHT, "next": reverse("account-detail")})

    assert answer["Location"] == reverse("account-detail")
    assert is_signed_in(client)


def test_address_of_another_site_is_not_followed(client, ada):
    answer = client.post(SIGN_IN, {**RIGHT, "next": "https://elsewhere.example/"})

    assert answer["Location"] == reverse("home")


def test_wrong_password_and_unknown_name_are_answered_alike(client, ada):
    known = client.post(SIGN_IN, WRONG).context["form"].errors
    unknown = client.post(SIGN_IN, {**WRONG, "username": "nobody"}).context["form"].errors

    assert known == unknown
    assert not is_signed_in(client)


def test_signing_out_needs_a_post(signed_in, ada):
    client = signed_in(ada)

    assert client.get(reverse("sign-out")).status_code == 405
    assert is_signed_in(client)
    client.post(reverse("sign-out"))
    assert not is_signed_in(client)


def test_fifth_wrong_password_locks_the_name_out_and_says_for_how_long(client, ada):
    for _ in range(4):
        assert client.post(SIGN_IN, WRONG).status_code == 200

    answer = client.post(SIGN_IN, WRONG)

    assert answer.status_code == 429
    assert "15 minutes" in answer.content.decode()
    assert client.post(SIGN_IN, RIGHT).status_code == 429
    assert not is_signed_in(client)


def test_lock_out_of_one_name_leaves_others_alone(client, ada, bo):
    for _ in range(5):
        client.post(SIGN_IN, WRONG)

    client.post(SIGN_IN, {**RIGHT, "username": "bo"})

    assert is_signed_in(client)


def test_success_forgets_earlier_failures(client, ada):
    for _ in range(4):
        client.post(SIGN_IN, WRONG)
    client.post(SIGN_IN, RIGHT)
    client.post(reverse("sign-out"))

    assert client.post(SIGN_IN, WRONG).status_code == 200


def test_reset_link_sets_a_password_once(client, ada):
    client.post(reverse("password-reset"), {"email": "ada@example.org"})
    link = link_in_mail()
    form = open_reset_form(client, link)
    new = {"new_password1": "another long one", "new_password2": "another long one"}

    answer = client.post(form.request["PATH_INFO"], new)

    assert answer["Location"] == SIGN_IN
    assert User.objects.get(pk=ada.pk).check_password("another long one")
    assert "does not work any more" in open_reset_form(client, link).content.decode()
    client.post(form.request["PATH_INFO"], {f"new_password{n}": "a third, stolen" for n in (1, 2)})
    assert User.objects.get(pk=ada.pk).check_password("another long one")
    assert AuditEvent.objects.filter(action="password-reset").count() == 1


def test_answer_does_not_tell_whether_an_address_exists(client, ada):
    known = client.post(reverse("password-reset"), {"email": "ada@example.org"}, follow=True)
    unknown = client.post(reverse("password-reset"), {"email": "no@example.org"}, follow=True)

    assert known.redirect_chain == unknown.redirect_chain
    assert known.content == unknown.content
    assert [message.to for message in mail.outbox] == [["ada@example.org"]]


def test_reset_by_mail_ends_the_lock_out(client, ada):
    for _ in range(5):
        client.post(SIGN_IN, WRONG)
    client.post(reverse("password-reset"), {"email": "ada@example.org"})
    form = open_reset_form(client, link_in_mail())
    new = {"new_password1": "another long one", "new_password2": "another long one"}
    client.post(form.request["PATH_INFO"], new)

    client.post(SIGN_IN, {"username": "ada", "password": "another long one"})

    assert is_signed_in(client)


def test_password_change_needs_the_old_one_and_keeps_one_signed_in(signed_in, ada):
    client = signed_in(ada)
    new = {"new_password1": "another long one", "new_password2": "another long one"}

    refused = client.post(reverse("password-change"), {"old_password": "wrong", **new})
    client.post(reverse("password-change"), {"old_password": "a long password", **new})

    assert refused.context["form"].errors["old_password"]
    assert User.objects.get(pk=ada.pk).check_password("another long one")
    assert client.get(reverse("account-detail")).status_code == 200


def test_password_change_ends_the_tokens_but_those_kept_on_purpose(signed_in, ada, bo):
    kept, ended, bos = (
        create_api_token(user=user, name=name, days=9)
        for user, name in [(ada, "nightly"), (ada, "lost laptop"), (bo, "of bo")]
    )
    page = signed_in(ada).get(reverse("password-change")).content.decode()
    fields = {"old_password": "a long password", "tokens": [kept.token.pk]}

    new = {"new_password1": "another long one", "new_password2": "another long one"}
    signed_in(ada).post(reverse("password-change"), {**fields, **new})

    assert "lost laptop" in page
    assert "of bo" not in page
    assert [bool(token_of(made_token.secret)) for made_token in (kept, ended, bos)] == [
        True,
        False,
        True,
    ]
    events = AuditEvent.objects.filter(action="api-token-revoke")
    assert [(event.actor_id, event.target) for event in events] == [
        (ada.pk, f"token {ended.token.pk}")
    ]


def test_nobody_keeps_anothers_token_by_changing_a_password(signed_in, ada, bo):
    theirs = create_api_token(user=bo, name="of bo", days=9)
    create_api_token(user=ada, name="of ada", days=9)
    new = {"new_password1": "another long one", "new_password2": "another long one"}
    fields = {"old_password": "a long password", "tokens": [theirs.token.pk], **new}

    answer = signed_in(ada).post(reverse("password-change"), fields)

    assert answer.context["form"].errors["tokens"]


def test_password_set_by_mail_or_by_the_operator_ends_every_token(client, ada):
    by_mail = create_api_token(user=ada, name="a", days=9)
    client.post(reverse("password-reset"), {"email": "ada@example.org"})
    form = open_reset_form(client, link_in_mail())
    new = {"new_password1": "another long one", "new_password2": "another long one"}
    client.post(form.request["PATH_INFO"], new)
    assert token_of(by_mail.secret) is None

    by_operator = create_api_token(user=ada, name="b", days=9)
    person = User.objects.get(pk=ada.pk)
    person.set_password("a third long one")
    person.save()
    assert token_of(by_operator.secret) is None


def test_tokens_outlive_a_password_that_is_only_hashed_anew(client, ada, settings):
    issued = create_api_token(user=ada, name="a", days=9)
    before = User.objects.get(pk=ada.pk).password
    first = "django.contrib.auth.hashers.ScryptPasswordHasher"
    settings.PASSWORD_HASHERS = [first, *settings.PASSWORD_HASHERS]

    client.post(SIGN_IN, RIGHT)

    assert User.objects.get(pk=ada.pk).password != before
    assert token_of(issued.secret) == issued.token


@pytest.mark.parametrize("weak", ["short", "password123", "ada@example.org"])
def test_weak_passwords_are_refused(signed_in, ada, weak):
    fields = {"old_password": "a long password", "new_password1": weak, "new_password2": weak}

    answer = signed_in(ada).post(reverse("password-change"), fields)

    assert answer.context["form"].errors["new_password2"]
    assert User.objects.get(pk=ada.pk).check_password("a long password")


def test_profile_is_saved_without_a_password(signed_in, ada):
    fields = {"first_name": "Ada", "last_name": "Byron", "email": "ada@example.org"}

    answer = signed_in(ada).post(reverse("account-detail"), fields)

    assert answer.status_code == 302
    assert str(User.objects.get(pk=ada.pk)) == "Ada Byron"


@pytest.mark.parametrize(
    ("password", "email", "status"),
    [
        ("", "new@example.org", 422),
        ("wrong", "new@example.org", 422),
        ("a long password", "new@example.org", 302),
        ("a long password", "BO@example.org", 422),  # bo's
        ("a long password", "", 422),  # no way to reset the password would be left
    ],
)
def test_address_changes_only_with_the_password_and_only_to_a_free_one(
    signed_in, ada, bo, password, email, status
):
    fields = {"email": email, "current_password": password}

    answer = signed_in(ada).post(reverse("account-detail"), fields)

    assert answer.status_code == status
    changed = User.objects.get(pk=ada.pk).email == email
    assert changed == (status == 302)
    assert AuditEvent.objects.filter(action="email-change", actor=ada).exists() == changed


def test_wrong_passwords_of_a_stolen_session_count_together(signed_in, ada, settings):
    """Wherever it is asked for again; a right one does not count, and a new one begins anew."""
    client, new = signed_in(ada), {"new_password1": "another long", "new_password2": "another long"}
    places = [
        ("password-change", lambda password: {"old_password": password, **new}),
        (
            "account-detail",
            lambda password: {"email": "n@example.org", "current_password": password},
        ),
        ("account-delete", lambda password: {"password": password}),
        ("security-key-create", lambda password: {"name": "k", "password": password}),
    ]

    def said(n: int, password: str) -> str:
        name, address = places[n % len(places)]
        return client.post(reverse(name), address(password)).content.decode()

    assert "not your password" not in said(3, "a long password")
    for n in range(settings.AXES_FAILURE_LIMIT):
        assert "not your password" in said(n, f"wrong {n}")
    for n in range(len(places)):
        assert "Too many passwords" in said(n, "a long password")

    ada = User.objects.get(pk=ada.pk)
    assert ada.check_password("a long password") and ada.email == "ada@example.org"
    assert AuditEvent.objects.filter(action="password-try", target=named(ada.pk)).count() == 5
    ada.set_password("a new long one")
    ada.save()
    client.force_login(ada)
    assert "Too many passwords" not in said(3, "a new long one")


def test_account_page_lists_my_memberships_only(signed_in, ada, cy):
    page = signed_in(ada).get(reverse("account-detail")).content.decode()

    assert "Standard library" in page
    assert "Other" not in page


def test_account_page_needs_sign_in(client, db):
    assert client.get(reverse("account-detail"))["Location"].startswith(SIGN_IN)


def test_a_form_sent_after_the_session_ended_says_so_and_leads_back_to_its_page(
    client, ada, benchmark
):
    people = reverse("people-list", args=[benchmark.slug])
    removal = reverse("member-remove", args=[benchmark.slug, ada.pk])

    answers = [
        client.post(removal, headers=headers)
        for headers in ({"Referer": f"http://testserver{people}?page=2"}, {}, {"Referer": "//x/"})
    ]

    following = [f"next={people}%3Fpage%3D2", f"next={removal}", f"next={removal}"]
    assert [answer["Location"] for answer in answers] == [
        f"{SIGN_IN}?{next_one}&unsaved=1" for next_one in following
    ]
    assert "Nothing was saved" in client.get(answers[0]["Location"]).content.decode()
    assert "Nothing was saved" not in client.get(f"{SIGN_IN}?next={people}").content.decode()


# --- whose an address is -------------------------------------------------------------------


def address_link(client, **fields) -> str:
    """What is mailed to whoever asks for it, as a path of this site."""
    assert client.post(reverse("address-link"), fields).status_code == 302
    return re.search(r"http://testserver(/account/address/\S+)", mail.outbox[-1].body)[1]


def is_verified(person: User) -> bool:
    return User.objects.get(pk=person.pk).has_verified_email


def move(client, email: str) -> None:
    fields = {"email": email, "current_password": "a long password"}
    assert client.post(reverse("account-detail"), fields).status_code == 302


def test_link_verifies_the_address_of_whoever_asked_for_it(signed_in, ada):
    client = signed_in(ada)

    answer = client.get(address_link(client))

    assert answer["Location"] == reverse("account-detail")
    assert is_verified(ada)
    assert mail.outbox[0].to == ["ada@example.org"]
    assert "have confirmed that ada@example.org" in client.get(answer["Location"]).content.decode()
    event = AuditEvent.objects.get(action="address-verify")
    assert (event.actor, event.target, event.detail) == (ada, f"user {ada.pk}", {})


def test_used_link_is_refused_also_after_leaving_the_address_and_coming_back(signed_in, ada):
    client = signed_in(ada)
    link = address_link(client)
    client.get(link)

    assert client.get(link).status_code == 410
    move(client, "other@example.org")
    move(client, "ada@example.org")
    refused = client.get(link)

    assert refused.status_code == 410
    assert "used already" in refused.content.decode()
    assert not is_verified(ada)


def test_link_verifies_no_other_account_and_nobody_who_is_not_signed_in(signed_in, client, ada, bo):
    link = address_link(signed_in(ada))

    foreign = signed_in(bo).get(link)
    client.logout()
    unknown = client.get(link)

    assert foreign.status_code == 410
    assert unknown["Location"].startswith(SIGN_IN)
    assert not is_verified(bo)
    assert not is_verified(ada)


def test_link_ends_after_some_days(signed_in, ada, settings, monkeypatch):
    client = signed_in(ada)
    link = address_link(client)
    later = address_tokens._now() + timedelta(seconds=settings.PASSWORD_RESET_TIMEOUT + 1)
    monkeypatch.setattr(address_tokens, "_now", lambda: later)

    assert client.get(link).status_code == 410
    assert not is_verified(ada)


def test_link_from_before_a_new_password_proves_nothing(signed_in, ada):
    link = address_link(signed_in(ada))
    ada.set_password("another long password")
    ada.save()

    assert signed_in(ada).get(link).status_code == 410
    assert not is_verified(ada)


def test_link_to_an_earlier_address_proves_nothing(signed_in, ada):
    client = signed_in(ada)
    link = address_link(client)
    move(client, "bo@example.org")

    assert client.get(link).status_code == 410
    assert not is_verified(ada)


def test_new_address_is_not_verified_and_a_new_name_changes_nothing(signed_in, ada):
    client = signed_in(ada)
    client.get(address_link(client))

    client.post(reverse("account-detail"), {"first_name": "Ada", "email": "ada@example.org"})
    assert is_verified(ada)
    move(client, "other@example.org")

    assert not is_verified(ada)
    assert User.objects.get(pk=ada.pk).verified_email == ""


def test_reset_by_mail_verifies_the_address(client, ada):
    client.post(reverse("password-reset"), {"email": "ada@example.org"})
    form = open_reset_form(client, link_in_mail())
    assert not is_verified(ada)

    new = {"new_password1": "another long one", "new_password2": "another long one"}
    client.post(form.request["PATH_INFO"], new)

    assert is_verified(ada)


@pytest.mark.parametrize("then", ["https://elsewhere.example/", "//elsewhere.example"])
def test_link_leads_to_no_other_site(signed_in, ada, then):
    client = signed_in(ada)

    link = address_link(client, next=then)
    answer = client.get(f"{link}?next={then}")

    assert "elsewhere" not in link
    assert answer["Location"] == reverse("account-detail")


def test_person_is_mailed_so_many_links_and_told_the_same(signed_in, ada, settings):
    settings.PASSWORD_RESETS_PER_HOUR = 2
    client = signed_in(ada)

    answers = [client.post(reverse("address-link"), follow=True) for _ in range(3)]

    assert len(mail.outbox) == 2
    assert {answer.redirect_chain[0][1] for answer in answers} == {302}
    assert len({str(*answer.context["messages"]) for answer in answers}) == 1


def test_network_address_asks_so_often_resets_and_links_together(signed_in, ada, settings):
    settings.PASSWORD_RESETS_PER_HOUR = 1
    client = signed_in(ada)
    for n in range(9):
        client.post(reverse("password-reset"), {"email": f"name{n}@example.org"})

    answers = [client.post(reverse("address-link")).status_code for _ in range(2)]

    assert answers == [302, 429]


def test_mail_is_sent_beside_the_answer(signed_in, ada, monkeypatch):
    later = []
    monkeypatch.setattr(mailing, "send_later", later.append)

    answer = signed_in(ada).post(reverse("address-link"))

    assert answer.status_code == 302
    assert (len(later), mail.outbox) == (1, [])


def test_api_mails_the_link_and_says_whether_the_address_is_verified(signed_in, ada):
    client = signed_in(ada)
    before = client.get("/api/v1/me/").json()["has_verified_email"]

    answer = client.post("/api/v1/me/address-link/")
    client.get(re.search(r"http://testserver(\S+)", mail.outbox[0].body)[1])

    assert answer.status_code == 202
    assert [before, client.get("/api/v1/me/").json()["has_verified_email"]] == [False, True]


@pytest.mark.parametrize("path", ["", "/benchwright"])
def test_mailed_links_lead_to_the_site_whatever_host_was_asked(ada, signed_in, settings, path):
    """Whoever asks may add a port where they listen themselves, and wait for the link."""
    settings.SITE_URL, settings.SITE_PATH = f"https://bench.example.org{path}", path
    settings.IS_PLACE_TOLD, settings.FORCE_SCRIPT_NAME = True, path or None
    with override_script_prefix(f"{path}/"):
        Client(HTTP_HOST="localhost:6666").post("/password/reset/", {"email": ada.email})
        client = signed_in(ada)
        client.post("/account/address/", HTTP_HOST="localhost:6666")

    links = [re.search(r"https?://\S+", mail.body)[0] for mail in mail.outbox]
    assert [re.sub("[^/]+/[^/]+/$", "", link) for link in links] == [
        f"https://bench.example.org{path}/password/reset/",
        f"https://bench.example.org{path}/account/",
    ]
