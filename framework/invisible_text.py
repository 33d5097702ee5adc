"""Invisible characters in texts of others: they hide instructions from people, and show software another text.

One function removes them wherever a text enters: imports, both APIs, MCP arguments, forms and the admin.
"""

import re
from collections.abc import Mapping
from typing import Any

# Soft hyphen, combining grapheme joiner, Arabic letter mark, fillers of Hangul and Khmer, Mongolian separators, zero
# width space, marks and overrides of direction, word joiner and invisible operators, byte order mark, interlinear
# annotations, and tag characters.
_ALWAYS = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff"
    "\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
)
# Joiners shape words of Arabic, Persian, and Indic scripts, and join emoji: never beside Latin letters, and single.
_JOINERS = "\u200c\u200d"
# Variation selectors choose the form of an emoji or an ideograph.
_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
# A letter from Arabic on, a symbol, an ideograph or an emoji, or a selector after one.
_JOINABLE = "\u0600-\u1dff\u2190-\u2bff\ufb50-\ufdff\ufe0f\ufe70-\ufefc\U0001f000-\U0001faff"
_SELECTABLE = "#*0-9\u00a9\u00ae\u203c-\u3299\u3400-\u9fff\uf900-\ufaff\U0001f000-\U0001faff\U00020000-\U0003ffff"

_INVISIBLE = re.compile(
    f"[{_ALWAYS}]+"
    f"|(?<![{_JOINABLE}])[{_JOINERS}]+|[{_JOINERS}]+(?![{_JOINERS}{_JOINABLE}])|(?<=[{_JOINERS}])[{_JOINERS}]+"
    f"|(?<![{_SELECTABLE}])[{_SELECTORS}]+"
)


def remove_invisible(text: str) -> str:
    """Return a text without invisible characters that no script needs there; ASCII as it is."""
    if text.isascii():
        return text
    while (cleaned := _INVISIBLE.sub("", text)) != text:
        text = cleaned
    return text


def remove_invisible_in(content: Any) -> Any:
    """Return JSON content with cleaned texts and keys, at any depth; the same object if there is nothing to remove.

    Raises RecursionError for content that is nested too deep.
    """
    if isinstance(content, str):
        return remove_invisible(content)
    if isinstance(content, Mapping):
        cleaned = {remove_invisible_in(key): remove_invisible_in(value) for key, value in content.items()}
        return cleaned if cleaned != content else content
    if isinstance(content, list):
        values = [remove_invisible_in(value) for value in content]
        return values if values != content else content
    return content
