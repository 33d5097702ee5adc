"""Web push: a push service gets what only the browser can read, signed by us; browsers that are gone are removed."""

import base64
import json
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.alerts import delivery, web_push
from accounts.alerts import settings as alert_settings
from accounts.models import Alert, AlertSubscription, Membership, PushDevice, User, Venue
from accounts.webhooks import address_limit
from framework.errors import ApiError
from tests.accounts.alerts.test_delivery import NOW, send, states, subscribe
from tests.accounts.webhook_receivers import Received, Receiver, receiving, says
from tests.support import builders, users

pytestmark = pytest.mark.django_db


class Browser:
    """The keys of a PushSubscription, and how a browser reads what it gets (RFC 8291, section 3.4)."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.secret = b"sixteen secrets."

    @property
    def public_key(self) -> bytes:
        return self.key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)

    def allow(self, user: User) -> PushDevice:
        return alert_settings.add_device(
            user,
            endpoint=self.url,
            public_key=to_text(self.public_key),
            auth_secret=to_text(self.secret),
            name="Firefox, Android",
            now=NOW,
        )

    def read(self, received: Received) -> Any:
        body = received.body
        salt, record_size, key_length = body[:16], int.from_bytes(body[16:20]), body[20]
        sender = body[21 : 21 + key_length]
        shared = self.key.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), sender))
        secret = derive(shared, self.secret, b"WebPush: info\0" + self.public_key + sender, 32)
        key = derive(secret, salt, b"Content-Encoding: aes128gcm\0", 16)
        nonce = derive(secret, salt, b"Content-Encoding: nonce\0", 12)
        content = AESGCM(key).decrypt(nonce, body[21 + key_length :], None)
        assert len(body) <= record_size
        assert content.endswith(b"\2")
        return json.loads(content[:-1])


def derive(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(SHA256(), length, salt, info).derive(secret)


def to_text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


@pytest.fixture(autouse=True)
def _to_loopback(settings: Settings) -> None:
    settings.WEBHOOKS_TO_LOOPBACK = True


@pytest.fixture
def member(venue: Venue) -> Membership:
    member = users.membership(venue)
    subscribe(member, venue, channel="push")
    return member


@pytest.fixture
def service() -> Iterator[Receiver]:
    with receiving(says(201)) as receiver:
        yield receiver


def test_a_browser_gets_a_message_that_only_it_can_read(venue: Venue, member: Membership, service: Receiver) -> None:
    browser = Browser(service.url)
    browser.allow(member.user)
    order = builders.order(venue, now=NOW)
    now = timezone.now()
    assert [send(now), send(now)] == [1, 0]
    (received,) = service.received
    assert browser.read(received) == {
        "title": "Trattoria",
        "body": "New order 1",
        "url": f"http://127.0.0.1:8000/dashboard/{venue.public_id}/orders/{order.public_id}",
    }
    assert received.path == "/hooks?from=tablewire"
    names = ("content-encoding", "ttl", "urgency")
    assert [received.headers[name] for name in names] == ["aes128gcm", "14400", "high"]

    scheme, token, key = received.headers["authorization"].replace(",", " ").split()
    assert (scheme, key) == ("vapid", f"k={to_text(web_push.public_key())}")
    signer = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), web_push.public_key())
    claims = jwt.decode(
        token.removeprefix("t="), signer, ["ES256"], audience=f"http://127.0.0.1:{service.server_port}"
    )
    assert claims["sub"] == "mailto:noreply@localhost"
    assert claims["exp"] == int((now + timedelta(hours=12)).timestamp())


def test_what_was_gathered_is_one_notification(venue: Venue, member: Membership, service: Receiver) -> None:
    browser = Browser(service.url)
    browser.allow(member.user)
    for _ in range(6):
        builders.order(venue, now=NOW)
    assert send() == 1
    message = browser.read(service.received[0])
    assert message["title"] == "Trattoria: 6 events"
    assert message["body"] == "New order 1\nNew order 2\nNew order 3\nNew order 4"
    assert message["url"].endswith(f"/dashboard/{venue.public_id}")


@pytest.mark.parametrize("status", [404, 410])
def test_a_browser_that_is_gone_is_removed(venue: Venue, member: Membership, service: Receiver, status: int) -> None:
    with receiving(says(status)) as gone:
        Browser(gone.url).allow(member.user)
        kept = Browser(service.url).allow(member.user)
        builders.order(venue, now=NOW)
        assert send() == 1
    assert list(PushDevice.objects.all()) == [kept]
    PushDevice.objects.all().delete()
    builders.order(venue, now=NOW)
    assert send(NOW + timedelta(minutes=2)) == 0
    assert states() == ["dropped", "sent"]


def test_a_push_service_that_fails_is_asked_again_five_times(venue: Venue, member: Membership) -> None:
    with receiving(says(500)) as broken:
        Browser(broken.url).allow(member.user)
        builders.order(venue, now=NOW)
        at = NOW
        for minutes in (0, 1, 5, 15, 60):
            at += timedelta(minutes=minutes)
            assert send(at - timedelta(seconds=1)) == send(at) == 0
        assert len(broken.received) == 5
    assert states() == ["failed"]
    assert AlertSubscription.objects.get().attempts == 0


def test_push_services_have_a_limit_of_their_own_which_costs_no_attempt(
    venue: Venue, member: Membership, service: Receiver, settings: Settings
) -> None:
    settings.WEBHOOK_ADDRESS_LIMIT = 1
    address_limit.check("127.0.0.1")
    Browser(service.url).allow(member.user)
    builders.order(venue, now=NOW)
    assert send() == 1
    builders.order(venue, now=NOW)
    at = NOW + timedelta(minutes=2)
    assert send(at) == 0
    subscription = AlertSubscription.objects.get()
    assert (len(service.received), subscription.attempts, states()) == (1, 0, ["pending", "sent"])
    assert timedelta(0) < subscription.next_send_at - at <= timedelta(seconds=61)


def test_a_message_that_cannot_be_built_holds_no_other_up(
    venue: Venue, other_venue: Venue, member: Membership, service: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = users.membership(other_venue)
    subscribe(other, other_venue, channel="push")
    Browser(service.url).allow(other.user)
    build_message = delivery.build_message

    def fail_at_venue(subscription: AlertSubscription, alerts: Sequence[Alert]) -> dict[str, str]:
        if subscription.venue == venue:
            raise ValueError("A defect")
        return build_message(subscription, alerts)

    monkeypatch.setattr(delivery, "build_message", fail_at_venue)
    builders.order(venue, now=NOW)
    builders.order(other_venue, now=NOW)
    assert send() == 1
    assert states() == ["pending", "sent"]


@pytest.mark.parametrize("status", [401, 403])
def test_a_browser_that_has_subscribed_with_another_key_is_removed_and_the_page_says_so(
    venue: Venue, settings: Settings, status: int
) -> None:
    client = users.member(venue)
    member = Membership.objects.get()
    subscribe(member, venue, channel="push")
    with receiving(says(status)) as service:
        Browser(service.url).allow(member.user)
        builders.order(venue, now=NOW)
        assert send() == 0
        assert PushDevice.objects.count() == 1
        settings.VAPID_PRIVATE_KEY = ec.generate_private_key(ec.SECP256R1())
        assert send(NOW + timedelta(minutes=1)) == 0
    assert not PushDevice.objects.exists()
    page = client.get(f"/dashboard/{venue.public_id}/alerts").content.decode()
    assert "Turn on in this browser" in page
    assert "Your browsers" not in page


def test_a_browser_cannot_name_an_address_of_our_network(venue: Venue, member: Membership, settings: Settings) -> None:
    device = Browser("https://push.example.com/1").allow(member.user)
    settings.WEBHOOKS_TO_LOOPBACK = False

    def resolve(_host: str, _port: int) -> Sequence[str]:
        return ["10.0.0.1"]

    outcome = web_push.send(device, {}, now=NOW, resolver=resolve)
    assert outcome.error == "push.example.com resolves to an address that is not on the public internet"
    for url in ("http://push.example.com/1", "https://127.0.0.1/", "https://[2606:4700::1]/", "https://x/", "", "\0"):
        with pytest.raises(ApiError):
            Browser(url).allow(member.user)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"p256dh": to_text(b"\4" + bytes(64))}, "This is not a public key of P-256."),
        ({"p256dh": "é"}, "This is not base64url."),
        ({"auth": to_text(b"short")}, "The secret has 16 bytes."),
        ({"endpoint": "https://127.0.0.1.nip.io:22/"}, "The port must be 80, 443 or above 1023."),
    ],
)
def test_a_malformed_subscription_is_refused(venue: Venue, changes: dict[str, str], message: str) -> None:
    client = users.member(venue)
    browser = Browser("https://push.example.com/1")
    sent = {"endpoint": browser.url, "p256dh": to_text(browser.public_key), "auth": to_text(browser.secret)}
    path = f"/dashboard/{venue.public_id}/alerts/browsers"
    assert builders.messages_of(client.post(path, sent | changes)) == [message]
    assert not PushDevice.objects.exists()


def test_a_browser_is_of_the_user_who_has_allowed_it_last(venue: Venue) -> None:
    agent = "Mozilla/5.0 (Android 16; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0"
    browser = Browser("https://push.example.com/1")
    sent = {"endpoint": browser.url, "p256dh": to_text(browser.public_key), "auth": to_text(browser.secret)}
    path = f"/dashboard/{venue.public_id}/alerts"
    ada, bob = users.member(venue), users.member(venue)
    for client in (ada, bob):
        client.post(f"{path}/browsers", sent, headers={"user-agent": agent})
    device = PushDevice.objects.get()
    assert (device.name, bytes(device.public_key)) == ("Firefox, Android", browser.public_key)
    assert ["Firefox, Android" in client.get(path).content.decode() for client in (ada, bob)] == [False, True]
    remove = f"{path}/browsers/{device.pk}/remove"
    assert [client.post(remove).status_code for client in (ada, bob)] == [404, 302]
    assert not PushDevice.objects.exists()


def test_a_user_has_eight_browsers_at_most(venue: Venue, member: Membership) -> None:
    for number in range(10):
        Browser(f"https://push.example.com/{number}").allow(member.user)
    kept = PushDevice.objects.order_by("pk").values_list("endpoint", flat=True)
    assert list(kept) == [f"https://push.example.com/{number}" for number in range(2, 10)]


def test_the_service_worker_is_served_where_it_controls_no_page(client: Client) -> None:
    response = client.get("/static/accounts/alerts_worker.js")
    assert (response.status_code, response["Content-Type"]) == (200, 'text/javascript; charset="utf-8"')
    assert "Service-Worker-Allowed" not in response
    response.close()


def test_the_page_of_alerts_has_the_key_of_the_server(venue: Venue) -> None:
    page = users.member(venue).get(f"/dashboard/{venue.public_id}/alerts")
    assert "default-src 'self'" in page["Content-Security-Policy"]
    assert to_text(web_push.public_key()) in page.content.decode()
    assert not Alert.objects.exists()
