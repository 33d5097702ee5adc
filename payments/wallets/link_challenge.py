"""Links a wallet to an account by what the wallet has signed: a message that names the account.

The message is kept nowhere. Its nonce carries the moment of its making and is ours for one wallet and one account, so
from what comes back the text is made again as it was; a signature that was given for anything else proves nothing.
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
from payments.identity import challenge_verification, siwx
from payments.models import SpentChallenge
from payments.wallets import links
from payments.wallets.links import Linked

LASTS = timedelta(minutes=10)
NONCE_HASH = KeyedHash("payments.wallets.link_challenge")
NONCE = re.compile(r"[0-9a-f]{64}")
# EIP-4361 lets a statement have these and the space.
STATEMENT = re.compile(r"[^A-Za-z0-9 :/?#\[\]@!$&'()*+,;=._~-]")


class NotSigned(InvalidRequest):
    """What came back does not link this wallet to this account."""


@dataclass(frozen=True, slots=True)
class Letter:
    """The text that a wallet signs to be linked to an account; good once, until `expires_at`."""

    address: str
    nonce: str
    text: str
    expires_at: datetime


def letter(address: str, *, account: Account, now: datetime) -> Letter:
    """A fresh text for the wallet at this address to sign, good for ten minutes. No query."""
    small = address.lower()
    body = f"{secrets.token_hex(12)}{int(now.timestamp()):08x}"
    return _written(small, body + NONCE_HASH.hexdigest(f"{body} {small} {account.pk}")[:32], account)


def link(address: str, nonce: str, signature: str, *, account: Account, now: datetime) -> Linked:
    """Link the wallet that has signed the letter of this nonce, and read its holding.

    What the wallet's key has not signed costs a trip to the chain, and so does the reading. Both are outside of the
    transaction that spends the letter and links the wallet. Raises NotSigned, WrongSignature, RpcUnavailable, and
    ChallengeSpent, WalletTaken and TooManyWallets, by which the letter is not spent.
    """
    small = address.lower()
    if not NONCE.fullmatch(nonce) or not NONCE_HASH.matches(
        f"{nonce[:32]} {small} {account.pk}", nonce[32:], length=32
    ):
        raise NotSigned("This message was made for another wallet or another account. Ask for a new one.")
    sent = _written(small, nonce, account)
    if not sent.expires_at - LASTS <= now + siwx.CLOCK_SKEW or now >= sent.expires_at:
        raise NotSigned("This message is older than ten minutes. Ask for a new one.")
    siwx.check_signature(signature, param="signature")
    challenge_verification.check(siwx.SignIn(text=sent.text, address=small, nonce=nonce, signature=signature))
    with transaction.atomic():
        if not SpentChallenge.objects.spend(nonce, expires_at=sent.expires_at + siwx.CLOCK_SKEW):
            raise challenge_verification.ChallengeSpent(
                "This message was used before. Each is good once: ask for a new one."
            )
        is_new = links.attach(small, account=account.pk, takes_over=False)
    return Linked(wallet=links.as_read(small, now=now), is_new=is_new)


def _written(address: str, nonce: str, account: Account) -> Letter:
    made_at = siwx.second_of(nonce)
    domain = urlsplit(public_url("")).netloc
    text = siwx.text_of(
        {
            "domain": domain,
            "address": evm.to_checksum_address(address),
            "statement": f"Link this wallet to {_name(account)} at {domain}. This moves nothing and costs nothing.",
            "uri": public_url("/dashboard"),
            "version": "1",
            "chainId": str(payment_network().chain_id),
            "nonce": nonce,
            "issuedAt": siwx.written(made_at),
            "expirationTime": siwx.written(made_at + LASTS),
            "requestId": str(account.pk),
        }
    )
    return Letter(address=address, nonce=nonce, text=text, expires_at=made_at + LASTS)


def _name(account: Account) -> str:
    """The account in the letters that a statement may have: without accents, and what has no such letter is left out.

    Names may be equal, so its id is in the text too (Request ID).
    """
    plain = STATEMENT.sub("", unicodedata.normalize("NFKD", account.name))
    return " ".join(plain.split()) or "the account below"
