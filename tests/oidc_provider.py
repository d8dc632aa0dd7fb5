"""A provider of OpenID Connect on the loopback: Authlib's server, which takes no code without PKCE.

`with running() as provider:` serves `provider.url` from a thread. Who signs in is whom a test names
in `provider.person`: no page asks. `lies` are claims that an ID token says beside the truth, and
`signing` is what it is signed with.
"""

import threading
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import flask
from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2.rfc6749 import AuthorizationCodeMixin, ClientMixin, grants
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oidc.core import OpenIDCode
from joserfc.jwk import KeySet, OctKey, RSAKey
from werkzeug.serving import make_server

CLIENT, SECRET = "benchwright", "the secret of this client"
KEY = RSAKey.generate_key(2048, {"kid": "one", "use": "sig"})
STRANGE_KEY = RSAKey.generate_key(2048, {"kid": "one", "use": "sig"})
OF_CLIENT = OctKey.import_key(SECRET)
EMAIL = {"email": "ada@example.org", "email_verified": True}


@dataclass
class Person:
    sub: str = "0f1e-ada"
    claims: dict[str, Any] = field(default_factory=lambda: {**EMAIL, "preferred_username": "ada"})


class Client(ClientMixin):
    def get_client_id(self) -> str:
        return CLIENT

    def get_default_redirect_uri(self) -> str:
        return ""

    def get_allowed_scope(self, scope: str) -> str:
        return scope or ""

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        return redirect_uri.endswith("/sign-in/provider/callback/")

    def check_client_secret(self, client_secret: str) -> bool:
        return client_secret == SECRET

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return method == "client_secret_basic"

    def check_response_type(self, response_type: str) -> bool:
        return response_type == "code"

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type == "authorization_code"


@dataclass
class Code(AuthorizationCodeMixin):
    code: str
    person: Person
    asked: dict[str, str]
    code_challenge: str
    code_challenge_method: str

    def get_redirect_uri(self) -> str:
        return self.asked["redirect_uri"]

    def get_scope(self) -> str:
        return self.asked["scope"]

    def get_nonce(self) -> str | None:
        return self.asked.get("nonce")

    def get_auth_time(self) -> None:
        return None

    def get_acr(self) -> None:
        return None

    def get_amr(self) -> None:
        return None


@dataclass
class Running:
    """What a test changes of the provider, and what it was asked."""

    url: str = ""
    person: Person = field(default_factory=Person)
    lies: dict[str, Any] = field(default_factory=dict)
    signing: tuple[Any, str] = (KEY, "RS256")
    described: dict[str, Any] = field(default_factory=dict)
    # What only `userinfo` tells, and the ID token does not.
    apart: dict[str, Any] = field(default_factory=dict)
    userinfo_sub: str = ""
    authorizations: list[dict[str, str]] = field(default_factory=list)
    sign_outs: list[dict[str, str]] = field(default_factory=list)
    codes: dict[str, Code] = field(default_factory=dict)
    tokens: dict[str, Person] = field(default_factory=dict)


def app_of(state: Running) -> flask.Flask:
    app = flask.Flask(__name__)

    class Grant(grants.AuthorizationCodeGrant):
        TOKEN_ENDPOINT_AUTH_METHODS = ("client_secret_basic",)

        def save_authorization_code(self, code: str, request: Any) -> None:
            asked = dict(request.payload.data)
            challenge, method = asked["code_challenge"], asked["code_challenge_method"]
            state.codes[code] = Code(code, request.user, asked, challenge, method)

        def query_authorization_code(self, code: str, client: Client) -> Code | None:
            return state.codes.get(code)

        def delete_authorization_code(self, authorization_code: Code) -> None:
            del state.codes[authorization_code.code]

        def authenticate_user(self, authorization_code: Code) -> Person:
            return authorization_code.person

    class IdTokens(OpenIDCode):
        def exists_nonce(self, nonce: str, request: Any) -> bool:
            return any(code.get_nonce() == nonce for code in state.codes.values())

        def get_client_algorithm(self, client: Client) -> str:
            return state.signing[1]

        def get_encode_header(self, client: Client) -> dict[str, str]:
            return {"alg": state.signing[1], "kid": "one"}

        def encode_id_token(self, token: dict[str, Any], request: Any) -> str:
            if state.signing[1] != "none":
                return super().encode_id_token(token, request)
            state.signing = (KEY, "RS256")  # Authlib itself leaves none unsigned
            _, claims, _ = super().encode_id_token(token, request).split(".")
            header = urlsafe_b64encode(b'{"alg": "none"}').decode().rstrip("=")
            return f"{header}.{claims}."

        def resolve_client_private_key(self, client: Client) -> Any:
            return state.signing[0]

        def get_client_claims(self, client: Client) -> dict[str, Any]:
            return {"iss": state.url, "aud": [CLIENT]}

        def generate_user_info(self, user: Person, scope: str) -> dict[str, Any]:
            return {"sub": user.sub, **user.claims, **state.lies}

    def save_token(token: dict[str, Any], request: Any) -> None:
        state.tokens[token["access_token"]] = request.user

    server = AuthorizationServer(app, lambda client_id: Client(), save_token)
    server.register_grant(Grant, [CodeChallenge(required=True), IdTokens(require_nonce=True)])

    @app.get("/.well-known/openid-configuration")
    def description() -> Any:
        paths = {"authorization_endpoint": "authorize", "token_endpoint": "token"}
        paths |= {
            "jwks_uri": "keys",
            "userinfo_endpoint": "userinfo",
            "end_session_endpoint": "end",
        }
        return {
            "issuer": state.url,
            **{name: f"{state.url}/{path}" for name, path in paths.items()},
            "id_token_signing_alg_values_supported": ["RS256", "HS256", "none"],
            "code_challenge_methods_supported": ["S256"],
            **state.described,
        }

    @app.get("/keys")
    def keys() -> Any:
        return KeySet([KEY]).as_dict(private=False)

    @app.get("/authorize")
    def authorize() -> Any:
        state.authorizations.append(flask.request.args.to_dict())
        grant = server.get_consent_grant(end_user=state.person)
        return server.create_authorization_response(grant=grant, grant_user=state.person)

    @app.post("/token")
    def token() -> Any:
        return server.create_token_response()

    @app.get("/userinfo")
    def userinfo() -> Any:
        person = state.tokens[flask.request.headers["Authorization"].removeprefix("Bearer ")]
        return {"sub": state.userinfo_sub or person.sub, **person.claims, **state.apart}

    @app.get("/end")
    def end() -> Any:
        state.sign_outs.append(flask.request.args.to_dict())
        return flask.redirect(flask.request.args["post_logout_redirect_uri"])

    return app


@contextmanager
def running(port: int = 0) -> Iterator[Running]:
    state = Running()
    server = make_server("127.0.0.1", port, app_of(state), threaded=True)
    state.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
