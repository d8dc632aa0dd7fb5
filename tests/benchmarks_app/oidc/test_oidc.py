"""Signing in through a provider: its words are checked, accounts stay whose they are."""

import logging
import socket
import time
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.hashers import make_password
from django.core import mail
from django.test import Client
from django.test.utils import override_script_prefix
from django.urls import reverse

from benchmarks_app.errors import ProviderAnswerError
from benchmarks_app.models import AuditEvent, Identity, Membership, Team, User
from benchmarks_app.oidc import client as talk
from benchmarks_app.oidc.provider import Grant, Provider
from benchmarks_app.oidc.services.accounts import account_of
from benchmarks_app.people.services import people, teams
from benchmarks_app.people.services.api_tokens import create_api_token
from tests import factories, oidc_provider
from tests.oidc_provider import CLIENT, KEY, OF_CLIENT, SECRET, STRANGE_KEY, Person

BEGIN, BACK = "/sign-in/provider/", "/sign-in/provider/callback/"
PASSWORD = "a long password"


@pytest.fixture(scope="module")
def server():
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    with oidc_provider.running() as state:
        yield state


@pytest.fixture
def provider(server, settings):
    """The provider as it tells the truth of Ada, known to the site."""
    talk._client.cache_clear()
    url = server.url
    server.__init__(url=url)
    configure(settings, server)
    settings.AUTHENTICATION_BACKENDS = [
        *settings.AUTHENTICATION_BACKENDS,
        "benchmarks_app.oidc.backend.ProviderBackend",
    ]
    return server


def configure(settings, server, **values):
    common = {"issuer": server.url, "client_id": CLIENT, "secret": SECRET, "label": "Example SSO"}
    common |= {"scopes": "openid profile email", "domains": (), "groups_claim": "groups"}
    settings.OIDC = Provider(**{**common, "grants": (), "links_accounts": False, **values})


@pytest.fixture
def browser(db):
    return Client(HTTP_HOST="localhost")


def led_there(browser, **posted):
    """The address at the provider to which the button leads."""
    answer = browser.post(BEGIN, posted)
    assert answer.status_code == 302, answer.content
    return answer["Location"]


def sign_in(browser, **posted):
    """Through the provider and back, as a browser follows; the site's answer to that."""
    at_provider = httpx.get(led_there(browser, **posted))
    return browser.get(at_provider.headers["Location"].partition("localhost")[2])


def refused(answer, code, *words):
    assert answer.headers.get("X-Error-Code") == code, answer.content.decode()
    text = answer.content.decode()
    assert [word for word in words if word not in text] == []
    assert "_auth_user_id" not in answer.client.session


# --- the way there and back ----------------------------------------------------------------


def test_new_person_has_an_account_without_a_password_and_with_a_verified_address(
    provider, browser
):
    provider.person.claims |= {"given_name": "Ada", "family_name": "Byron\x00"}

    answer = sign_in(browser)

    assert (answer.status_code, answer["Location"]) == (302, "/")
    user = User.objects.get(username="ada")
    assert (user.email, user.verified_email) == ("ada@example.org", "ada@example.org")
    assert (user.first_name, user.last_name) == ("Ada", "Byron")
    assert not user.has_usable_password()
    assert not (user.is_staff or user.is_superuser)
    assert browser.get("/account/").status_code == 200
    assert Identity.objects.get(user=user).subject == provider.person.sub
    events = AuditEvent.objects.filter(actor=user).order_by("pk")
    actions = ["account-create", "identity-link", "sign-in"]
    assert [*events.values_list("action", flat=True)] == actions


