"""Adapters of django-allauth: mail, client address, redirects, and encryption of second factors."""

import logging
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.mfa.adapter import DefaultMFAAdapter
from django.db import transaction
from django.http import HttpRequest
from django.shortcuts import resolve_url
from django.utils import timezone

from accounts import mail_outbox
from accounts.models import User, Venue
from framework.api.rate_limits.client_ip import client_ip
from framework.encryption import CannotDecrypt, decrypt, encrypt

logger = logging.getLogger("tablewire.sign_in")

PURPOSE = "second factors"
# Mail that anybody can cause by naming an address.
UNSOLICITED = frozenset(
    f"account/email/{name}"
    for name in (
        *("email_confirmation", "email_confirmation_signup", "password_reset_key", "unknown_account"),
        "account_already_exists",
    )
)
MAIL_SENT_MESSAGE = "account/messages/email_confirmation_sent.txt"


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth has no types
    """Sends mail through the outbox, and redirects new users to the welcome page."""

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Enqueue a mail. One too many for this address is dropped, and the page does not say so."""
        if template_prefix in UNSOLICITED and not mail_outbox.is_within_limit(
            "account", email.lower(), limit=mail_outbox.MAX_ACCOUNT_MAILS
        ):
            logger.warning("A mail was dropped: its address got %d today", mail_outbox.MAX_ACCOUNT_MAILS)
            return
        with transaction.atomic():
            mail_outbox.enqueue(template_prefix, {"email": email} | context, address=email, now=timezone.now())

    def add_message(self, *args: Any, **options: Any) -> None:
        """Add a message; one about a sent mail links the mailbox, if there is one (templates/layout/messages.html)."""
        if MAIL_SENT_MESSAGE in (*args, *options.values()):
            options["extra_tags"] = "mail-sent"
        super().add_message(*args, **options)

    def get_client_ip(self, request: HttpRequest) -> str:
        """Return the address by TRUSTED_PROXIES; requests without one share a single address."""
        return client_ip(request) or "0.0.0.0"  # noqa: S104  # not a bind address

    def get_signup_redirect_url(self, request: HttpRequest) -> str:
        # A new user starts in the oldest sandbox.
        venues = Venue.objects.for_member(request.user) if isinstance(request.user, User) else Venue.objects.none()
        venue = venues.order_by("-is_sandbox", "created_at", "id").first()
        return resolve_url("welcome", venue=venue.public_id) if venue else resolve_url("dashboard")


class MFAAdapter(DefaultMFAAdapter):  # type: ignore[misc]  # allauth has no types
    """Encrypts the secrets of second factors at rest."""

    def encrypt(self, text: str) -> str:
        return encrypt(text, purpose=PURPOSE)

    def decrypt(self, encrypted_text: str) -> str:
        """Decrypt the secret. Returns "", which no code matches, after a change of SECRET_KEY without a fallback."""
        try:
            return decrypt(encrypted_text, purpose=PURPOSE)
        except CannotDecrypt:
            logger.warning(
                "A second factor cannot be decrypted because SECRET_KEY was changed: its codes are rejected"
            )
            return ""
