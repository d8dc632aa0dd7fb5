"""Second factors: what somebody has, and whom the site asks for one."""

from allauth.mfa import app_settings
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet

from benchmarks_app.models import Benchmark, Membership, User
from benchmarks_app.permissions import KEEPERS

TOTP, KEY, CODES = (
    Authenticator.Type.TOTP,
    Authenticator.Type.WEBAUTHN,
    Authenticator.Type.RECOVERY_CODES,
)
# Recovery codes alone are none: they stand in for another one.
SECOND = (TOTP, KEY)


def factors_of(user: User) -> QuerySet[Authenticator]:
    """All that somebody has, recovery codes among them, oldest first."""
    return Authenticator.objects.filter(user=user).order_by("created_at", "pk")


def second_factors_of(user: User) -> QuerySet[Authenticator]:
    """What somebody signs in with after the password; recovery codes are for who lost it."""
    return factors_of(user).filter(type__in=SECOND)


def has_second(person: str) -> Exists:
    """Whether the person that a column of the outer query names has a second factor."""
    return Exists(Authenticator.objects.filter(user=OuterRef(person), type__in=SECOND))


def has_second_factor(user: User) -> bool:
    return second_factors_of(user).exists()


def members_of(benchmark: Benchmark) -> QuerySet[Membership]:
    """Memberships with their users by name, and whether each `has_two_factors`."""
    members = benchmark.memberships.select_related("user").order_by("user__username")
    return members.annotate(has_two_factors=has_second("user"))


def lacks_factor(user_id: int) -> bool:
    """Whether the site asks this person for a second factor, and they have none.

    One statement; none where the site asks nobody.
    """
    if settings.TWO_FACTORS == "off":
        return False
    people = User.objects.filter(~has_second("pk"), pk=user_id)
    if settings.TWO_FACTORS == "keepers":
        own_memberships = Membership.objects.filter(user=OuterRef("pk"), role__in=KEEPERS)
        people = people.filter(Q(is_staff=True) | Exists(own_memberships))
    return people.exists()


def n_codes_left(codes: Authenticator) -> int:
    """How many recovery codes were not used yet."""
    return app_settings.RECOVERY_CODE_COUNT - int(codes.data["used_mask"]).bit_count()
