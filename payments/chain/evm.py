"""The formats of Ethereum that are needed here: hashes, addresses, signatures, and the calls of a contract."""

from functools import cache

from coincurve import PublicKey
from Crypto.Hash import keccak as hashes

from payments.chain.networks import Network

WORD = 32
NOBODY = "0x" + 40 * "0"
ADDRESS = "^0x[0-9a-fA-F]{40}$"
# The order of secp256k1: of the two valid s of a signature USDC takes the lower one only (EIP-2).
HIGHEST_S = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141 // 2


def keccak(content: bytes) -> bytes:
    """Keccak-256 as Ethereum has it, which is not SHA3-256."""
    return hashes.new(data=content, digest_bits=256).digest()


def checksummed(address: str) -> str:
    """The address with the capitals of EIP-55, as wallets show it."""
    letters = address.removeprefix("0x").lower()
    marks = keccak(letters.encode()).hex()
    capitals = (letter.upper() if int(mark, 16) >= 8 else letter for letter, mark in zip(letters, marks, strict=False))
    return "0x" + "".join(capitals)


# Signatures
def recover(digest: bytes, signature: bytes) -> str | None:
    """The address, in small letters, whose key signed this digest; None for what is no signature.

    65 bytes, r, s and v (27 or 28, also written 0 or 1). A high s is none: it would be a second signature of one deed.
    """
    if len(signature) != 65 or int.from_bytes(signature[32:64]) > HIGHEST_S:
        return None
    sign = signature[64] - 27 if signature[64] >= 27 else signature[64]
    if sign not in (0, 1):
        return None
    try:
        key = PublicKey.from_signature_and_message(signature[:64] + bytes([sign]), digest, hasher=None)
    except ValueError:
        return None
    return "0x" + keccak(key.format(compressed=False)[1:])[-20:].hex()


def message_digest(text: str) -> bytes:
    """What a wallet signs of a text (EIP-191, personal_sign)."""
    content = text.encode()
    return keccak(b"\x19Ethereum Signed Message:\n%d%b" % (len(content), content))


def transfer_digest(
    network: Network, *, sender: str, to: str, value: int, valid_after: int, valid_before: int, nonce: bytes
) -> bytes:
    """What a wallet signs of a transfer by authorization in the network's USDC (EIP-3009 over EIP-712).

    `value` in the smallest unit, times in Unix seconds, `nonce` of 32 bytes.
    """
    deed = keccak(
        TRANSFER + packed(sender) + packed(to) + packed(value) + packed(valid_after) + packed(valid_before) + nonce
    )
    return keccak(b"\x19\x01" + domain(network) + deed)


@cache
def domain(network: Network) -> bytes:
    """The EIP-712 domain separator of the network's USDC."""
    return keccak(
        DOMAIN
        + keccak(network.domain_name.encode())
        + keccak(network.domain_version.encode())
        + packed(network.chain_id)
        + packed(network.asset)
    )


DOMAIN = keccak(b"EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)")
TRANSFER = keccak(
    b"TransferWithAuthorization"
    b"(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
)


# Calls and logs
def packed(value: int | str | bytes) -> bytes:
    """One ABI word: a whole number, an address, or 32 bytes as they are."""
    if isinstance(value, bytes):
        return value
    return (int(value, 16) if isinstance(value, str) else value).to_bytes(WORD)


def topic(value: str | bytes) -> str:
    """A log's topic: an address, 32 bytes, or the signature of an event (`Transfer(address,address,uint256)`)."""
    is_event = isinstance(value, str) and not value.startswith("0x")
    return "0x" + (keccak(value.encode()) if is_event else packed(value)).hex()  # type: ignore[union-attr]


def call_data(function: str, *arguments: int | str | bytes) -> str:
    """The data of a call of `balanceOf(address)` with arguments of one word each."""
    return "0x" + (keccak(function.encode())[:4] + b"".join(map(packed, arguments))).hex()


# What a contract answers whose signature is good (ERC-1271).
GOOD_SIGNATURE = keccak(b"isValidSignature(bytes32,bytes)")[:4] + bytes(28)


def signature_question(digest: bytes, signature: bytes) -> str:
    """The data of the call that asks a contract whether a signature is its own (ERC-1271)."""
    # The second argument has no fixed length: its place stands first, then its length, then its bytes in whole words.
    padded = signature + bytes(-len(signature) % WORD)
    content = digest + packed(2 * WORD) + packed(len(signature)) + padded
    return "0x" + (GOOD_SIGNATURE[:4] + content).hex()


def words(answer: str) -> list[int]:
    """The words of a contract's answer, or of the data of a log, as whole numbers from zero."""
    content = bytes.fromhex(answer.removeprefix("0x"))
    return [int.from_bytes(content[start : start + WORD]) for start in range(0, len(content), WORD)]


def signed(word: int) -> int:
    """A word that was written as an int256."""
    return word - 2**256 if word >> 255 else word


def address(word: int | str) -> str:
    """The address, in small letters, that a word or a topic holds."""
    number = int(word, 16) if isinstance(word, str) else word
    return f"0x{number & (1 << 160) - 1:040x}"
