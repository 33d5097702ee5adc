"""How people sign up and in, where django-allauth asks us."""

import logging
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.mfa.adapter import DefaultMFAAdapter
from django.conf import settings
from django.db import transaction
from django.http import HttpRequest
from django.shortcuts import resolve_url
from django.template.loader import render_to_string
from django.utils import timezone

from accounts import mail_outbox
from accounts.lifecycle import onboarding
from accounts.models import User
from framework.api.rate_limits.client_ip import client_ip
from framework.encryption import CannotDecrypt, decrypt, encrypt

logger = logging.getLogger("tablewire.entrance")

PURPOSE = "second factors"


class Entrance(DefaultAccountAdapter):  # type: ignore[misc]  # allauth has no types
    """Our answers to its questions."""

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Write the mail down; a worker sends it."""
        known = {"email": email, "site": settings.PUBLIC_BASE_URL} | context
        with transaction.atomic():
            mail_outbox.write(
                address=email,
                subject=render_to_string(f"{template_prefix}_subject.txt", known),
                text=render_to_string(f"{template_prefix}_message.txt", known).strip() + "\n",
                now=timezone.now(),
            )

    def get_client_ip(self, request: HttpRequest) -> str:
        """The address that TRUSTED_PROXIES lets us believe; where a proxy wrote none, all share one."""
        return client_ip(request) or "0.0.0.0"  # noqa: S104  # an address as any other: nothing listens there

    def get_signup_redirect_url(self, request: HttpRequest) -> str:
        """Where a newcomer finds the first key."""
        venue = onboarding.first_venue(request.user) if isinstance(request.user, User) else None
        return resolve_url("welcome", venue=venue.public_id) if venue else resolve_url("dashboard")


class SecondFactor(DefaultMFAAdapter):  # type: ignore[misc]  # allauth has no types
    """What a second factor is computed from is encrypted at rest."""

    def encrypt(self, text: str) -> str:
        """The secret as it is stored."""
        return encrypt(text, purpose=PURPOSE)

    def decrypt(self, encrypted_text: str) -> str:
        """The secret again; after a change of SECRET_KEY without a fallback one that no code fits."""
        try:
            return decrypt(encrypted_text, purpose=PURPOSE)
        except CannotDecrypt:
            logger.warning("A second factor cannot be read, as SECRET_KEY was changed: its codes are refused")
            return ""
