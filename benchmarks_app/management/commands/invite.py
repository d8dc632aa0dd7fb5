from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.core.validators import validate_email
from django.urls import reverse

from benchmarks_app.errors import PeopleError
from benchmarks_app.models import Benchmark, Role, User
from benchmarks_app.people.services.people import invite


def site_address() -> str:
    scheme = "https" if settings.HAS_HTTPS else "http"
    host = f"[{settings.SITE_HOST}]" if ":" in settings.SITE_HOST else settings.SITE_HOST
    return f"{scheme}://{host}:{settings.SITE_PORT}"


class Command(BaseCommand):
    help = "Make an invitation to a benchmark and print its link, which is shown only this once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="the benchmark")
        parser.add_argument("--role", choices=Role.values, required=True)
        parser.add_argument("--days", type=int, default=settings.INVITATION_DAYS)
        parser.add_argument("--note", default="", help="whom the link is for")
        parser.add_argument(
            "--email", default="", help="whose account alone may accept; anybody's if not given"
        )
        parser.add_argument(
            "--as", dest="username", help="the owner who invites; the first one if not given"
        )
        parser.add_argument(
            "--site", default=site_address(), help="address of the site (default: %(default)s)"
        )

    def handle(
        self,
        *args: Any,
        slug: str,
        role: str,
        days: int,
        note: str,
        email: str,
        username: str | None,
        site: str,
        **options: Any,
    ) -> None:
        benchmark = Benchmark.objects.filter(slug=slug).first()
        if benchmark is None:
            message = f"There is no benchmark '{slug}'."
            raise CommandError(message)
        try:
            if email:
                validate_email(email)
        except ValidationError as error:
            raise CommandError(error.message) from error
        actor = self._owner(benchmark, username)
        try:
            invited = invite(
                benchmark=benchmark,
                role=Role(role),
                actor=actor,
                days=days,
                note=note,
                email=email,
            )
        except PeopleError as error:
            raise CommandError(str(error)) from error
        path = reverse("invitation-accept", args=[invited.secret])
        self.stdout.write(f"{site.rstrip('/')}{path}")

    def _owner(self, benchmark: Benchmark, username: str | None) -> User:
        owners = benchmark.memberships.filter(role=Role.OWNER, user__is_active=True)
        if username:
            owners = owners.filter(user__username=username)
        first = owners.select_related("user").order_by("created_at", "pk").first()
        if first is None:
            who = f"{username} is not an owner" if username else "There is no owner"
            message = f"{who} of {benchmark.slug}."
            raise CommandError(message)
        return first.user