def test_new_account_is_told_nothing_by_mail(provider, browser, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        sign_in(browser)

    assert mail.outbox == []


def test_way_there_carries_pkce_state_nonce_and_nothing_secret(provider, browser):
    address = urlsplit(led_there(browser))

    asked = {name: values[0] for name, values in parse_qs(address.query).items()}
    assert asked["response_type"] == "code"
    assert asked["code_challenge_method"] == "S256"
    assert len(asked["code_challenge"]) == 43
    assert asked["redirect_uri"] == f"http://localhost{BACK}"
    assert min(len(asked["state"]), len(asked["nonce"])) >= 20
    assert SECRET not in address.query


def test_way_back_is_below_the_path_of_the_site(provider, browser, settings):
    settings.FORCE_SCRIPT_NAME = "/benchwright"

    with override_script_prefix("/benchwright/"):
        at_provider = httpx.get(led_there(browser))
        host, path, asked = at_provider.headers["Location"].partition("/benchwright")
        answer = browser.get(asked)

    assert (host, path) == ("http://localhost", "/benchwright")
    assert asked.startswith(f"{BACK}?")
    assert (answer.status_code, answer["Location"]) == (302, "/benchwright/")


def test_provider_takes_no_code_without_what_the_challenge_was_made_of(provider, browser):
    """That PKCE is asked for is the provider's: here it is seen to be, with another verifier."""
    there = httpx.get(led_there(browser)).headers["Location"]
    session = browser.session
    (key,) = filter(lambda name: name.startswith("_state_provider_"), session.keys())
    session[key]["data"]["code_verifier"] = "x" * 48
    session.save()

    refused(browser.get(there.partition("localhost")[2]), "provider-refused", "invalid_grant")


def test_second_sign_in_is_the_same_account_whatever_became_of_the_address(provider, browser):
    sign_in(browser)
    provider.person.claims["email"] = "countess@example.org"

    sign_in(Client(HTTP_HOST="localhost"))

    accounts = User.objects.values_list("username", "email", "verified_email")
    assert [*accounts] == [("ada", "countess@example.org", "countess@example.org")]
    assert AuditEvent.objects.filter(action="email-change").count() == 1


@pytest.mark.parametrize("whose", ["somebody else's", "changed here"])
def test_address_stays_where_another_has_the_new_one_or_it_is_changed_here(
    provider, browser, whose
):
    sign_in(browser)
    provider.person.claims["email"] = "countess@example.org"
    if whose == "changed here":
        User.objects.filter(username="ada").update(password=make_password(PASSWORD))
    else:
        User.objects.create_user("other", "Countess@example.org", PASSWORD)

    sign_in(Client(HTTP_HOST="localhost"))

    assert ada_().email == "ada@example.org"


@pytest.mark.parametrize(
    ("wished", "name"),
    [
        ("ada", "ada-2"),
        ("\uff21\uff44\uff41", "Ada-2"),
        ("\ufb01n" * 60, ("fin" * 60)[:140]),
    ],
    ids=["same", "wide letters", "grows"],
)
def test_user_name_that_somebody_has_gets_a_number(provider, browser, wished, name):
    factories.user("Ada")
    User.objects.update(email="else@example.org")
    provider.person.claims["preferred_username"] = wished

    sign_in(browser)

    assert Identity.objects.get().user.username == name


@pytest.mark.parametrize("next_page", ["/teams/", "/b/stdlib/?page=2"])
def test_page_that_was_asked_for_comes_after(provider, browser, next_page):
    assert sign_in(browser, next=next_page)["Location"] == next_page


@pytest.mark.parametrize(
    "elsewhere",
    ["https://evil.example/", "//evil.example/", "/\\evil.example", "javascript:alert(1)"],
)
def test_next_page_elsewhere_is_not_followed(provider, browser, elsewhere):
    assert sign_in(browser, next=elsewhere)["Location"] == "/"


def test_way_there_needs_the_pages_own_form(provider, db):
    browser = Client(HTTP_HOST="localhost", enforce_csrf_checks=True)

    assert browser.get(BEGIN).status_code == 405
    assert browser.post(BEGIN).status_code == 403


def test_without_a_provider_there_is_no_button_and_no_address(browser):
    assert "provider" not in browser.get("/sign-in/").content.decode()
    assert browser.post(BEGIN).status_code == 404
    assert browser.get(BACK).status_code == 404


def test_button_names_the_provider_in_the_readers_language(provider, browser):
    page = browser.get("/sign-in/", HTTP_ACCEPT_LANGUAGE="de").content.decode()

    assert "Mit Example SSO anmelden" in page


# --- what is refused -----------------------------------------------------------------------


def test_answer_for_another_browser_is_refused(provider, browser):
    there = httpx.get(led_there(browser)).headers["Location"].partition("localhost")[2]
    other = Client(HTTP_HOST="localhost")

    refused(other.get(there), "sign-in-lost")
    assert not User.objects.exists()


def test_answer_with_another_state_or_used_twice_is_refused(provider, browser):
    there = httpx.get(led_there(browser)).headers["Location"].partition("localhost")[2]

    refused(browser.get(there.replace("state=", "state=x")), "sign-in-lost")
    assert browser.get(there).status_code == 302
    again = browser.get(there)
    assert again.headers["X-Error-Code"] == "sign-in-lost"


HOUR_AGO = int(time.time()) - 3600
LIES = {
    "issuer": {"iss": "https://evil.example"},
    "audience": {"aud": ["somebody-else"]},
    "two audiences, for the other": {"aud": [CLIENT, "other"], "azp": "other"},
    "expired": {"exp": HOUR_AGO, "iat": HOUR_AGO - 60},
    "not yet": {"nbf": HOUR_AGO + 2 * 86_400},
    "nonce": {"nonce": "of another sign-in"},
    "no nonce": {"nonce": None},
    "nobody": {"sub": ""},
    "a long name": {"sub": "x" * 256},
}


@pytest.mark.parametrize("lie", LIES.values(), ids=list(LIES))
def test_token_that_does_not_fit_is_refused(provider, browser, lie):
    provider.lies = lie

    refused(sign_in(browser), "provider-answer", "is not valid")
    assert not User.objects.exists()


@pytest.mark.parametrize("slash", ["/", ""])
def test_provider_that_calls_itself_with_a_slash_at_the_end_signs_in(provider, browser, slash):
    """As Authentik and Auth0 do; a token has to call it as its description does."""
    provider.described = {"issuer": f"{provider.url}/"}
    provider.lies = {"iss": f"{provider.url}{slash}"}

    answer = sign_in(browser)

    assert (answer.status_code == 302) is bool(slash), answer.content.decode()
    assert {*Identity.objects.values_list("issuer", flat=True)} == (
        {provider.url} if slash else set()
    )


def test_longest_name_of_the_provider_for_somebody_is_taken(provider, browser):
    provider.person.sub = "x" * 255

    assert sign_in(browser).status_code == 302
    assert Identity.objects.get().subject == provider.person.sub


def test_description_is_asked_for_once_an_hour(provider, browser, monkeypatch):
    now = time.time() // 3600 * 3600
    monkeypatch.setattr(talk.time, "time", lambda: now)
    led_there(browser)
    provider.described = {"authorization_endpoint": f"{provider.url}/another"}

    places = []
    for seconds in (0, 3599, 3600):
        monkeypatch.setattr(talk.time, "time", lambda seconds=seconds: now + seconds)
        places.append(urlsplit(led_there(browser)).path)

    assert places == ["/authorize", "/authorize", "/another"]


@pytest.mark.parametrize("subject", ["ada\0", "ada\ud800"])
def test_subject_that_no_database_takes_is_of_nobody(provider, settings, db, subject):
    claims = {"email": "ada@example.org", "email_verified": True, "sub": subject}

    with pytest.raises(ProviderAnswerError, match="it names nobody"):
        account_of(provider=settings.OIDC, claims=claims)


@pytest.mark.parametrize(
    "signing",
    [(STRANGE_KEY, "RS256"), (OF_CLIENT, "HS256"), (KEY, "none")],
    ids=["key", "own", "none"],
)
def test_token_that_the_provider_has_not_signed_is_refused(provider, browser, signing):
    """With another key; with the client's own secret; not at all: whatever it says it can."""
    provider.signing = signing

    refused(sign_in(browser), "provider-answer")
    assert not User.objects.exists()


def test_userinfo_of_somebody_else_is_refused(provider, browser):
    del provider.person.claims["email_verified"]
    provider.apart, provider.userinfo_sub = {"email_verified": True}, "another"

    refused(sign_in(browser), "provider-answer", "somebody else")


def test_address_that_only_userinfo_tells_is_taken(provider, browser):
    del provider.person.claims["email_verified"]
    provider.apart = {"email_verified": True}

    assert sign_in(browser).status_code == 302


def test_what_the_signed_token_says_goes_before_userinfo(provider, browser):
    del provider.person.claims["email_verified"]
    provider.apart = {"email_verified": True, "email": "somebody-else@example.org"}

    sign_in(browser)

    assert [*User.objects.values_list("email", flat=True)] == ["ada@example.org"]


@pytest.mark.parametrize(
    "claims",
    [
        {"email_verified": False},
        {"email_verified": "false"},
        {"email_verified": None},
        {"email": ""},
        {"email": "no address"},
        {"email": ["ada@example.org"]},
        {"email": factories.LONG_ADDRESS},
    ],
    ids=str,
)
def test_address_that_is_not_verified_is_refused(provider, browser, claims):
    provider.person.claims |= claims

    refused(sign_in(browser), "provider-address", "Example SSO")
    assert not User.objects.exists()


def test_address_of_another_domain_is_refused_also_later(provider, browser, settings):
    configure(settings, provider, domains=("example.org",))
    assert sign_in(browser).status_code == 302

    provider.person.claims["email"] = "ada@sub.example.org"
    refused(sign_in(Client(HTTP_HOST="localhost")), "provider-domain", "sub.example.org")


def test_who_says_no_at_the_provider_is_told_so(provider, browser):
    state = parse_qs(urlsplit(led_there(browser)).query)["state"][0]

    answer = browser.get(BACK, {"error": "access_denied", "state": state})

    refused(answer, "provider-refused", "access_denied")


def test_provider_that_is_down_has_a_page_of_its_own(provider, browser, settings):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        configure(settings, provider, issuer=f"http://127.0.0.1:{free.getsockname()[1]}")

    answer = browser.post(BEGIN)

    assert (answer.status_code, answer["Retry-After"]) == (503, "60")
    refused(answer, "provider-down", "Example SSO", "does not answer")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ({"issuer": "https://evil.example"}, "calls itself https://evil.example"),
        ({"authorization_endpoint": "https://evil.example/"}, "sign-in page is not at"),
        ({"token_endpoint": None}, "no token_endpoint"),
    ],
)
def test_provider_that_describes_another_is_refused(provider, browser, words, why):
    provider.described = words

    refused(browser.post(BEGIN), "provider-answer", why)


