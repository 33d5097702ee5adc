"""Verifies the signature of a sign-in challenge, and that each challenge is used once."""

from accounts.api_keys.authentication import Unauthorized
from payments.chain import evm, reads
from payments.identity.siwx import SignIn
from payments.models import SpentChallenge


class InvalidSignature(Unauthorized):
    """The wallet has not signed this message."""


class ChallengeAlreadyUsed(Unauthorized):
    """The challenge was used before."""


def verify_and_spend(sign_in: SignIn) -> str:
    """Return the address that has signed, in lower case. The challenge is spent even if the signature is wrong.

    One statement, and a trip to the chain for the signature of a contract wallet. Issuing challenges is rate limited,
    which also limits these trips. Raises ChallengeAlreadyUsed, InvalidSignature and RpcUnavailable.
    """
    spend_challenge(sign_in)
    verify_signature(sign_in)
    return sign_in.address


def spend_challenge(sign_in: SignIn) -> None:
    """Mark the challenge as used. One statement; one of several concurrent calls succeeds.

    Raises ChallengeAlreadyUsed.
    """
    if not SpentChallenge.objects.spend(sign_in.nonce, expires_at=sign_in.expires_at):
        raise ChallengeAlreadyUsed("This challenge was used before. Each is good once: ask for another.")


def verify_signature(sign_in: SignIn) -> None:
    """Verify the signature of the key, or else of the contract. Raises InvalidSignature and RpcUnavailable."""
    digest, signature = evm.hash_message(sign_in.text), bytes.fromhex(sign_in.signature[2:])
    if evm.recover_address(digest, signature) == sign_in.address:
        return
    if not reads.is_contract_signature(sign_in.address, digest, signature):
        raise InvalidSignature("The signature is not of this wallet on this message.")
