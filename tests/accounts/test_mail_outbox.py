"""The outbox of mail to users."""

from datetime import timedelta

import pytest
from django.core import mail
from django.utils import timezone

from accounts import mail_outbox

pytestmark = pytest.mark.django_db

TEMPLATE = "accounts/mail/second_factor_removed"


def test_mail_of_a_clock_that_was_ahead_is_sent_when_it_is_right() -> None:
    ahead = timezone.now() + timedelta(days=9)
    for address in ("ada@example.com", "bob@example.com"):
        mail_outbox.enqueue(TEMPLATE, {}, address=address, now=ahead)
    # Its worker dies.
    assert mail_outbox.claim_next(now=ahead)
    assert mail_outbox.send_due() == 2
    assert sorted(message.to for message in mail.outbox) == [["ada@example.com"], ["bob@example.com"]]


def test_mail_that_another_worker_sends_is_left_to_it_until_its_lease_ends() -> None:
    now = timezone.now()
    mail_outbox.enqueue(TEMPLATE, {}, address="ada@example.com", now=now)
    assert mail_outbox.claim_next(now=now)
    assert mail_outbox.send_due() == 0
    # The clock of another server may be a little behind.
    assert mail_outbox.claim_next(now=now - timedelta(seconds=30)) is None
    assert mail_outbox.claim_next(now=now + mail_outbox.LEASE)
