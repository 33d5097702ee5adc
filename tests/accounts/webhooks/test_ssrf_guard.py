"""Where webhooks may go: nowhere but the public internet, whatever an address looks like and wherever a name leads."""

import socket
import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Event, Venue, WebhookEndpoint
from accounts.webhooks import endpoints, http_client, signing_secrets, ssrf_guard
from tests.accounts import webhook_receivers

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
# PORT is a port of this machine on which a connection would be seen.
HOSTILE_URLS = [
    "http://127.0.0.1:PORT/",
    "http://127.1:PORT/",
    "http://127.0.1:PORT/",
    "http://2130706433:PORT/",
    "http://017700000001:PORT/",
    "http://0177.0.0.1:PORT/",
    "http://0x7f000001:PORT/",
    "http://0x7f.0.0.1:PORT/",
    "http://0x7f.1:PORT/",
    "http://127.0.0.1.:PORT/",
    "http://127.0.0.001:PORT/",
    "http://127.255.255.254:PORT/",
    "http://0:PORT/",
    "http://0.0.0.0:PORT/",
    "http://[::1]:PORT/",
    "http://[::]:PORT/",
    "http://[0:0:0:0:0:0:0:1]:PORT/",
    "http://[::1%25lo]:PORT/",
    "http://[::1%lo]:PORT/",
    "http://[fe80::1%25eth0]:PORT/",
    "http://[::ffff:127.0.0.1]:PORT/",
    "http://[::ffff:7f00:1]:PORT/",
    "http://[::127.0.0.1]:PORT/",
    "http://[64:ff9b::7f00:1]:PORT/",
    "http://[64:ff9b:1::7f00:1]:PORT/",
    "http://[2002:7f00:1::]:PORT/",
    "http://[2001:0:4136:e378:8000:63bf:80ff:fffe]:PORT/",
    "http://[fd00:ec2::254]:PORT/",
    "http://[fec0::1]:PORT/",
    "http://[ff02::1]:PORT/",
    "http://localhost:PORT/",
    "http://localhost.:PORT/",
    "http://LOCALHOST:PORT/",
    "http://hooks.localhost:PORT/",
    "http://localhost.localdomain:PORT/",
    "http://redis:PORT/",
    "http://metadata.google.internal:PORT/",
    "http://printer.local:PORT/",
    "http://169.254.169.254:PORT/latest/meta-data/",
    "http://100.100.100.200:PORT/",
    "http://168.63.129.16:PORT/",
    "http://10.0.0.1:PORT/",
    "http://172.16.0.1:PORT/",
    "http://192.168.0.1:PORT/",
    "http://100.64.0.1:PORT/",
    "http://198.18.0.1:PORT/",
    "http://224.0.0.1:PORT/",
    "http://255.255.255.255:PORT/",
    "http://１２７.０.０.１:PORT/",  # noqa: RUF001  # readers that normalise take these digits for ASCII
    "http://①②⑦.0.0.1:PORT/",
    "http://127。0。0。1:PORT/",
    "http://ⓛocalhost:PORT/",
    "http://user@127.0.0.1:PORT/",
    "http://hooks.example.com@127.0.0.1:PORT/",
    "http://127.0.0.1:PORT@hooks.example.com/",
    "http://hooks.example.com\\@127.0.0.1:PORT/",
    "http://127.0.0.1:PORT\\.example.com/",
    "http://127.0.0.1%00.example.com:PORT/",
    "http://%31%32%37.0.0.1:PORT/",
    "http://127.0.0.1:PORT#.example.com/ ",
    " http://127.0.0.1:PORT/",
    "http://127.0.0.1:\tPORT/",
    "http://127.0.0.1:PORT/\r\nHost: hooks.example.com",
    "http:///127.0.0.1:PORT/",
    "http:127.0.0.1:PORT/",
    "//127.0.0.1:PORT/",
    "127.0.0.1:PORT",
    "gopher://127.0.0.1:PORT/_POST",
    "file:///etc/passwd",
    "unix:///run/docker.sock",
    "ftp://127.0.0.1:PORT/",
    "javascript:alert(1)",
    "http://hooks.example.com:22/",
    "http://hooks.example.com:0/",
    "http://hooks.example.com:65536/",
    "http://hooks.example.com:-1/",
    "http://hooks..example.com/",
    "http://-hooks.example.com/",
    "http://[::1/",
    "http://[hooks.example.com]/",
    "http:///",
    "",
    "http://" + "a" * 64 + ".example.com/",
    "http://hooks.example.com/" + "a" * 500,
]
# To what a name may lead, however good it looks.
HOSTILE_ANSWERS = [
    ["127.0.0.1"],
    ["127.8.8.8"],
    ["::1"],
    ["::"],
    ["0.0.0.0"],  # noqa: S104  # nothing is bound
    ["10.1.2.3"],
    ["172.31.255.255"],
    ["192.168.1.1"],
    ["169.254.169.254"],
    ["100.100.100.200"],
    ["168.63.129.16"],
    ["192.0.0.192"],
    ["192.88.99.1"],
    ["198.19.0.1"],
    ["203.0.113.7"],
    ["239.255.255.250"],
    ["255.255.255.255"],
    ["::ffff:127.0.0.1"],
    ["::ffff:93.184.215.14"],
    ["64:ff9b::a00:1"],
    ["2002:a00:1::1"],
    ["2001::1"],
    ["2001:db8::1"],
    ["3fff::1"],
    ["fd00:ec2::254"],
    ["fe80::1%lo"],
    ["ff02::1"],
    ["fec0::1"],
    ["93.184.215.14", "127.0.0.1"],
    ["127.0.0.1", "93.184.215.14"],
    ["2606:4700::1111", "::1"],
    [],
]


