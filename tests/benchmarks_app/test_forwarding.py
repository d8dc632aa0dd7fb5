"""Where a request comes from: what proxies say is believed of those that are trusted."""

from ipaddress import ip_network

import pytest
from axes.models import AccessAttempt
from django.urls import reverse

from benchmarks_app.forwarding import client_address

UPLOADS = "/api/v1/benchmarks/stdlib/uploads/"
WRONG = {"username": "ada", "password": "a wrong password"}
NETWORKS = (ip_network("10.0.0.0/8"), ip_network("fd00::/8"))


@pytest.mark.parametrize(
    ("peer", "forwarded", "trusted", "address"),
    [
        ("192.0.2.1", "", 0, "192.0.2.1"),
        ("192.0.2.1", "203.0.113.5", 0, "192.0.2.1"),
        ("10.0.0.1", "203.0.113.5", 1, "203.0.113.5"),
        # What the client wrote itself stands before what the proxy added.
        ("10.0.0.1", "198.51.100.9, 203.0.113.5", 1, "203.0.113.5"),
        ("10.0.0.1", "198.51.100.9, 203.0.113.5, 10.0.0.2", 2, "203.0.113.5"),
        ("10.0.0.1", "203.0.113.5", 2, "203.0.113.5"),
        ("10.0.0.1", "", 1, "10.0.0.1"),
        ("10.0.0.1", "203.0.113.5", NETWORKS, "203.0.113.5"),
        ("10.0.0.1", "198.51.100.9, 203.0.113.5, 10.0.0.2", NETWORKS, "203.0.113.5"),
        ("192.0.2.1", "203.0.113.5", NETWORKS, "192.0.2.1"),
        ("10.0.0.1", "10.0.0.9, 10.0.0.8", NETWORKS, "10.0.0.9"),
        ("fd00::1", "[2001:db8::5]:4711", NETWORKS, "2001:db8::5"),
        ("::ffff:10.0.0.1", "203.0.113.5:4711", NETWORKS, "203.0.113.5"),
        # What is no address, such as somebody's number, is nobody's.
        ("10.0.0.1", "7", 1, "10.0.0.1"),
        ("10.0.0.1", "unknown, 10.0.0.3", NETWORKS, "10.0.0.3"),
        ("fe80::1%eth0", "", 0, "fe80::1"),
        ("", "203.0.113.5", NETWORKS, ""),
        ("", "203.0.113.5", 1, "203.0.113.5"),
    ],
)
def test_address_is_the_last_that_no_trusted_proxy_has(peer, forwarded, trusted, address):
    assert client_address(peer, forwarded, trusted) == address


def upload(client, address: str, **headers: str) -> int:
    return client.post(
        UPLOADS, headers={"X-Forwarded-For": address, **headers}, REMOTE_ADDR="10.0.0.1"
    ).status_code


@pytest.mark.parametrize("proxies", [0, 1])
def test_strangers_do_not_use_up_what_a_person_may_send(
    signed_in, client, settings, owner, proxies
):
    settings.API_UPLOADS_PER_MINUTE, settings.TRUSTED_PROXIES = 2, proxies
    for _ in range(5):
        upload(client, str(owner.pk))

    answer = signed_in(owner).post(UPLOADS, REMOTE_ADDR="10.0.0.1")

    assert answer.status_code != 429


def test_other_headers_do_not_go_around_the_limit_of_an_address(client, settings, benchmark):
    settings.API_UPLOADS_PER_MINUTE = 2

    answers = [upload(client, f"203.0.113.{n}") for n in range(4)]

    assert answers == [401, 401, 429, 429]


def test_people_behind_a_trusted_proxy_are_counted_apart(client, settings, benchmark):
    settings.API_UPLOADS_PER_MINUTE, settings.TRUSTED_PROXIES = 1, NETWORKS

    answers = [upload(client, address) for address in ("203.0.113.1", "203.0.113.2", "203.0.113.1")]

    assert answers == [401, 401, 429]


def test_addresses_of_one_ipv6_network_are_counted_together(client, settings, benchmark):
    settings.API_UPLOADS_PER_MINUTE, settings.TRUSTED_PROXIES = 1, 1

    answers = [upload(client, f"2001:db8:0:{net}::5:{n}") for net, n in ((1, 1), (1, 2), (2, 1))]

    assert answers == [401, 429, 401]


@pytest.mark.parametrize(("proxies", "counted"), [(0, "10.0.0.1"), (1, "203.0.113.5")])
def test_failed_sign_ins_are_written_down_with_the_address(client, settings, ada, proxies, counted):
    settings.TRUSTED_PROXIES = proxies

    client.post(
        reverse("sign-in"),
        WRONG,
        headers={"X-Forwarded-For": "203.0.113.5"},
        REMOTE_ADDR="10.0.0.1",
    )

    assert AccessAttempt.objects.get().ip_address == counted


@pytest.mark.parametrize(
    ("has_https", "proxies", "peer", "link"),
    [
        # Nobody is trusted: what forms the link is the operator's word alone.
        (False, 0, "10.0.0.1", "http://testserver/"),
        (True, 0, "10.0.0.1", "https://testserver/"),
        (True, 1, "10.0.0.1", "https://bench.example.org/"),
        (True, NETWORKS, "10.0.0.1", "https://bench.example.org/"),
    ],
)
def test_links_have_scheme_and_host_of_a_trusted_proxy(
    signed_in, settings, benchmark, owner, has_https, proxies, peer, link
):
    settings.ALLOWED_HOSTS = ["testserver", "bench.example.org"]
    settings.HAS_HTTPS, settings.TRUSTED_PROXIES = has_https, proxies
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if has_https else None
    settings.USE_X_FORWARDED_HOST = bool(proxies)

    page = signed_in(owner).post(
        reverse("invitation-create", args=[benchmark.slug]),
        {"role": "annotator", "days": 7},
        headers={
            "Host": "testserver",
            "X-Forwarded-Host": "bench.example.org",
            "X-Forwarded-Proto": "https",
        },
        REMOTE_ADDR=peer,
    )

    assert page.context["link"].startswith(f"{link}join/")


def test_visitor_beside_the_proxy_does_not_say_that_they_came_by_https(client, settings, db):
    settings.HAS_HTTPS, settings.TRUSTED_PROXIES = True, NETWORKS
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    settings.SECURE_SSL_REDIRECT = True
    says = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "bench.example.org"}

    beside = client.get("/sign-in/", headers=says, REMOTE_ADDR="192.0.2.1")
    health = client.get("/healthz", REMOTE_ADDR="192.0.2.1")

    assert beside["Location"] == "https://testserver/sign-in/"
    assert health.status_code == 200


@pytest.mark.parametrize("names", [["bench.example.org"], [".example.org"], ["*"]])
def test_watchers_may_ask_by_any_name_and_by_http(client, settings, db, names):
    settings.ALLOWED_HOSTS, settings.SECURE_SSL_REDIRECT = names, True
    settings.METRICS_TOKEN = "a token of sixteen characters"
    token = {"Authorization": f"Bearer {settings.METRICS_TOKEN}"}

    answers = [
        client.get(f"/{path}", headers={"Host": "10.0.0.11:8000", **token})
        for path in settings.PROBES
    ]
    page = client.get("/sign-in/", headers={"Host": "10.0.0.11:8000"})

    assert [answer.status_code for answer in answers] == [200, 200, 200]
    assert page.status_code == (301 if names == ["*"] else 400)
