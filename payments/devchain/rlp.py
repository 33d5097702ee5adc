"""RLP, the form in which Ethereum writes transactions down (Yellow Paper, appendix B)."""

from collections.abc import Sequence
from typing import TypeAlias

Item: TypeAlias = "bytes | list[Item]"
Written: TypeAlias = "bytes | int | Sequence[Written]"


class MalformedError(ValueError):
    """These bytes are not the RLP of one item."""


def encode(item: Written) -> bytes:
    """The RLP of bytes, of a whole number (its bytes without leading zeros), or of a list of these."""
    if isinstance(item, int):
        return encode(item.to_bytes((item.bit_length() + 7) // 8))
    if isinstance(item, bytes):
        return item if len(item) == 1 and item[0] < 0x80 else _head(len(item), 0x80) + item
    content = b"".join(encode(part) for part in item)
    return _head(len(content), 0xC0) + content


def decode(content: bytes) -> Item:
    """The one item that these bytes are. Raises MalformedError, also for what another encoder would write shorter."""
    try:
        item, end = _item(content, 0)
    except (IndexError, RecursionError):
        raise MalformedError("the RLP ends too early or is nested too deeply") from None
    if end != len(content) or encode(item) != content:
        raise MalformedError("the RLP is not in its one right form")
    return item


def _head(length: int, offset: int) -> bytes:
    if length < 56:
        return bytes([offset + length])
    size = length.to_bytes((length.bit_length() + 7) // 8)
    return bytes([offset + 55 + len(size)]) + size


def _item(content: bytes, start: int) -> tuple[Item, int]:
    first = content[start]
    if first < 0x80:
        return content[start : start + 1], start + 1
    is_list = first >= 0xC0
    short = first - (0xC0 if is_list else 0x80)
    body = start + 1
    if short > 55:
        body += short - 55
        short = int.from_bytes(content[start + 1 : body])
    end = body + short
    if end > len(content):
        raise IndexError
    if not is_list:
        return content[body:end], end
    items: list[Item] = []
    while body < end:
        item, body = _item(content, body)
        items.append(item)
    return items, body
