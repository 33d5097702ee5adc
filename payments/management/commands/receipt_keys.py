"""Prints a new value of RECEIPT_KEYS: a new key that signs, and the current ones, which only verify from then on."""

import secrets
from typing import Any

from django.core.management.base import BaseCommand

from payments.x402.signing_keys import get_keys


class Command(BaseCommand):
    """Make a key that signs receipts, and keep the current public keys published."""

    help = __doc__

    def handle(self, *args: Any, **options: Any) -> None:
        # The current private keys are not needed any more. A number of 32 random bytes is a key, but for one in 2^127.
        former = [key.public.format(compressed=True).hex() for key in get_keys()]
        self.stdout.write(f"RECEIPT_KEYS={','.join([secrets.token_hex(32), *former])}")
