"""Tasks of the mail outbox."""

from typing import Any

from celery import shared_task

from accounts import mail_outbox
from framework.tasks.dispatch import enqueue

# How often the periodic task runs (config/celery.py).
SWEEP_S = 30


@shared_task(name="accounts.tasks.send_outgoing_mail")
def send_outgoing_mail(**_: Any) -> None:
    """Send the mail that is due: new mail and retries."""
    mail_outbox.send_due()


def enqueue_mail() -> None:
    """Enqueue the task that sends the mail. Call it after the commit."""
    enqueue(send_outgoing_mail, expires_s=SWEEP_S)
