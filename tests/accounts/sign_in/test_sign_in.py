"""Signing in: guessing is slow, nothing is told about who has an account, and links lead nowhere else."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value, yield_hotp_counters_from_time
from django.core.cache import cache
from django.core.cache.backends.redis import RedisCacheClient
from django.test import Client
from redis.exceptions import ConnectionError as NotConnected

from accounts import mail_outbox
from accounts.models import OutgoingMail, User
from framework.encryption import decrypt
from tests.support import users
from tests.support.smtp_server import postbox

PASSWORD = "correct horse battery staple"


@pytest.fixture(autouse=True)
def _clear_sign_in_attempts() -> Iterator[None]:
    """The limits on tries know nothing of other tests."""
    cache.clear()
    yield
    cache.clear()


def sign_in(client: Client, email: str, password: str = PASSWORD, **more: Any) -> Any:
    """Try to."""
    return client.post("/account/login/", {"login": email, "password": password} | more)


def is_in(client: Client) -> bool:
    """Whether the browser is somebody's."""
    return "_auth_user_id" in client.session


def text_of(mail: OutgoingMail) -> str:
    """What the mail says."""
    return decrypt(mail.text, purpose=mail_outbox.PURPOSE)


@pytest.mark.parametrize("written", ["boss@example.com", "Boss@Example.COM", " boss@example.com "])
def test_who_was_made_by_command_signs_in_in_any_case(db: None, written: str) -> None:
    User.objects.create_superuser("Boss@Example.com", PASSWORD)
    client = Client()
    assert sign_in(client, written)["Location"] == "/dashboard/"
    assert is_in(client)


def test_an_unknown_address_is_answered_like_a_wrong_password(db: None) -> None:
    users.user("known@example.com", password=PASSWORD)
    pages = [
        sign_in(Client(), email, "wrong").context["form"].errors for email in ("known@example.com", "no@example.com")
    ]
    assert pages[0] == pages[1]


def test_sixth_wrong_password_within_five_minutes_is_not_checked(db: None) -> None:
    users.user("known@example.com", password=PASSWORD)
    for _ in range(5):
        sign_in(Client(), "known@example.com", "wrong")
    client = Client()
    answer = sign_in(client, "known@example.com")
    assert "Too many failed login attempts" in answer.content.decode()
    assert not is_in(client)


@pytest.mark.exhaustive
def test_tries_are_counted_by_the_address_that_a_trusted_proxy_names(db: None, settings: Any) -> None:
    settings.TRUSTED_PROXIES = 1
    client = Client()

    def tried(forwarded: str) -> int:
        return int(client.post("/account/login/", {}, headers={"x-forwarded-for": forwarded}).status_code)

    # What the caller itself writes in front does not make it another.
    assert [tried(f"198.51.100.{n}, 203.0.113.7") for n in range(31)] == [200] * 30 + [429]
    assert tried("203.0.113.8") == 200


def test_nonsense_from_a_proxy_is_one_address(db: None, settings: Any) -> None:
    settings.TRUSTED_PROXIES = 2
    for forwarded in ("", "nonsense", "a, b", "1.2.3.4"):
        answer = Client().post("/account/login/", {}, headers={"x-forwarded-for": forwarded})
        assert answer.status_code == 200


