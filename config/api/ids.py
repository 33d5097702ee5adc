"""Public ids: a prefix that names the kind, and a UUIDv7 in lower-case Crockford base32 (the shape of TypeID)."""

from uuid import UUID

from uuid_utils.compat import uuid7

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
VALUES = {letter: value for value, letter in enumerate(ALPHABET)}
LENGTH = 26
# Ten bits at once: an answer names up to fifty things, and letter by letter each took 2.8 us instead of 1.2.
PAIRS = tuple(first + second for first in ALPHABET for second in ALPHABET)
SHIFTS = tuple(range(120, -1, -10))


def new_id() -> UUID:
    """A fresh UUIDv7: unique, and ordered by the millisecond of its making (RFC 9562, section 5.7)."""
    return uuid7()


def encode(prefix: str, value: UUID) -> str:
    """`ord` and a UUID make `ord_01jd5k3v8rf8hb2m0c9t6w4y7z`: 128 bits in 26 letters, five bits each."""
    number = value.int
    return f"{prefix}_" + "".join([PAIRS[number >> shift & 1023] for shift in SHIFTS])


def decode(prefix: str, text: str) -> UUID | None:
    """The UUID that `encode` made this text from, or None where it made no such text."""
    kind, _, letters = text.partition("_")
    # Above 7 in the first place the number would not fit into 128 bits.
    if kind != prefix or len(letters) != LENGTH or letters[0] > "7":
        return None
    number = 0
    for letter in letters:
        value = VALUES.get(letter)
        if value is None:
            return None
        number = number << 5 | value
    return UUID(int=number)


def pattern(prefix: str) -> str:
    """The regular expression of the ids of one kind."""
    return f"^{prefix}_[0-7][{ALPHABET}]{{25}}$"
