"""How apps become known: by themselves, and by a document at a URL that anybody may name."""

import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.models import OAuthApp, Venue
from accounts.oauth import client_documents, registration
from framework.api.urls import public_url
from tests.accounts.webhooks.test_ssrf_guard import HOSTILE_ANSWERS, certificate
from tests.support import oauth, users

__all__ = ["certificate"]

URL = "https://hooks.example.com/oauth/client.json"


def register(body: Any, client: Client | None = None) -> Any:
    return (client or Client()).post("/oauth/register", body, content_type="application/json")


def test_a_client_registers_itself(db: None) -> None:
    answer = register({"client_name": "Agent", "redirect_uris": [oauth.CALLBACK], "logo_uri": "https://x.example/"})
    body = answer.json()
    app = OAuthApp.objects.get()
    assert answer.status_code == 201
    assert body == {
        "client_id": app.client_id,
        "client_id_issued_at": int(app.created_at.timestamp()),
        "client_name": "Agent",
        "redirect_uris": [oauth.CALLBACK],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    }
    assert (app.kind, app.secret_digest, app.own_scopes) == ("dynamic", None, [])


@pytest.mark.parametrize(
    ("uri", "is_allowed"),
    [
        ("https://app.example.com/cb", True),
        ("https://app.example.com:8443/cb?tenant=1", True),
        ("http://127.0.0.1:3000/cb", True),
        ("http://localhost/cb", True),
        ("http://[::1]/cb", True),
        ("cursor://anysphere.cursor-retrieval/oauth/cb", True),
        ("com.example.app:/cb", True),
        ("http://app.example.com/cb", False),
        ("http://127.0.0.1.evil.example/cb", False),
        ("javascript:alert(1)", False),
        ("JavaScript:alert(1)", False),
        ("data:text/html,x", False),
        ("file:///etc/passwd", False),
        ("https://app.example.com/cb#x", False),
        ("https://app.example.com/*", False),
        ("https://user@app.example.com/cb", False),
        ("https:///cb", False),
        ("https://app.example.com/c b", False),
        ("https://app.example.com/\u00e9", False),
        ("https://app.example.com:port/cb", False),
        ("/cb", False),
        ("", False),
        ("https://app.example.com/" + "a" * 500, False),
    ],
)
def test_redirect_uris_that_may_be_registered(db: None, uri: str, is_allowed: bool) -> None:
    answer = register({"redirect_uris": [uri]})
    assert answer.status_code == (201 if is_allowed else 400)
    assert is_allowed or answer.json()["error"] == "invalid_redirect_uri"


@pytest.mark.parametrize(
    "body",
    [
        [],
        {},
        {"redirect_uris": []},
        {"redirect_uris": oauth.CALLBACK},
        {"redirect_uris": [1]},
        {"redirect_uris": [oauth.CALLBACK], "client_name": 1},
        {"redirect_uris": [oauth.CALLBACK], "grant_types": ["client_credentials"]},
        {"redirect_uris": [oauth.CALLBACK], "response_types": ["token"]},
        {"redirect_uris": [f"{oauth.CALLBACK}/{number}" for number in range(11)]},
    ],
)
def test_malformed_metadata_is_refused(db: None, body: Any) -> None:
    answer = register(body)
    assert (answer.status_code, set(answer.json())) == (400, {"error", "error_description"})


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 5000, b'{"a": NaN}'])
def test_a_body_that_is_not_json_is_refused(db: None, body: bytes) -> None:
    assert Client().post("/oauth/register", body, content_type="application/json").status_code == 400
    assert Client().post("/oauth/register", b"x" * 70_000, content_type="application/json").status_code == 413
    assert Client().get("/oauth/register").status_code == 405


def test_a_name_cannot_hide_characters(db: None) -> None:
    register({"client_name": "Clau\u202ede\n\u200b  <b>", "redirect_uris": [oauth.CALLBACK]})
    assert OAuthApp.objects.get().name == "Clau de <b>"


