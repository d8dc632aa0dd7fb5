import getpass
import sys
import warnings
from typing import Any

from django.core.management.base import CommandError
from django.db import transaction

from benchmarks_app.management.declared import DeclaredCommand
from benchmarks_app.management.naming import existing_benchmark
from benchmarks_app.models import Role
from benchmarks_app.people.forms.people import AccountForm
from benchmarks_app.people.services.people import add_member, create_account
from benchwright.recipes.arguments import switch, unless_told, word


class Command(DeclaredCommand):
    help = "Make an account, and a member of a benchmark if one is named."
    takes = (
        word("username"),
        unless_told("--email", is_required=True),
        switch("--password-stdin", help="read the password from standard input"),
        unless_told("--benchmark", metavar="SLUG"),
        unless_told("--role", choices=Role.values, help="role in the benchmark"),
        switch("--staff", help="may see the system page"),
        switch("--superuser", help="may do everything, also in the admin pages"),
    )

    @transaction.atomic
    def handle(
        self,
        *args: Any,
        username: str,
        email: str,
        password_stdin: bool,
        benchmark: str | None,
        role: str | None,
        staff: bool,
        superuser: bool,
        **options: Any,
    ) -> None:
        if bool(benchmark) != bool(role):
            raise CommandError("--benchmark and --role go together: name both, or neither.")
        joined = (existing_benchmark(benchmark), Role(role)) if benchmark and role else None
        account = self._validated(username, email, self._password(is_given=password_stdin))
        user = create_account(**account, is_staff=staff or superuser, is_superuser=superuser)
        message = f"account {user.username}"
        if joined:
            joined_benchmark, joined_role = joined
            add_member(benchmark=joined_benchmark, user=user, role=joined_role, actor=None)
            message += f", {role} of {joined_benchmark.slug}"
        self.say_done(message)

    def _password(self, *, is_given: bool) -> str:
        if is_given:
            return sys.stdin.readline().rstrip("\n")
        with warnings.catch_warnings():
            # Where there is no terminal it would be read as it is shown.
            warnings.simplefilter("error", getpass.GetPassWarning)
            try:
                return getpass.getpass("Password: ")
            except getpass.GetPassWarning:
                raise CommandError(
                    "There is no terminal to ask for the password at: write it to standard input, "
                    "with --password-stdin."
                ) from None

    def _validated(self, username: str, email: str, password: str) -> dict[str, str]:
        """The same rules as on the page; all that is wrong at once."""
        form = AccountForm(
            {"username": username, "email": email, "password1": password, "password2": password}
        )
        if not form.is_valid():
            wrong = [
                f"{field.removesuffix('1').removesuffix('2')}: {text}"
                for field, texts in form.errors.items()
                for text in texts
            ]
            raise CommandError("\n".join(wrong))
        return {
            "username": form.cleaned_data["username"],
            "email": form.cleaned_data["email"],
            "password": password,
        }