# --- whose account it is -------------------------------------------------------------------


@pytest.mark.parametrize("may_link", [False, True])
@pytest.mark.parametrize("is_verified", [False, True])
def test_account_of_the_address_is_linked_only_if_both_have_verified_it_and_the_site_allows(
    provider, browser, settings, db, may_link, is_verified
):
    configure(settings, provider, links_accounts=may_link)
    ada = factories.user("someone")
    ada.email = ada.verified_email = "Ada@example.org"
    ada.save()
    if not is_verified:
        User.objects.update(verified_email="")

    answer = sign_in(browser)

    if may_link and is_verified:
        assert Identity.objects.get().user == ada
        assert answer.status_code == 302
    else:
        refused(answer, "provider-account-taken", "already")
        assert not Identity.objects.exists()
    assert User.objects.count() == 1


def test_owner_of_a_linked_account_is_told_and_keeps_the_password(
    provider, browser, settings, db, django_capture_on_commit_callbacks
):
    configure(settings, provider, links_accounts=True)
    ada = factories.user("ada")
    ada.verified_email = ada.email
    ada.save()

    with django_capture_on_commit_callbacks(execute=True):
        sign_in(browser)

    (mail_sent,) = mail.outbox
    assert mail_sent.to == ["ada@example.org"]
    assert "through Example SSO" in mail_sent.body
    ada.refresh_from_db()
    assert ada.check_password(PASSWORD)


