"""The mailbox: how mail is stored, what its pages show, and to whom."""

import re
import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.conf import LazySettings
from django.core import mail
from django.core.mail import EmailMultiAlternatives
from django.test import Client
from django.utils import timezone

from accounts import mail_outbox
from accounts.models import Venue
from framework import mailbox
from tests.support import users

LINK = "https://example.com/reset?a=1&b=2"


@pytest.fixture(autouse=True)
def _mailbox(settings: LazySettings, tmp_path: Path) -> None:
    settings.MAILBOX_DIR = str(tmp_path / "mail")
    settings.EMAIL_BACKEND = settings.SANDBOX_EMAIL_BACKEND = "framework.mailbox.EmailBackend"
    settings.PUBLIC_BASE_URL = "http://127.0.0.1:8000"


@pytest.fixture
def names() -> list[str]:
    """Three stored mails, newest first; the newest has an HTML part."""
    mail.send_mail("First", f"Open {LINK}\nBye", "us@example.com", ["ann@example.com"])
    mail.send_mail("Second", "Two", "us@example.com", ["bob@example.com"])
    message = EmailMultiAlternatives("Tiramisù", "Text part", "us@example.com", ["Ann@Example.com"])
    message.attach_alternative(f'<script>alert(1)</script><a href="{LINK}">Reset</a>', "text/html")
    message.send()
    return mailbox.names()


def text_of(response: Any) -> str:
    """The words of a page, without its tags."""
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


def old_name(age: timedelta) -> str:
    at = datetime.now(UTC) - age
    return f"{int(at.timestamp() * 1e9):020d}-{uuid4().hex}"


def test_stored_mail_is_read_back_newest_first(names: list[str]) -> None:
    found = list(mailbox.list_mails())
    assert [each.name for each in found] == names
    assert [(each.recipient, each.subject, each.text, each.sender) for each in found] == [
        ("Ann@Example.com", "Tiramisù", "Text part", "us@example.com"),
        ("bob@example.com", "Second", "Two", "us@example.com"),
        ("ann@example.com", "First", f"Open {LINK}\nBye", "us@example.com"),
    ]
    assert [each.html for each in found] == [f'<script>alert(1)</script><a href="{LINK}">Reset</a>', "", ""]
    assert all(abs(timezone.now() - each.stored_at) < timedelta(minutes=1) for each in found)


def test_mail_is_searched_by_recipient_in_any_case(names: list[str]) -> None:
    assert [each.subject for each in mailbox.list_mails(recipient="ANN@")] == ["Tiramisù", "First"]
    assert list(mailbox.list_mails(recipient="carl")) == []


def test_files_are_private(names: list[str]) -> None:
    directory = mailbox.directory()
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in directory.iterdir()} == {0o600}


@pytest.mark.exhaustive
def test_mail_of_concurrent_workers_is_stored_completely() -> None:
    def send(number: int) -> None:
        mail.send_mail(f"Mail {number}", "x" * 20_000, "us@example.com", [f"{number}@example.com"])
        # A reader never sees a half-written file.
        assert {len(each.text) for each in mailbox.list_mails()} == {20_000}

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(send, range(40)))
    assert sorted(each.subject for each in mailbox.list_mails()) == sorted(f"Mail {number}" for number in range(40))
    assert len(list(mailbox.directory().iterdir())) == 40


def test_old_mail_is_deleted_when_mail_is_stored(monkeypatch: pytest.MonkeyPatch, names: list[str]) -> None:
    monkeypatch.setattr(mailbox, "MAX_MAILS", 4)
    expired, recent = old_name(timedelta(days=14, minutes=1)), old_name(timedelta(days=13))
    for name in (expired, recent):
        (mailbox.directory() / f"{name}.eml").write_text("To: x@example.com\n\n")
    mailbox.delete_old()
    assert mailbox.names() == [*names, recent]
    mail.send_mail("Fourth", "4", None, ["x@example.com"])
    assert mailbox.names()[1:] == names


def test_empty_mailbox_says_where_mail_comes_from() -> None:
    response = Client().get("/mailbox")
    assert response.status_code == 200
    assert "No emails yet" in text_of(response)
    assert "Delete all emails" not in text_of(response)


def test_list_links_each_mail(names: list[str]) -> None:
    page = Client().get("/mailbox").content.decode()
    assert [page.index(f'href="/mailbox/{name}"') for name in names] == sorted(
        page.index(f'href="/mailbox/{name}"') for name in names
    )
    found = Client().get("/mailbox?to=bob").content.decode()
    assert [f'href="/mailbox/{name}"' in found for name in names] == [False, True, False]
    assert "No emails to this recipient" in text_of(Client().get("/mailbox?to=carl"))


def test_list_polls_for_newer_mail(names: list[str]) -> None:
    assert f'"newest": "{names[0]}"' in Client().get("/mailbox").content.decode()
    assert Client().get(f"/mailbox?newest={names[0]}").status_code == 204
    assert Client().get(f"/mailbox?to=bob&newest={names[1]}").status_code == 204
    assert f"/mailbox/{names[0]}" in Client().get(f"/mailbox?newest={names[1]}").content.decode()
    mailbox.delete_all()
    assert Client().get("/mailbox?newest=").status_code == 204


