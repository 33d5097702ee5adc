"""Ids of generated rows: UUIDv7 in form, with a clock that counts rows instead of milliseconds."""

import random
from collections.abc import Iterator

# 2026-01-01T00:00:00Z: fixed, so that the same seed gives the same ids on any day.
START_MS = 1_767_225_600_000


def ids(rng: random.Random, number: int, count: int) -> Iterator[str]:
    """Ids for the rows `number` to `number + count - 1`, ascending, as the 32 hexadecimal digits that COPY reads.

    RFC 9562, section 5.7: 48 bits of time, then the version, the variant and 74 random bits.
    """
    bits = rng.getrandbits
    for milliseconds in range(START_MS + number, START_MS + number + count):
        yield f"{milliseconds << 16 | 0x7000 | bits(12):016x}{1 << 63 | bits(62):016x}"