def test_account_that_is_linked_already_is_not_linked_to_another_person(
    provider, browser, settings, db
):
    configure(settings, provider, links_accounts=True)
    sign_in(browser)
    provider.person = Person(sub="another")

    refused(sign_in(Client(HTTP_HOST="localhost")), "provider-account-taken")


def test_closed_account_is_not_opened(provider, browser):
    sign_in(browser)
    User.objects.update(is_active=False)

    refused(sign_in(Client(HTTP_HOST="localhost")), "provider-account-closed")


def test_second_factor_is_asked_for_after_the_provider_too(provider, browser):
    from benchmarks_app.people.services import factors

    sign_in(browser)
    factors.add_totp(user=User.objects.get(), secret="JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP", step=0)
    other = Client(HTTP_HOST="localhost")

    answer = sign_in(other, next="/teams/")

    assert answer["Location"] == "/sign-in/second/"
    assert "_auth_user_id" not in other.session


# --- groups --------------------------------------------------------------------------------


STAFF = Grant("/admins", "staff")
ANNOTATES = Grant("labelers", "benchmark", "stdlib", "annotator")
MAINTAINS = Grant("keepers", "benchmark", "stdlib", "maintainer")
PLAYS = Grant("labelers", "team", "Reds")


@pytest.fixture
def grouped(provider, settings, benchmark, owner):
    """A function that signs Ada in with these groups; her role in the benchmark then."""
    configure(settings, provider, grants=(STAFF, ANNOTATES, MAINTAINS, PLAYS))
    Team.objects.create(name="Reds")

    def sign(*groups):
        provider.person.claims["groups"] = list(groups)
        answer = sign_in(Client(HTTP_HOST="localhost"))
        assert answer.status_code == 302, answer.content.decode()
        return role()

    return sign


def ada_():
    return Identity.objects.get().user