def test_one_address_registers_sixty_apps_an_hour(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registration, "MAX_REGISTRATIONS", 2)
    answers = [register({"redirect_uris": [oauth.CALLBACK]}) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [201, 201, 429]
    assert (answers[2].json()["error"], int(answers[2]["Retry-After"]) > 0) == ("temporarily_unavailable", True)


def test_metadata_leads_from_each_resource_to_the_endpoints(db: None, client: Client) -> None:
    for path, name in (("/mcp", "MCP"), ("/mcp/account", "MCP"), ("/api", "Management API"), ("/v1", "Data API")):
        answer = client.get(f"/.well-known/oauth-protected-resource{path}", headers={"origin": "https://a.example"})
        body = answer.json()
        assert (body["resource"], body["resource_name"]) == (public_url(path), f"Tablewire {name}")
        assert body["authorization_servers"] == [public_url("")]
        assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert client.get("/.well-known/oauth-protected-resource").json()["resource"] == public_url("")
    assert client.get("/.well-known/oauth-protected-resource/admin").status_code == 404
    server = client.get("/.well-known/oauth-authorization-server").json()
    assert server["code_challenge_methods_supported"] == ["S256"]
    assert server["client_id_metadata_document_supported"] is True
    for endpoint in ("authorization", "token", "registration", "revocation"):
        assert server[f"{endpoint}_endpoint"].startswith(public_url("/oauth/"))


# Client documents
@contextmanager
def serving(
    certificate: Path, answer: Callable[[BaseHTTPRequestHandler], None]
) -> Iterator[tuple[str, ssl.SSLContext, list[str]]]:
    """A server of hooks.example.com on this machine: the URL of its document, who trusts it, and its requests."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            answer(self)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        trust = ssl.create_default_context(cafile=str(certificate))
        yield f"https://hooks.example.com:{server.server_port}/oauth/client.json", trust, asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def send(handler: BaseHTTPRequestHandler, body: bytes, *, status: int = 200, **headers: str) -> None:
    handler.send_response(status)
    for name, value in {"Content-Length": str(len(body)), **headers}.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)


def find(url: str, trust: ssl.SSLContext, *, now: datetime | None = None) -> OAuthApp | None:
    return client_documents.find_app(
        url,
        now=now or datetime.now(UTC),
        address="192.0.2.1",
        resolver=lambda _host, _port: ["127.0.0.1"],
        ssl_context=trust,
    )


@pytest.fixture
def loopback(db: None, settings: Settings) -> None:
    """A name may lead to this machine."""
    settings.WEBHOOKS_TO_LOOPBACK = True


def test_a_document_makes_an_app_and_is_read_once_an_hour(loopback: None, certificate: Path) -> None:
    name = "Assistant"

    def answer(handler: BaseHTTPRequestHandler) -> None:
        values = {"client_id": url, "client_name": name, "redirect_uris": ["http://localhost/cb"]}
        send(handler, json.dumps(values).encode())

    with serving(certificate, answer) as (url, trust, asked):
        now = timezone.now()
        app, again = find(url, trust, now=now), find(url, trust, now=now)
        assert app is not None
        assert (app, app.client_id, app.kind, app.redirect_uris) == (again, url, "document", ["http://localhost/cb"])
        assert asked == ["/oauth/client.json"]
        name = "Other"
        later = find(url, trust, now=now + timedelta(hours=2))
        assert (later is not None and later.name, len(asked)) == ("Other", 2)


@pytest.mark.parametrize(
    "changes",
    [
        {"client_id": "https://hooks.example.com/other.json"},
        {"client_id": None},
        {"client_secret": "x"},
        {"token_endpoint_auth_method": "private_key_jwt"},
        {"redirect_uris": ["javascript:alert(1)"]},
        {"redirect_uris": None},
    ],
)
def test_a_wrong_document_makes_no_app(loopback: None, certificate: Path, changes: dict[str, Any]) -> None:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        send(handler, json.dumps({"client_id": url, "redirect_uris": [oauth.CALLBACK]} | changes).encode())

    with serving(certificate, answer) as (url, trust, asked):
        assert find(url, trust) is None
        # A failure is remembered.
        assert (find(url, trust), len(asked)) == (None, 1)
    assert not OAuthApp.objects.exists()


@pytest.mark.parametrize(
    "answer",
    [
        lambda handler: send(handler, b"{" + b" " * 20_000 + b"}"),
        lambda handler: send(handler, b"", status=302, Location="https://hooks.example.com/x"),
        lambda handler: send(handler, b"no", status=404),
        lambda handler: send(handler, b"[]"),
        lambda handler: send(handler, b"{"),
        lambda handler: handler.wfile.write(b"nonsense\r\n\r\n"),
    ],
)
def test_a_strange_answer_makes_no_app(loopback: None, certificate: Path, answer: Any) -> None:
    with serving(certificate, answer) as (url, trust, asked):
        assert find(url, trust) is None
        assert len(asked) == 1


def test_a_document_that_cannot_be_read_again_stays_as_it_was(loopback: None, certificate: Path) -> None:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        if len(asked) > 1:
            send(handler, b"", status=500)
        else:
            send(handler, json.dumps({"client_id": url, "redirect_uris": [oauth.CALLBACK]}).encode())

    with serving(certificate, answer) as (url, trust, asked):
        first = find(url, trust)
        assert first is not None
        assert find(url, trust, now=timezone.now() + timedelta(hours=2)) == first


def test_one_document_is_read_at_a_time_and_another_is_not_remembered_as_wrong(
    loopback: None, certificate: Path
) -> None:
    """Two servers that hang would cost two threads."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        send(handler, json.dumps({"client_id": url, "redirect_uris": ["http://localhost/cb"]}).encode())

    with serving(certificate, answer) as (url, trust, asked):
        with client_documents.READERS.slot():
            assert find(url, trust) is None
        assert asked == []
        assert find(url, trust) is not None


@pytest.mark.parametrize("answers", HOSTILE_ANSWERS)
def test_the_name_of_a_document_never_leads_into_our_network(db: None, answers: list[str]) -> None:
    cache.clear()
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        port = server.getsockname()[1]
        url = f"https://hooks.example.com:{port}/oauth/client.json"
        found = client_documents.find_app(
            url, now=timezone.now(), address="192.0.2.1", resolver=lambda _host, _port: answers
        )
        assert found is None
        with pytest.raises(BlockingIOError):
            server.accept()


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.example.com/client.json",
        "https://hooks.example.com",
        "https://hooks.example.com/",
        "https://HOOKS.example.com/client.json",
        "https://hooks.example.com/client.json#x",
        "https://hooks.example.com/client.json?x=1",
        "https://hooks.example.com/a/../client.json",
        "https://hooks.example.com/./client.json",
        "https://user@hooks.example.com/client.json",
        "https://hooks.example.com\\@127.0.0.1/client.json",
        "HTTPS://hooks.example.com/client.json",
        "https://hooks.example.com/" + "a" * 500,
        "file:///etc/passwd",
    ],
)
def test_what_is_no_url_of_a_document_is_never_read(url: str) -> None:
    assert not client_documents.is_document_url(url)


def test_the_consent_page_names_the_host_of_the_document(venue: Venue) -> None:
    OAuthApp.objects.create(
        kind="document", document_url=URL, name="Bank", redirect_uris=[oauth.CALLBACK], document_read_at=timezone.now()
    )
    page = users.member(venue).get(oauth.App(URL).address()).content.decode()
    assert "hooks.example.com" in page
    assert "Bank" in page


def test_an_unknown_document_is_no_app(venue: Venue) -> None:
    answer = users.member(venue).get(oauth.App("https://127.0.0.1/client.json").address())
    assert (answer.status_code, "Location" in answer.headers) == (400, False)
