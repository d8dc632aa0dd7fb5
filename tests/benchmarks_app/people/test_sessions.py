"""Sessions: the cookie's key opens one, and what the database has of it does not."""

from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import reverse

ACCOUNT, COOKIE = "account-detail", "sessionid"


def test_key_in_the_database_is_no_cookie(signed_in, ada):
    client, thief = signed_in(ada), Client()
    cookie = client.cookies[COOKIE].value

    stored = Session.objects.get()
    thief.cookies[COOKIE] = stored.session_key

    assert cookie not in str(Session.objects.values())
    assert client.get(reverse(ACCOUNT)).status_code == 200
    assert thief.get(reverse(ACCOUNT)).status_code == 302


def test_key_is_new_after_signing_in_and_signing_out_ends_the_session(client, ada):
    fields = {"username": "ada", "password": "a long password"}
    client.get(reverse("sign-in"))
    session = client.session
    session["before"] = 1
    session.save()
    before = client.cookies[COOKIE].value

    client.post(reverse("sign-in"), fields)

    after = client.cookies[COOKIE].value
    assert after != before and Session.objects.count() == 1
    client.post(reverse("sign-out"))
    old = Client()
    old.cookies[COOKIE] = after
    assert old.get(reverse(ACCOUNT)).status_code == 302
    assert not Session.objects.exists()
