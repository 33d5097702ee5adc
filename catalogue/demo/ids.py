"""Deterministic ids of generated rows: UUIDv7 whose timestamps count rows instead of milliseconds."""

import random
from collections.abc import Iterator

# 2026-01-01T00:00:00Z: fixed, so that a seed gives the same ids on any day.
START_MS = 1_767_225_600_000


def generate_ids(rng: random.Random, first: int, count: int) -> Iterator[str]:
    """Yield ascending ids for the rows `first` to `first + count - 1`, as the 32 hexadecimal digits that COPY reads.

    RFC 9562, section 5.7: 48 bits of time, then the version, the variant and 74 random bits.
    """
    bits = rng.getrandbits
    for milliseconds in range(START_MS + first, START_MS + first + count):
        yield f"{milliseconds << 16 | 0x7000 | bits(12):016x}{1 << 63 | bits(62):016x}"
