"""Links a wallet to an account by a message that names the account and that the wallet signs.

The message is not stored. Its nonce contains its time and a keyed hash over wallet and account, so that the text can
be formatted again for verification; a signature of any other text does not match.
"""

import re
import secrets
import unicodedata
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from django.db import transaction

from accounts.models import Account
from framework.api.urls import public_url
from framework.errors import InvalidRequest
from framework.signed_tokens import KeyedHash
from payments.chain import evm
from payments.chain.networks import payment_network
from payments.identity import siwx
from payments.identity.siwx import ChallengeAlreadyUsed, verify_signature
from payments.models import SpentChallenge
from payments.wallets import links

LIFETIME = timedelta(minutes=10)
NONCE_HASH = KeyedHash("payments.wallets.link_challenge")
NONCE = re.compile(r"[0-9a-f]{64}")
# Characters that EIP-4361 does not allow in a statement.
NOT_IN_STATEMENT = re.compile(r"[^A-Za-z0-9 :/?#\[\]@!$&'()*+,;=._~-]")


class InvalidLinkMessage(InvalidRequest):
    """The message was not made for this wallet and this account, or it has expired."""


@dataclass(frozen=True, slots=True)
class LinkMessage:
    """The text that a wallet signs to be linked to an account; valid once, until `expires_at`."""

    address: str
    nonce: str
    text: str
    expires_at: datetime


def create_message(address: str, *, account: Account, now: datetime) -> LinkMessage:
    """Create a message for a wallet to sign, valid for LIFETIME. No query."""
    lower = address.lower()
    body = f"{secrets.token_hex(12)}{int(now.timestamp()):08x}"
    return _format_message(lower, body + NONCE_HASH.hexdigest(f"{body} {lower} {account.pk}")[:32], account)


def link_wallet(address: str, nonce: str, signature: str, *, account: Account, now: datetime) -> bool:
    """Link the wallet that has signed the message with this nonce, and read its holdings; False if it was linked.

    Trips to the chain, for the signature of a contract wallet and for the holdings, are outside of the transaction.
    Raises InvalidLinkMessage, InvalidSignature and RpcUnavailable; ChallengeAlreadyUsed, WalletLinkedElsewhere and
    TooManyWallets, which do not spend the message.
    """
    message = read_message(address, nonce, account=account, now=now)
    lower = message.address
    siwx.check_signature(signature, param="signature")
    verify_signature(siwx.SignIn(text=message.text, address=lower, nonce=nonce, signature=signature))
    with transaction.atomic():
        if not SpentChallenge.objects.spend(nonce, expires_at=message.expires_at + siwx.CLOCK_SKEW):
            raise ChallengeAlreadyUsed("This message was used before. Each is good once: ask for a new one.")
        is_new = links.attach_wallet(lower, account=account.pk, can_move=False)
    links.refresh_if_available(lower, now=now)
    return is_new


def read_message(address: str, nonce: str, *, account: Account, now: datetime) -> LinkMessage:
    """Return the message with this nonce, of `create_message`, while it is valid; it may have been used. No query.

    Raises InvalidLinkMessage.
    """
    lower = address.lower()
    signed_part = f"{nonce[:32]} {lower} {account.pk}"
    if not NONCE.fullmatch(nonce) or not NONCE_HASH.matches(signed_part, nonce[32:], length=32):
        raise InvalidLinkMessage("This message was made for another wallet or another account. Ask for a new one.")
    message = _format_message(lower, nonce, account)
    if not message.expires_at - LIFETIME <= now + siwx.CLOCK_SKEW or now >= message.expires_at:
        raise InvalidLinkMessage("This message is older than ten minutes. Ask for a new one.")
    return message


def _format_message(address: str, nonce: str, account: Account) -> LinkMessage:
    # Only ASCII is allowed in the statement. Names need not be unique: the Request ID has the account's id.
    plain = NOT_IN_STATEMENT.sub("", unicodedata.normalize("NFKD", account.name))
    name = " ".join(plain.split()) or "the account below"
    created_at = siwx.nonce_time(nonce)
    domain = urlsplit(public_url("")).netloc
    text = siwx.format_message(
        {
            "domain": domain,
            "address": evm.to_checksum_address(address),
            "statement": f"Link this wallet to {name} at {domain}. This moves nothing and costs nothing.",
            "uri": public_url("/dashboard"),
            "version": "1",
            "chainId": str(payment_network().chain_id),
            "nonce": nonce,
            "issuedAt": siwx.format_time(created_at),
            "expirationTime": siwx.format_time(created_at + LIFETIME),
            "requestId": str(account.pk),
        }
    )
    return LinkMessage(address=address, nonce=nonce, text=text, expires_at=created_at + LIFETIME)
