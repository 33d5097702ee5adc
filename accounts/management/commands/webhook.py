"""Webhooks from the command line: what an operator does when SECRET_KEY changes."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.webhooks import endpoints


class Command(BaseCommand):
    """`manage.py webhook reseal`."""

    help = "Encrypt the secrets of webhook endpoints under SECRET_KEY as it is now (reseal)."

    def add_arguments(self, parser: CommandParser) -> None:
        text = "run it after SECRET_KEY changed, before its former value leaves the fallbacks"
        parser.add_argument("verb", choices=["reseal"], help=text)

    def handle(self, *args: Any, **options: Any) -> None:
        unreadable = endpoints.reencrypt_secrets()
        if unreadable:
            raise CommandError(
                f"{unreadable} could not be opened by SECRET_KEY or SECRET_KEY_FALLBACKS: rotate their secrets."
            )
        self.stdout.write("All secrets are encrypted under SECRET_KEY. SECRET_KEY_FALLBACKS is not needed for them.")
