"""What the operator says of the provider, from the environment; no Django, settings read it."""

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from benchmarks_app.env import EnvError, env_bool, env_list, env_str, is_address

ISSUER, CLIENT_ID, GROUPS = "OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_GROUPS"
SECRET, SECRET_FILE = "OIDC_CLIENT_SECRET", "OIDC_CLIENT_SECRET_FILE"
PASSWORDS = "SIGN_IN_BY_PASSWORD"
DOMAINS = "OIDC_DOMAINS"
STAFF, TEAM, BENCHMARK = "staff", "team", "benchmark"
ROLES = ("owner", "maintainer", "adjudicator", "annotator", "submitter", "viewer")
LOOPBACK = ("127.0.0.1", "localhost", "::1")
CLIENT_PACKAGES = ("authlib", "requests")


@dataclass(frozen=True)
class Grant:
    """What a group gives: rank in the site, a place in a team, or a role in a benchmark."""

    group: str
    kind: Literal["staff", "team", "benchmark"]
    name: str = ""  # of the team, or the benchmark's slug
    role: str = ""


@dataclass(frozen=True)
class Provider:
    """`domains`: whose addresses may sign in, all if empty; `grants` may be empty as well."""

    issuer: str
    client_id: str
    secret: str
    label: str
    scopes: str
    domains: tuple[str, ...]
    groups_claim: str
    grants: tuple[Grant, ...]
    links_accounts: bool

    @property
    def origin(self) -> str:
        """The scheme and host of the issuer: where forms may lead beside this site."""
        parts = urlsplit(self.issuer)
        return f"{parts.scheme}://{parts.netloc}"


def env_provider() -> Provider | None:
    """The provider that `OIDC_…` names; None where none is.

    Raises
    ------
    EnvError
        If what is said of it cannot be used.
    """
    issuer = env_str(ISSUER, "").rstrip("/")
    if not issuer:
        return None
    parts = urlsplit(issuer if is_address(issuer) else "")
    if not (parts.scheme == "https" or parts.hostname in LOOPBACK) or parts.query:
        accepted = "an address by https, as it stands in the provider's own description"
        raise EnvError(ISSUER, issuer, accepted)
    if any(find_spec(name) is None for name in CLIENT_PACKAGES):
        accepted = "a provider, once its packages are there: pip install 'benchwright[oidc]'"
        raise EnvError(ISSUER, issuer, accepted)
    client_id = env_str(CLIENT_ID, "")
    if not client_id:
        raise EnvError(CLIENT_ID, "", "the name that the provider gave this site")
    return Provider(
        issuer=issuer,
        client_id=client_id,
        secret=_secret(),
        label=env_str("OIDC_LABEL", "single sign-on"),
        scopes=env_str("OIDC_SCOPES", "openid profile email"),
        domains=tuple(_domain(part) for part in env_list(DOMAINS, [])),
        groups_claim=env_str("OIDC_GROUPS_CLAIM", "groups"),
        grants=tuple(_grant(part) for part in env_list(GROUPS, [])),
        links_accounts=env_bool("OIDC_LINK_ACCOUNTS", default=False),
    )


def env_passwords(provider: Provider | None) -> bool:
    """Whether passwords sign people in: always, where nobody else does."""
    is_on = env_bool(PASSWORDS, default=True)
    if not is_on and provider is None:
        raise EnvError(PASSWORDS, env_str(PASSWORDS, ""), "on, unless OIDC_ISSUER is set")
    return is_on


def _secret() -> str:
    file = env_str(SECRET_FILE, "")
    if not file:
        secret = env_str(SECRET, "")
    else:
        try:
            secret = Path(file).read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            accepted = "a file that this process can read"
            raise EnvError(SECRET_FILE, file, accepted) from error
    if not secret:
        accepted = "the secret that the provider gave this site; or OIDC_CLIENT_SECRET_FILE"
        raise EnvError(SECRET, "", accepted)
    return secret


def _domain(part: str) -> str:
    """What stands behind the @ of an address, in small letters."""
    domain = part.lower().lstrip("@")
    if not domain or set(domain) & set("@/:*'\" "):
        raise EnvError(DOMAINS, part, "domains of addresses such as example.org, commas between")
    return domain


def _grant(part: str) -> Grant:
    """`GROUP=staff`, `GROUP=team:NAME` or `GROUP=SLUG:ROLE`; a group may have `=` in its name."""
    group, _, right = (piece.strip() for piece in part.rpartition("="))
    if group and right == STAFF:
        return Grant(group, "staff")
    name, _, role = right.rpartition(":")
    if group and name == TEAM and role:
        return Grant(group, "team", role)
    if group and name and role in ROLES:
        return Grant(group, "benchmark", name, role)
    roles = ", ".join(ROLES)
    accepted = f"GROUP=staff, GROUP=team:NAME, GROUP=SLUG:ROLE ({roles}), commas between"
    raise EnvError(GROUPS, part, accepted)