def role():
    membership = Membership.objects.filter(user=ada_()).first()
    return membership.role if membership else None


def test_role_comes_with_the_group_and_goes_with_it(grouped):
    assert grouped("labelers") == "annotator"
    assert grouped("labelers", "keepers", "strangers") == "maintainer"
    assert grouped("labelers") == "annotator"
    assert grouped() is None
    assert [*AuditEvent.objects.filter(action="member-remove").values_list("actor", flat=True)] == [
        None
    ]


def test_role_that_a_person_gave_is_never_taken(grouped, benchmark, owner):
    grouped()
    people.add_member(benchmark=benchmark, user=ada_(), role="viewer", actor=owner)

    assert grouped("labelers") == "annotator"
    assert grouped("keepers") == "maintainer"
    assert grouped() == "viewer"


def test_higher_role_that_a_person_gave_stays_with_and_without_the_group(grouped, benchmark, owner):
    grouped("labelers")
    membership = Membership.objects.get(user=ada_())
    people.change_role(membership=membership, role="maintainer", actor=owner)

    assert grouped("labelers") == "maintainer"
    assert grouped() == "maintainer"


def test_role_of_a_group_that_a_person_gives_again_stays(grouped, benchmark, owner):
    grouped("labelers")
    membership = Membership.objects.get(user=ada_())
    people.change_role(membership=membership, role="annotator", actor=owner)

    assert grouped() == "annotator"


def test_only_owner_stays_when_the_group_is_left(grouped, settings, provider, benchmark, owner):
    grant = Grant("owners", "benchmark", "stdlib", "owner")
    configure(settings, provider, grants=(grant,))
    grouped("owners")
    people.remove_member(membership=Membership.objects.get(user=owner), actor=owner)

    assert grouped() == "owner"


def test_place_in_a_team_comes_and_goes_but_not_one_that_a_person_gave(grouped, benchmark, owner):
    reds = Team.objects.get()
    grouped("labelers")
    assert [*reds.members.all()] == [ada_()]
    grouped()
    assert not reds.members.exists()
    assert Team.objects.filter(pk=reds.pk).exists()

    grouped("labelers")
    reds.members.add(owner)
    teams.add_mate(team=reds, username=ada_().username, user=owner)
    grouped()
    assert ada_() in reds.members.all()


def test_full_team_lets_nobody_in_and_the_sign_in_goes_on(grouped, monkeypatch):
    monkeypatch.setattr(teams, "MOST_MEMBERS", 0)

    assert grouped("labelers") == "annotator"
    assert not Team.objects.get().members.exists()


def test_staff_comes_and_goes_but_not_where_a_person_made_it(grouped):
    grouped("/admins")
    assert ada_().is_staff
    grouped()
    assert not ada_().is_staff

    User.objects.filter(pk=ada_().pk).update(is_staff=True)
    grouped("/admins")
    grouped()
    assert ada_().is_staff


def test_superuser_stays_of_the_staff_whatever_the_groups(grouped):
    grouped("/admins")
    User.objects.filter(pk=ada_().pk).update(is_superuser=True)
    grouped()
    assert ada_().is_staff


def test_groups_that_are_too_many_to_be_told_change_nothing(grouped, provider):
    grouped("labelers")
    provider.person.claims["_claim_names"] = {"groups": "src1"}

    assert grouped() == "annotator"


def test_groups_that_only_userinfo_tells_count(grouped, provider):
    provider.apart = {"groups": ["keepers"]}

    sign_in(Client(HTTP_HOST="localhost"))

    assert role() == "maintainer"


@pytest.mark.parametrize("groups", ["labelers", None, [1, None], {"labelers": 1}], ids=str)
def test_groups_of_any_shape_are_read(grouped, provider, groups):
    provider.person.claims["groups"] = groups
    sign_in(Client(HTTP_HOST="localhost"))

    assert role() == ("annotator" if groups == "labelers" else None)


# --- without passwords ---------------------------------------------------------------------


@pytest.fixture
def passwordless(provider, settings):
    settings.SIGN_IN_BY_PASSWORD = False
    settings.AUTHENTICATION_BACKENDS = [
        "axes.backends.AxesStandaloneBackend",
        "benchmarks_app.oidc.backend.ProviderBackend",
    ]


