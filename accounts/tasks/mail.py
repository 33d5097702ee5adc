"""Mail to people who sign in."""

from typing import Any

from celery import shared_task

from framework.mail import outbox
from framework.tasks import dispatch

# As often as the beat rings (config/celery.py).
SWEEP_S = 30


@shared_task(name="accounts.tasks.send_letters")
def send_letters(**_: Any) -> None:
    """Send what is due: what was just written, and what is tried again."""
    outbox.post()


def ring_for_letters() -> None:
    """Ask a worker to send what is due; call it after the commit."""
    dispatch.ring(send_letters, otherwise="letters wait for the next sweep", expires_s=SWEEP_S)
