"""Judges whether a wallet has signed our challenge, and sees to it that a challenge proves a wallet once."""

from accounts.api_keys.authentication import Unauthorized
from payments.chain import evm, reads
from payments.identity.siwx import SignIn
from payments.models import SpentChallenge


class WrongSignature(Unauthorized):
    """The signature is not of this wallet on this message."""


class ChallengeSpent(Unauthorized):
    """This challenge has proven a wallet before."""


def prove(sign_in: SignIn) -> str:
    """The address that has signed, in small letters; the challenge is spent, also where the signature is wrong.

    One statement, and for what no key has signed a trip to the chain. Challenges are counted where they are handed
    out, so nobody has the chain asked more often than that. Raises ChallengeSpent, WrongSignature and RpcUnavailable.
    """
    spend(sign_in)
    check(sign_in)
    return sign_in.address


def spend(sign_in: SignIn) -> None:
    """Take the challenge out of the world. One statement; of several at once one succeeds. Raises ChallengeSpent."""
    if not SpentChallenge.objects.spend(sign_in.nonce, expires_at=sign_in.expires_at):
        raise ChallengeSpent("This challenge was used before. Each is good once: ask for another.")


def check(sign_in: SignIn) -> None:
    """Raise WrongSignature unless the wallet has signed the message.

    What its key has not signed may be good to a contract wallet, which is asked then. Raises RpcUnavailable.
    """
    digest, signature = evm.hash_message(sign_in.text), bytes.fromhex(sign_in.signature[2:])
    if evm.recover_address(digest, signature) == sign_in.address:
        return
    if not reads.is_contract_signature(sign_in.address, digest, signature):
        raise WrongSignature("The signature is not of this wallet on this message.")