@pytest.fixture
def port() -> Iterator[int]:
    """A port of this machine; at the end nobody has connected to it."""
    with webhook_receivers.listening() as (port, came):
        yield port
        # What was on its way would be here by now: a connection on loopback is made before connect() returns.
        assert came == []


def sent(url: str, *, resolver: ssrf_guard.Resolver = ssrf_guard.resolve) -> http_client.Outcome:
    """What comes of sending to this address although it was never judged before."""
    endpoint = WebhookEndpoint(url=url, secret=signing_secrets.encrypt(signing_secrets.generate()))
    event = Event(type="webhook.ping", record={}, created_at=NOW)
    return http_client.send(event, endpoint, now=timezone.now(), timeout_s=2.0, resolver=resolver)


def test_there_are_more_than_forty_hostile_targets() -> None:
    assert len(HOSTILE_URLS) > 40
    assert len(HOSTILE_ANSWERS) > 20


@pytest.mark.sample(12)
@pytest.mark.parametrize("url", HOSTILE_URLS)
def test_a_hostile_address_is_refused_and_never_connected_to(venue: Venue, port: int, url: str) -> None:
    url = url.replace("PORT", str(port))
    with pytest.raises(ssrf_guard.InvalidWebhookUrl) as refusal:
        endpoints.create(venue, url=url)
    assert refusal.value.param == "url"
    assert WebhookEndpoint.objects.count() == 0
    # A row that came by another way gets no further.
    outcome = sent(url)
    assert (outcome.status, bool(outcome.error)) == (None, True)


@pytest.mark.sample(6)
@pytest.mark.parametrize("answers", HOSTILE_ANSWERS, ids=",".join)
def test_a_name_that_leads_to_a_forbidden_address_is_never_connected_to(port: int, answers: list[str]) -> None:
    outcome = sent(f"http://hooks.example.com:{port}/", resolver=lambda _host, _port: answers)
    assert outcome.status is None
    assert outcome.error in (
        "hooks.example.com resolves to an address that is not on the public internet",
        "the name has no address",
    )