def test_mail_is_shown_with_links_and_its_html_only_in_a_sandboxed_frame(names: list[str]) -> None:
    html, _, text = names
    page = Client().get(f"/mailbox/{text}").content.decode()
    assert '<a href="https://example.com/reset?a=1&amp;b=2" rel="nofollow">' in page
    assert "<iframe" not in page
    page = Client().get(f"/mailbox/{html}").content.decode()
    assert "alert(1)" not in page
    assert f'src="/mailbox/{html}/html" sandbox="allow-popups allow-popups-to-escape-sandbox"' in page
    frame = Client().get(f"/mailbox/{html}/html")
    assert set(frame.headers["Content-Security-Policy"].split("; ")) == {
        "default-src 'none'",
        "style-src 'unsafe-inline'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "object-src 'none'",
        "frame-ancestors 'self'",
        "sandbox allow-popups allow-popups-to-escape-sandbox",
    }
    assert frame.headers["X-Frame-Options"] == "SAMEORIGIN"
    assert frame.content.decode().endswith(f'<a href="{LINK}">Reset</a>')


def test_mail_is_downloaded_as_it_was_stored(names: list[str]) -> None:
    response = Client().get(f"/mailbox/{names[0]}.eml")
    assert response.content == (mailbox.directory() / f"{names[0]}.eml").read_bytes()
    assert response.headers["Content-Type"] == "message/rfc822"
    assert response.headers["Content-Disposition"] == f'attachment; filename="{names[0]}.eml"'


def test_all_mail_is_deleted_by_post(names: list[str]) -> None:
    assert Client().get("/mailbox/delete").status_code == 405
    response = Client().post("/mailbox/delete")
    assert (response.status_code, response.headers["Location"]) == (302, "/mailbox")
    assert mailbox.names() == []
    assert Client(enforce_csrf_checks=True).post("/mailbox/delete").status_code == 403


@pytest.mark.parametrize("path", ["", "/html", ".eml"])
@pytest.mark.parametrize("name", ["0" * 20 + "-" + "a" * 32, "stack", "..%2Fup"])
def test_unknown_mail_is_404(name: str, path: str, names: list[str]) -> None:
    (mailbox.directory() / "stack.eml").write_text("no mail")
    assert Client().get(f"/mailbox/{name}{path}").status_code == 404


def paths(names: list[str]) -> list[str]:
    return ["/mailbox", *(f"/mailbox/{names[0]}{end}" for end in ("", "/html", ".eml"))]


@pytest.mark.parametrize(
    "from_elsewhere",
    [{"REMOTE_ADDR": "192.0.2.7"}, {"HTTP_X_FORWARDED_FOR": "127.0.0.1"}, {"HTTP_VIA": "1.1 proxy"}],
)
def test_other_machines_are_sent_to_sign_in(from_elsewhere: dict[str, Any], names: list[str]) -> None:
    for path in paths(names):
        response = Client(**from_elsewhere).get(path)
        assert (response.status_code, response.headers["Location"]) == (302, f"/account/login/?next={path}")
    assert Client(**from_elsewhere).post("/mailbox/delete").status_code == 302
    assert mailbox.names() == names


@pytest.mark.django_db
def test_on_other_machines_only_superusers_read_the_mailbox(names: list[str]) -> None:
    for person, status in (
        (users.user(), 404),
        (users.user(is_staff=True), 404),
        (users.user(is_staff=True, is_superuser=True), 200),
    ):
        client = users.signed_in(person)
        assert [client.get(path, REMOTE_ADDR="192.0.2.7").status_code for path in paths(names)] == [status] * 4


def test_public_address_closes_the_mailbox_to_this_machine_too(settings: LazySettings, names: list[str]) -> None:
    settings.PUBLIC_BASE_URL = "https://api.example.com"
    assert [Client().get(path).status_code for path in paths(names)] == [302] * 4


@pytest.mark.django_db
def test_without_a_mailbox_there_is_no_page(settings: LazySettings, names: list[str]) -> None:
    settings.MAILBOX_DIR = ""
    superuser = users.signed_in(users.user(is_staff=True, is_superuser=True))
    assert [client.get(path).status_code for client in (Client(), superuser) for path in paths(names)] == [404] * 8


def link(response: Any) -> bool:
    return '<a href="/mailbox" target="_blank">Open the mailbox' in response.content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/account/password/reset/done/", "/account/confirm-email/"])
def test_pages_that_announce_a_mail_link_the_mailbox(path: str, settings: LazySettings) -> None:
    assert link(Client().get(path))
    assert not link(Client(REMOTE_ADDR="192.0.2.7").get(path))
    settings.MAILBOX_DIR = ""
    assert not link(Client().get(path))


@pytest.mark.django_db
def test_invitation_links_the_mailbox_where_its_mail_arrives(venue: Venue) -> None:
    owner = users.member(venue)
    answer = owner.post(
        f"/dashboard/{venue.public_id}/team",
        {"email": "new@example.com", "role": "host", "access": "all"},
        follow=True,
    )
    assert "The invitation was sent to new@example.com. Open the mailbox" in text_of(answer)
    assert mail_outbox.send_due() == 1
    (sent,) = mailbox.list_mails(recipient="new@example.com")
    assert "/dashboard/invitation/" in sent.text


@pytest.mark.django_db
def test_unwritable_mailbox_leaves_the_mail_in_the_outbox(settings: LazySettings, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    settings.MAILBOX_DIR = str(tmp_path / "file" / "mail")
    now = timezone.now()
    mail_outbox.enqueue("account/email/password_changed", {"email": "a@example.com"}, address="a@example.com", now=now)
    assert mail_outbox.send_due() == 0
    settings.MAILBOX_DIR = str(tmp_path / "mail")
    mail_outbox.OutgoingMail.objects.update(next_attempt_at=now)
    assert mail_outbox.send_due() == 1
    assert [each.recipient for each in mailbox.list_mails()] == ["a@example.com"]
