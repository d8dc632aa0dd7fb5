"""The path of a site: taken off what is asked for, put before what is shown, and in no row."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.http import HttpRequest, HttpResponse
from django.test.utils import override_script_prefix
from django.urls import reverse

from benchmarks_app.models import Job
from benchmarks_app.site_path import (
    OwnCookiesMiddleware,
    below_site_path,
    kept_address,
    whole_address,
)


@pytest.fixture
def below(settings):
    """The site is below a path of its host."""
    settings.SITE_PATH = "/benchwright"
    settings.SITE_URL = "https://tools.example.org/benchwright"
    with override_script_prefix("/benchwright/"):
        yield


@pytest.mark.parametrize(
    ("asked", "page"),
    [
        ("/benchwright/b/x/", "/b/x/"),
        ("/b/x/", "/b/x/"),
        ("/benchwright/", "/"),
        ("/benchwright", "/"),
        ("/benchwrights/", "/benchwrights/"),
        ("/benchwright/benchwright/", "/benchwright/"),
    ],
)
def test_path_is_taken_off_once_where_it_is_there(below, asked, page):
    application = below_site_path(lambda request, _: [request["PATH_INFO"]])

    assert application({"PATH_INFO": asked}, None) == [page]


@pytest.mark.parametrize("asked", ["/", "/b/x/", "//b", ""])
def test_site_without_a_path_is_asked_as_it_was(asked):
    application = below_site_path(lambda request, _: [request["PATH_INFO"] or "/"])

    assert application({"PATH_INFO": asked}, None) == [asked or "/"]


def test_result_of_a_job_is_where_the_site_is_now(below, settings):
    job = Job(result_url=kept_address(reverse("job-detail", args=[7])))
    settings.SITE_PATH = "/elsewhere"

    assert (job.result_url, job.result_address) == ("/jobs/7/", "/elsewhere/jobs/7/")
    assert Job(result_url=kept_address("")).result_url == ""


def test_address_is_the_same_in_a_thread_that_has_answered_no_request(below):
    with ThreadPoolExecutor(1) as threads:
        address = threads.submit(lambda: whole_address(reverse("job-detail", args=[7]))).result()

    assert address == whole_address(reverse("job-detail", args=[7]))
    assert address == "https://tools.example.org/benchwright/jobs/7/"


def test_cookies_are_the_sites_own(below):
    def answer(request: HttpRequest) -> HttpResponse:
        response = HttpResponse(repr(request.COOKIES))
        response.set_cookie("sessionid", "a b", max_age=9, httponly=True, samesite="Lax")
        response.delete_cookie("messages")
        return response

    request = HttpRequest()
    # A browser sends those of the paths above as well, of other tools and other sites.
    request.COOKIES = {"sessionid": "another", "sessionid.benchwright": "own", "x.other": "1"}
    response = OwnCookiesMiddleware(answer)(request)

    assert response.content == b"{'sessionid': 'own'}"
    session, message = (cookie.OutputString() for cookie in response.cookies.values())
    assert session.startswith('sessionid.benchwright="a b"; expires=')
    assert session.endswith("; HttpOnly; Max-Age=9; Path=/benchwright; SameSite=Lax")
    assert message.startswith('messages.benchwright=""; expires=Thu, 01 Jan 1970')
    assert message.endswith("; Path=/benchwright")