def test_name_is_resolved_once_and_the_connection_uses_the_checked_address(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second answer, were it asked for, would be another address (DNS rebinding)."""
    asked = []

    def rebinding(host: str, _port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.2"] if len(asked) == 1 else ["127.0.0.1"]

    settings.WEBHOOKS_TO_LOOPBACK = True
    went = []
    connect = socket.create_connection

    def watched(address: tuple[str, int], timeout: float) -> socket.socket:
        went.append(address[0])
        return connect(address, timeout=timeout)

    monkeypatch.setattr(socket, "create_connection", watched)
    with webhook_receivers.listening() as (port, came):
        outcome = sent(f"http://hooks.example.com:{port}/", resolver=rebinding)
        assert came == []
    assert (asked, went) == (["hooks.example.com"], ["127.0.0.2"])
    assert outcome.error == "Connection refused"


def test_a_second_address_is_tried_where_the_first_does_not_answer(settings: Settings) -> None:
    settings.WEBHOOKS_TO_LOOPBACK = True
    with webhook_receivers.receiving() as receiver:
        url = f"http://hooks.example.com:{receiver.server_port}/"
        outcome = sent(url, resolver=lambda _host, _port: ["127.0.0.2", "127.0.0.1"])
    assert outcome.status == 200
    assert receiver.received[0].headers["host"] == f"hooks.example.com:{receiver.server_port}"


def test_no_proxy_of_the_environment_is_used(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.WEBHOOKS_TO_LOOPBACK = True
    with webhook_receivers.listening() as (proxy, came), webhook_receivers.receiving() as receiver:
        for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy}")
        assert sent(receiver.url).status == 200
        assert came == []


def test_a_resolver_that_does_not_answer_holds_a_worker_no_longer_than_the_timeout() -> None:
    over = threading.Event()
    resolved = []

    def slow(host: str, _port: int) -> list[str]:
        over.wait(30)
        resolved.append(host)
        return []

    endpoint = WebhookEndpoint(
        url="http://hooks.example.com/", secret=signing_secrets.encrypt(signing_secrets.generate())
    )
    event = Event(type="webhook.ping", record={}, created_at=NOW)
    outcome = http_client.send(event, endpoint, now=NOW, timeout_s=0.2, resolver=slow)
    assert resolved == []
    over.set()
    assert outcome.error == "no answer within 0.2 s"


@pytest.mark.parametrize(
    ("url", "parts"),
    [
        ("https://hooks.example.com", ("https", "hooks.example.com", 443, "/")),
        ("http://Hooks.Example.com/a?b=c#d", ("http", "hooks.example.com", 80, "/a?b=c")),
        ("https://hooks.example.com:8443/a%20b", ("https", "hooks.example.com", 8443, "/a%20b")),
        ("https://xn--mnchen-3ya.example/", ("https", "xn--mnchen-3ya.example", 443, "/")),
        ("http://93.184.215.14:1024/", ("http", "93.184.215.14", 1024, "/")),
        ("https://[2606:4700::1111]/x", ("https", "[2606:4700::1111]", 443, "/x")),
        ("http://hooks.example.com:443/", ("http", "hooks.example.com", 443, "/")),
    ],
)
def test_an_address_of_the_public_internet_is_taken(url: str, parts: tuple[str, str, int, str]) -> None:
    read = ssrf_guard.parse_url(url)
    assert (read.scheme.decode(), read.host.decode(), read.port, read.target.decode()) == parts


def test_loopback_is_allowed_in_development_and_nothing_else_with_it(settings: Settings) -> None:
    settings.WEBHOOKS_TO_LOOPBACK = True
    for url in ("http://localhost:3000/", "http://127.0.0.1:3000/", "http://[::1]:3000/"):
        ssrf_guard.parse_url(url)
    for url in (
        "http://10.0.0.1:3000/",
        "http://localhost.:3000/",
        "http://[::ffff:127.0.0.1]:3000/",
        "http://0:3000/",
        "http://[::1]x/",
        "http://[::1]x:3000/",
        "http://x[::1]:3000/",
    ):
        with pytest.raises(ssrf_guard.InvalidWebhookUrl):
            ssrf_guard.parse_url(url)
    assert not ssrf_guard.is_allowed(ip_address("169.254.169.254"))


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate of hooks.example.com with its key, signed by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "hooks.example.com")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("hooks.example.com")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path_factory.mktemp("tls") / "hooks.pem"
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(secret + made.public_bytes(serialization.Encoding.PEM))
    return file


@pytest.mark.parametrize(
    ("host", "trusted", "status", "error"),
    [
        ("hooks.example.com", True, 200, ""),
        ("other.example.com", True, None, "TLS: CERTIFICATE_VERIFY_FAILED"),
        ("hooks.example.com", False, None, "TLS: CERTIFICATE_VERIFY_FAILED"),
    ],
)
def test_the_certificate_is_that_of_the_name_although_the_connection_goes_to_an_address(
    settings: Settings, certificate: Path, host: str, trusted: bool, status: int | None, error: str
) -> None:
    settings.WEBHOOKS_TO_LOOPBACK = True
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(certificate)
    asked: list[str | None] = []
    server.sni_callback = lambda _socket, name, _context: asked.append(name)
    trusts = ssl.create_default_context(cafile=str(certificate) if trusted else None)
    endpoint = WebhookEndpoint(secret=signing_secrets.encrypt(signing_secrets.generate()))
    event = Event(type="webhook.ping", record={}, created_at=NOW)
    with webhook_receivers.receiving(tls=server) as receiver:
        endpoint.url = f"https://{host}:{receiver.server_port}/"
        outcome = http_client.send(
            event, endpoint, now=NOW, timeout_s=3.0, resolver=lambda _host, _port: ["127.0.0.1"], ssl_context=trusts
        )
    assert (outcome.status, outcome.error) == (status, error)
    assert asked == [host]
