"""Ethereum formats: hashes, addresses, signatures, and the encoding of contract calls."""

from functools import cache

from coincurve import PublicKey
from Crypto.Hash import keccak as hashes

from payments.chain.networks import Network

WORD = 32
ZERO_ADDRESS = "0x" + 40 * "0"
ADDRESS = "^0x[0-9a-fA-F]{40}$"
# Half the order of secp256k1: of the two valid s of a signature USDC accepts the lower one only (EIP-2).
MAX_S = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141 // 2


def keccak(content: bytes) -> bytes:
    """Return Ethereum's Keccak-256, which is not SHA3-256."""
    return hashes.new(data=content, digest_bits=256).digest()


def to_checksum_address(address: str) -> str:
    """Return the address with the capitals of EIP-55, as wallets show it."""
    letters = address.removeprefix("0x").lower()
    digits = keccak(letters.encode()).hex()
    return "0x" + "".join(
        letter.upper() if int(digit, 16) >= 8 else letter for letter, digit in zip(letters, digits, strict=False)
    )


def recover_address(digest: bytes, signature: bytes) -> str | None:
    """Return the lower-case address whose key signed this digest; None for an invalid signature.

    A signature is 65 bytes: r, s and v (27 or 28, also written 0 or 1). A high s is invalid: anybody can derive it
    from the low one, which would give a second signature of the same message.
    """
    if len(signature) != 65 or int.from_bytes(signature[32:64]) > MAX_S:
        return None
    parity = signature[64] - 27 if signature[64] >= 27 else signature[64]
    if parity not in (0, 1):
        return None
    try:
        key = PublicKey.from_signature_and_message(signature[:64] + bytes([parity]), digest, hasher=None)
    except ValueError:
        return None
    return to_address(key)


def to_address(key: PublicKey) -> str:
    """Return the lower-case address of a public key."""
    return "0x" + keccak(key.format(compressed=False)[1:])[-20:].hex()


def hash_message(text: str) -> bytes:
    """Return what a wallet signs for a text (EIP-191, personal_sign)."""
    content = text.encode()
    return keccak(b"\x19Ethereum Signed Message:\n%d%b" % (len(content), content))


def hash_transfer_authorization(
    network: Network, *, sender: str, to: str, value: int, valid_after: int, valid_before: int, nonce: bytes
) -> bytes:
    """Return what a wallet signs for a transfer by authorization in the network's USDC (EIP-3009 over EIP-712).

    `value` in the smallest unit, times in Unix seconds, `nonce` of 32 bytes.
    """
    fields: tuple[int | str | bytes, ...] = (sender, to, value, valid_after, valid_before, nonce)
    struct_hash = keccak(TRANSFER_TYPE + b"".join(map(encode_word, fields)))
    return keccak(b"\x19\x01" + domain_separator(network) + struct_hash)


@cache
def domain_separator(network: Network) -> bytes:
    """Return the EIP-712 domain separator of the network's USDC."""
    name, version = keccak(network.domain_name.encode()), keccak(network.domain_version.encode())
    fields: tuple[int | str | bytes, ...] = (name, version, network.chain_id, network.asset)
    return keccak(DOMAIN_TYPE + b"".join(map(encode_word, fields)))


DOMAIN_TYPE = keccak(b"EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)")
TRANSFER_TYPE = keccak(
    b"TransferWithAuthorization"
    b"(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
)


def encode_word(value: int | str | bytes) -> bytes:
    """Return one ABI word of a whole number, an address, or 32 bytes, which stay as they are."""
    if isinstance(value, bytes):
        return value
    return (int(value, 16) if isinstance(value, str) else value).to_bytes(WORD)


def encode_topic(value: str | bytes) -> str:
    """Return the log topic of an address, 32 bytes, or an event signature (`Transfer(address,address,uint256)`)."""
    is_event = isinstance(value, str) and not value.startswith("0x")
    return "0x" + (keccak(value.encode()) if is_event else encode_word(value)).hex()  # type: ignore[union-attr]


def encode_call(function: str, *arguments: int | str | bytes) -> str:
    """Return the data of a call such as `balanceOf(address)`, with arguments of one word each."""
    return "0x" + (keccak(function.encode())[:4] + b"".join(map(encode_word, arguments))).hex()


# What a contract returns for a valid signature (ERC-1271): the function's selector, padded to a word.
ERC1271_VALID = keccak(b"isValidSignature(bytes32,bytes)")[:4] + bytes(28)


def encode_erc1271_call(digest: bytes, signature: bytes) -> str:
    """Return the data of the call that asks a contract whether a signature is valid (ERC-1271)."""
    # The second argument has a variable length: its offset, then its length, then its bytes padded to whole words.
    padded = signature + bytes(-len(signature) % WORD)
    content = digest + encode_word(2 * WORD) + encode_word(len(signature)) + padded
    return "0x" + (ERC1271_VALID[:4] + content).hex()


def decode_words(data: str) -> list[int]:
    """Return the words of a contract's result or a log's data, as unsigned numbers."""
    content = bytes.fromhex(data.removeprefix("0x"))
    return [int.from_bytes(content[start : start + WORD]) for start in range(0, len(content), WORD)]


def to_int256(word: int) -> int:
    """Return the int256 that this word encodes."""
    return word - 2**256 if word >> 255 else word


def decode_address(word: int | str) -> str:
    """Return the lower-case address in a word or a topic."""
    number = int(word, 16) if isinstance(word, str) else word
    return f"0x{number & (1 << 160) - 1:040x}"
