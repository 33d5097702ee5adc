"""The keys that sign offers, receipts and statements, and the DID document that publishes them (did:web).

The first key of RECEIPT_KEYS signs. All are published, so that what they have signed stays verifiable. Without
RECEIPT_KEYS the key is derived from SECRET_KEY, and those of SECRET_KEY_FALLBACKS stay published.
"""

import base64
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from urllib.parse import quote, urlsplit

from coincurve import PrivateKey, PublicKey
from django.conf import settings

from framework.encryption import derive_key
from payments.chain import evm

# The order of secp256k1.
ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
PRIVATE_DIGITS = 64


@dataclass(frozen=True, slots=True, eq=False)
class SigningKey:
    """A key of secp256k1; `private` is None for a key that only verifies what it has signed before."""

    public: PublicKey
    private: PrivateKey | None = field(default=None, repr=False)
    # In lower case, as an Ethereum address.
    address: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "address", evm.to_address(self.public))

    @property
    def kid(self) -> str:
        """The DID URL of the key: `did:web:api.example.com#key-0a1b2c3d`, by the first digits of its address."""
        return f"{get_did()}#key-{self.address[2:10]}"

    def sign(self, digest: bytes) -> bytes:
        """Return r, s and the parity, 65 bytes: always the same of a digest (RFC 6979). Raises ValueError."""
        if self.private is None:
            raise ValueError("The first key of RECEIPT_KEYS is public.")
        return self.private.sign_recoverable(digest, hasher=None)

    @property
    def jwk(self) -> dict[str, str]:
        point = self.public.format(compressed=False)
        x, y = (encode_base64url(point[start : start + 32]) for start in (1, 33))
        return {"kty": "EC", "crv": "secp256k1", "alg": "ES256K", "use": "sig", "x": x, "y": y}


def encode_base64url(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def get_keys() -> tuple[SigningKey, ...]:
    """Return the published keys, the one that signs first. Raises ValueError for keys that are none."""
    return _load(tuple(settings.RECEIPT_KEYS), (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS))


def get_signing_key() -> SigningKey:
    return get_keys()[0]


@lru_cache(maxsize=4)
def _load(configured: tuple[str, ...], secret_keys: tuple[str, ...]) -> tuple[SigningKey, ...]:
    if not configured:
        return tuple(map(_derive, secret_keys))
    return tuple(_parse(key) for key in configured)


def _parse(key: str) -> SigningKey:
    data = bytes.fromhex(key)
    if len(key) != PRIVATE_DIGITS:
        return SigningKey(PublicKey(data))
    private = PrivateKey(data)
    return SigningKey(private.public_key, private)


def _derive(secret_key: str) -> SigningKey:
    """Derive the key of an installation that has set none: 48 bytes, so that the remainder has no bias."""
    number = int.from_bytes(derive_key(secret_key, purpose="receipts", length=48)) % (ORDER - 1) + 1
    return _parse(f"{number:064x}")


def get_did() -> str:
    """Return the DID of this installation, whose document is at /.well-known/did.json of its host."""
    return _build_did(settings.PUBLIC_BASE_URL)


@lru_cache(maxsize=4)
def _build_did(base_url: str) -> str:
    return f"did:web:{quote(urlsplit(base_url).netloc, safe='')}"


def build_did_document() -> dict[str, Any]:
    """Return the DID document. Each key is in it twice: as a JWK, and as the address that EIP-712 signatures give."""
    did = get_did()
    methods: list[dict[str, Any]] = []
    for key in get_keys():
        methods += [
            {"id": key.kid, "type": "JsonWebKey2020", "controller": did, "publicKeyJwk": key.jwk},
            {
                "id": f"{key.kid}-address",
                "type": "EcdsaSecp256k1RecoveryMethod2020",
                "controller": did,
                "blockchainAccountId": f"eip155:1:{evm.to_checksum_address(key.address)}",
            },
        ]
    return {
        "@context": [
            "https://www.w3.org/ns/did/v1",
            "https://w3id.org/security/suites/jws-2020/v1",
            "https://w3id.org/security/suites/secp256k1recovery-2020/v2",
        ],
        "id": did,
        "verificationMethod": methods,
        "assertionMethod": [method["id"] for method in methods],
    }