def test_no_password_signs_in_and_no_page_of_passwords_is_left(passwordless, browser, db):
    ada = factories.user("ada", is_staff=True, is_superuser=True)
    before = Client(HTTP_HOST="localhost")
    before.force_login(ada, backend="django.contrib.auth.backends.ModelBackend")
    assert before.get("/account/").status_code == 302  # sessions of passwords have ended

    page = browser.get("/sign-in/").content.decode()
    assert "Sign in with Example SSO" in page
    assert 'type="password"' not in page
    for path in ("/sign-in/", "/password/reset/", "/password/reset/x/y/", "/password/change/"):
        answer = browser.post(path, {"username": "ada", "password": PASSWORD})
        refused(answer, "passwords-off")
    assert authenticate(browser.get("/").wsgi_request, username="ada", password=PASSWORD) is None


def test_staffs_pages_set_no_password_either(passwordless, browser, provider):
    sign_in(browser)
    User.objects.update(is_staff=True, is_superuser=True)

    answer = browser.post(f"/admin/benchmarks_app/user/{ada_().pk}/password/", {})

    assert answer.headers["X-Error-Code"] == "passwords-off"


def test_invitation_leads_to_the_provider_and_back(passwordless, browser, benchmark, owner):
    secret = people.invite(benchmark=benchmark, role="annotator", actor=owner, days=3).secret
    path = reverse("invitation-accept", args=[secret])

    page = browser.get(path).content.decode()
    assert 'type="password"' not in page
    refused(browser.post(path, {"username": "eve"}), "passwords-off")
    assert sign_in(browser, next=path)["Location"] == path
    browser.post(path)
    assert role() == "annotator"


def test_tokens_go_on_without_passwords(passwordless, browser, provider):
    sign_in(browser)
    secret = create_api_token(user=ada_(), name="nightly", days=3).secret

    answer = Client().get("/api/v1/me/", HTTP_AUTHORIZATION=f"Bearer {secret}")

    assert answer.status_code == 200


# --- an account without a password ---------------------------------------------------------


def later(browser, seconds):
    session = browser.session
    session["provider"] = {**session["provider"], "at": int(time.time()) - seconds}
    session.save()


def test_new_sign_in_stands_in_for_the_password_for_ten_minutes(provider, browser):
    sign_in(browser)
    page = reverse("security-key-create")
    assert "password" not in browser.get(page).context["form"].fields

    later(browser, 660)
    answer = browser.post(page, {"name": "blue"})

    assert "sign in again" in answer.content.decode()
    assert browser.post(reverse("account-delete"), {"sure": "1"}).status_code == 422
    assert User.objects.filter(username="ada").exists()


def test_account_without_a_password_is_deleted_with_its_identity(provider, browser):
    sign_in(browser)

    browser.post(reverse("account-delete"), {"sure": "1"})

    assert not User.objects.filter(username="ada").exists()
    assert not Identity.objects.exists()


def test_address_of_an_account_without_a_password_is_the_providers(provider, browser):
    sign_in(browser)
    page = browser.get("/account/").content.decode()
    assert reverse("password-change") not in page

    browser.post("/account/", {"first_name": "A", "email": "evil@example.org", "language": ""})

    assert [*User.objects.values_list("first_name", "email")] == [("A", "ada@example.org")]
    refused_ = browser.get(reverse("password-change"))
    assert refused_.headers["X-Error-Code"] == "no-password"


# --- signing out ---------------------------------------------------------------------------


def test_signing_out_ends_the_session_here_and_at_the_provider(provider, browser):
    sign_in(browser)

    answer = browser.post("/sign-out/")

    assert browser.get("/account/").status_code == 302
    asked = {
        name: values[0] for name, values in parse_qs(urlsplit(answer["Location"]).query).items()
    }
    assert answer["Location"].startswith(f"{provider.url}/end?")
    assert asked["post_logout_redirect_uri"] == "http://localhost/sign-in/"
    assert asked["client_id"] == CLIENT
    assert asked["id_token_hint"].count(".") == 2
    back = httpx.get(answer["Location"]).headers["Location"]
    assert back.startswith("http://localhost/sign-in/")


@pytest.mark.parametrize("end", [None, "https://evil.example/end"])
def test_signing_out_stays_here_where_the_provider_has_no_page_for_it(provider, browser, end):
    provider.described = {"end_session_endpoint": end}
    sign_in(browser)

    assert browser.post("/sign-out/")["Location"] == "/sign-in/"


def test_who_came_by_password_signs_out_here_alone(provider, db):
    factories.user("ada")
    browser = Client(HTTP_HOST="localhost")
    browser.post("/sign-in/", {"username": "ada", "password": PASSWORD})

    assert browser.post("/sign-out/")["Location"] == "/sign-in/"