def test_sign_in_without_valkey_is_refused_with_a_page(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    users.user("known@example.com", password=PASSWORD)

    def gone(*_: object, **__: object) -> None:
        raise NotConnected

    client = Client()
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(RedisCacheClient, "get_client", gone)
        answer = sign_in(client, "known@example.com")
    assert (answer.status_code, answer["Retry-After"]) == (503, "30")
    assert "A service that this page needs is unavailable." in answer.content.decode()
    assert not is_in(client)


@pytest.mark.parametrize(
    "elsewhere", ["https://evil.example/", "//evil.example/", "/\\evil.example", "javascript:alert(1)"]
)
def test_signing_in_leads_to_no_other_site(db: None, elsewhere: str) -> None:
    users.user("known@example.com", password=PASSWORD)
    assert sign_in(Client(), "known@example.com", next=elsewhere)["Location"] == "/dashboard/"


def test_signing_in_leads_back_to_where_one_was(db: None) -> None:
    users.user("known@example.com", password=PASSWORD)
    assert sign_in(Client(), "known@example.com", next="/dashboard/you")["Location"] == "/dashboard/you"


@pytest.mark.parametrize("path", ["/account/login/", "/account/signup/", "/account/password/reset/", "/dashboard/you"])
def test_forms_of_other_sites_are_refused(db: None, path: str) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(users.user())
    assert client.post(path, {}).status_code == 403


def test_password_reset_does_not_reveal_who_has_an_account(db: None) -> None:
    users.user("known@example.com", password=PASSWORD)
    answers = [
        Client().post("/account/password/reset/", {"email": email}, follow=True)
        for email in ("known@example.com", "no@example.com")
    ]
    pages = [re.sub(r"csrfmiddlewaretoken.*?>", "", answer.content.decode()) for answer in answers]
    assert pages[0] == pages[1]
    assert [mail.subject for mail in OutgoingMail.objects.order_by("created_at")] == [
        "Reset your password",
        "No account with this address",
    ]


@pytest.mark.exhaustive
def test_a_link_by_mail_sets_a_new_password_once(db: None) -> None:
    person = users.user("known@example.com", password=PASSWORD)
    client = Client()
    client.post("/account/password/reset/", {"email": "known@example.com"})
    found = re.search(r"/account/password/reset/key/\S+", text_of(OutgoingMail.objects.get()))
    assert found is not None
    form = client.get(found.group(), follow=True)
    assert form.status_code == 200
    client.post(
        form.request["PATH_INFO"], {"password1": "a much newer password", "password2": "a much newer password"}
    )
    person.refresh_from_db()
    assert person.check_password("a much newer password")
    assert "This link has expired" in Client().get(found.group(), follow=True).content.decode()


@pytest.mark.django_db(transaction=True)
def test_mail_is_sent_by_a_worker_and_not_in_the_request(settings: Any) -> None:
    users.user("known@example.com", password=PASSWORD)
    with postbox() as box:
        settings.EMAIL_BACKEND, settings.EMAIL_PORT = "django.core.mail.backends.smtp.EmailBackend", box.port
        settings.EMAIL_HOST = "127.0.0.1"
        Client().post("/account/password/reset/", {"email": "known@example.com"})
        assert box.mails == []
        assert mail_outbox.send_due() == 1
        assert [mail["Subject"] for mail in box.mails] == ["Reset your password"]
        assert mail_outbox.send_due() == 0
    assert not OutgoingMail.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_mail_that_is_refused_waits(settings: Any) -> None:
    users.user("known@example.com", password=PASSWORD)
    with postbox() as box:
        settings.EMAIL_BACKEND, settings.EMAIL_PORT = "django.core.mail.backends.smtp.EmailBackend", box.port
        settings.EMAIL_HOST, box.content = "127.0.0.1", "451 later"
        Client().post("/account/password/reset/", {"email": "known@example.com"})
        assert mail_outbox.send_due() == 0
    assert OutgoingMail.objects.count() == 1


def code_of(secret: str) -> str:
    """What the app shows now."""
    return str(format_hotp_value(hotp_value(secret, next(iter(yield_hotp_counters_from_time())))))


@pytest.mark.exhaustive
def test_a_code_from_an_app_is_asked_for_once_it_is_set_up(db: None) -> None:
    person = users.user("known@example.com", password=PASSWORD)
    EmailAddress.objects.create(user=person, email=person.email, verified=True, primary=True)
    client = Client()
    sign_in(client, "known@example.com")
    assert client.get("/account/2fa/totp/activate/")["Location"].startswith("/account/reauthenticate/")
    client.post("/account/reauthenticate/", {"password": PASSWORD})
    answer = client.get("/account/2fa/totp/activate/")
    assert answer.status_code == 200
    page = answer.content.decode()
    found = re.search(r'id="authenticator_secret">(\w+)<', page)
    assert found is not None
    secret = found.group(1)
    assert "data:image/svg+xml" in page
    client.post("/account/2fa/totp/activate/", {"code": code_of(secret)})
    rows = Authenticator.objects.get(user=person, type="totp")
    assert secret not in str(rows.data)
    other = Client()
    assert sign_in(other, "known@example.com")["Location"] == "/account/2fa/authenticate/"
    assert not is_in(other)
    assert "Incorrect code" in other.post("/account/2fa/authenticate/", {"code": "000000"}).content.decode()
    cache.clear()
    # A code is good once, so this one is the first that the second browser may use.
    codes = Authenticator.objects.get(user=person, type="recovery_codes").wrap().get_unused_codes()
    other.post("/account/2fa/authenticate/", {"code": codes[0]})
    assert is_in(other)


SIGNED_IN = (
    "/account/logout/",
    "/account/email/",
    "/account/password/change/",
    "/account/sessions/",
    "/account/2fa/",
    "/account/2fa/webauthn/",
    "/account/reauthenticate/",
    "/dashboard/you",
)


@pytest.mark.parametrize("path", SIGNED_IN)
def test_every_page_about_oneself_stands(db: None, path: str) -> None:
    users.user("known@example.com", password=PASSWORD)
    client = Client()
    sign_in(client, "known@example.com")
    page = client.get(path)
    assert page.status_code == 200
    assert "tablewire/pages.css" in page.content.decode()
    assert not re.search(r"style=|<script>|\son\w+=", page.content.decode())


@pytest.mark.parametrize(
    "path",
    [
        "/account/login/",
        "/account/signup/",
        "/account/password/reset/",
        "/account/password/reset/done/",
        "/account/password/reset/key/1-abc/",
        "/account/confirm-email/",
        "/account/confirm-email/nonsense/",
        "/account/inactive/",
        "/dashboard/invitation/nonsense",
    ],
)
def test_every_page_for_strangers_stands(db: None, path: str) -> None:
    page = Client().get(path).content.decode()
    assert "tablewire/pages.css" in page
    assert not re.search(r"style=|<script>|\son\w+=", page)


def test_inactive_user_is_reported(db: None) -> None:
    users.user("known@example.com", password=PASSWORD, is_active=False)
    client = Client()
    sign_in(client, "known@example.com")
    assert not is_in(client)


def test_admin_has_no_sign_in_page_of_its_own(db: None) -> None:
    assert Client().get("/admin/login/?next=/admin/")["Location"].startswith("/account/login/?next=")
