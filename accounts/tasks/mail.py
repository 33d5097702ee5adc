"""Mail to people who sign in."""

from typing import Any

from celery import shared_task

from accounts import mail_outbox
from framework.tasks.dispatch import enqueue

# How often the periodic task runs (config/celery.py).
SWEEP_S = 30


@shared_task(name="accounts.tasks.send_letters")
def send_letters(**_: Any) -> None:
    """Send what is due: what was just written, and what is tried again."""
    mail_outbox.post()


def enqueue_mail() -> None:
    """Ask a worker to send what is due; call it after the commit."""
    enqueue(send_letters, expires_s=SWEEP_S)
