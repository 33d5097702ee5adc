"""An app that connects by OAuth, and a person who grants it access."""

import base64
import hashlib
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
from django.test import Client

from accounts.models import OAuthApp, Venue
from accounts.oauth import registration
from framework.api.urls import public_url
from framework.public_ids import encode
from tests.support.live_stack import Up

FORM = "application/x-www-form-urlencoded"
CALLBACK = "https://pos.example.com/callback"
ORDERS = "/api/v1/orders"


def challenge_of(verifier: str) -> str:
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


@dataclass
class App:
    """A public client with one redirect URI, or a confidential one with a secret."""

    client_id: str
    secret: str = ""
    redirect_uri: str = CALLBACK
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))
    http: Client = field(default_factory=Client)

    def authorization_query(self, **changes: Any) -> dict[str, Any]:
        """The parameters of the authorization endpoint; None leaves one out."""
        query = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "state": "af0ifjsldkj",
            "code_challenge": challenge_of(self.verifier),
            "code_challenge_method": "S256",
        }
        return {name: value for name, value in (query | changes).items() if value is not None}

    def address(self, **changes: Any) -> str:
        return "/oauth/authorize?" + urlencode(self.authorization_query(**changes), doseq=True)

    def ask(self, person: Client, *, access: str, decision: str = "allow", **changes: Any) -> dict[str, str]:
        """What the app finds in its redirect URI after the person has decided."""
        answer = person.post(self.address(**changes), {"access": access, "decision": decision})
        assert answer.status_code == 302, answer.content.decode()
        return query_of(answer.headers["Location"])

    def token(self, **body: Any) -> Any:
        """The answer of the token endpoint."""
        body = {"client_id": self.client_id} | ({"client_secret": self.secret} if self.secret else {}) | body
        body = {name: value for name, value in body.items() if value is not None}
        content = urlencode(body, doseq=True)
        return self.http.post("/oauth/token", content, content_type=FORM)

    def exchange(self, code: str, **changes: Any) -> Any:
        body = {"grant_type": "authorization_code", "code": code, "redirect_uri": self.redirect_uri}
        return self.token(**body | {"code_verifier": self.verifier} | changes)

    def refresh(self, token: str, **changes: Any) -> Any:
        return self.token(grant_type="refresh_token", refresh_token=token, **changes)

    def connect(self, person: Client, venue: Venue | str, **changes: Any) -> dict[str, Any]:
        """The tokens for a venue, or for what the text names."""
        access = venue if isinstance(venue, str) else venue.public_id
        found = self.ask(person, access=access, **changes)
        answer = self.exchange(found["code"])
        assert answer.status_code == 200, answer.content.decode()
        tokens: dict[str, Any] = answer.json()
        return tokens


class Person:
    """Somebody with a browser, who has signed in and allows what is asked."""

    def __init__(self, up: Up) -> None:
        self.base, known = up.record["base_url"], up.record["dashboard"]
        self.browser = httpx.Client(base_url=self.base, timeout=30)
        form = {"login": known["email"], "password": known["password"]}
        assert self.submit("/account/login/", form).status_code == 302

    def submit(self, address: str, form: dict[str, str]) -> httpx.Response:
        """Open a page and submit its form."""
        page = self.browser.get(address)
        found = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text)
        assert page.status_code == 200, page.text
        assert found, page.text
        return self.browser.post(address, data=form | {"csrfmiddlewaretoken": found[1]}, headers={"Origin": self.base})

    def allow(self, address: str, *, whole_account: bool) -> dict[str, str]:
        """What the app finds in its redirect URI."""
        page = self.browser.get(address).text
        choices = re.findall(r'<option value="((?:acc|ven)_\w+)"', page)
        choice = next(each for each in choices if each.startswith("acc" if whole_account else "ven"))
        answer = self.submit(address, {"access": choice, "decision": "allow"})
        assert answer.status_code == 302, answer.text
        return query_of(answer.headers["Location"])


def query_of(address: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}


def dynamic_app(uri: str = CALLBACK, *, name: str = "Kitchen POS") -> App:
    """An app that has registered itself."""
    row = registration.register_dynamically({"client_name": name, "redirect_uris": [uri]}, address="192.0.2.1")
    return App(row.client_id, redirect_uri=uri)


def registered_app(venue: Venue, *, own_scopes: Sequence[str] = (), uris: Sequence[str] = (CALLBACK,)) -> App:
    """An app that the account of the venue has registered."""
    row, secret = registration.register_app(venue.account, name="Till", uris=uris, own_scopes=own_scopes)
    return App(row.client_id, secret=secret, redirect_uri=uris[0] if uris else "")


def row_of(app: App) -> OAuthApp:
    return OAuthApp.objects.get(pk=registration.find_app_id(app.client_id) or "")


def whole(venue: Venue) -> str:
    """The choice of all restaurants of an account."""
    return encode("acc", venue.account_id)


def call(token: str, path: str = ORDERS, **headers: str) -> Any:
    """A GET request with an access token."""
    return Client(headers={"authorization": f"Bearer {token}"} | headers).get(path)


def management() -> str:
    return public_url("/api")


def mcp() -> str:
    return public_url("/mcp")
