"""Detection of suspicious reviews: links, markup, phone numbers, instructions to models. They are never analyzed."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path

from anyascii import anyascii

from framework.data_files import read_toml

# Unicode categories of invisible characters: control, format, surrogate, private use, unassigned.
INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
# A longer run that mixes lower case, upper case and digits is encoded data.
MAX_WORD_LENGTH = 32

RULES = read_toml(Path(__file__).with_name("suspicious_text.toml"))
# Top-level domains. Those that are also words need another sign of a link, because guests omit the space after a full
# stop.
DOMAINS = "com|net|org|io|info|biz|xyz|app|dev|eu|uk|fr|dk|nl|pl|ru|cn|jp|kr|ch|ly|gl|gd|gg|tv|cc|cz|hu|gr|br|pt"
WORD_DOMAINS = (
    "de|es|it|at|be|us|me|no|se|in|is|to|so|co|ai|my|restaurant|menu|pizza|bar|cafe|food|shop|store|club|online|site"
)
Rule = tuple[tuple[str, ...], re.Pattern[str]]


def _compile(hints: str, patterns: Sequence[str]) -> Rule:
    dotted = "|".join(f".{domain}" for domain in f"{DOMAINS}|{WORD_DOMAINS}".split("|"))
    pattern = "|".join(patterns).replace("{DOMAINS}", DOMAINS).replace("{WORD_DOMAINS}", WORD_DOMAINS)
    return tuple(hints.replace("{DOTTED}", dotted).split("|")), re.compile(pattern, re.IGNORECASE)


SPAM_RULES, INSTRUCTION_RULES = (tuple(_compile(**rule) for rule in RULES[kind]) for kind in ("spam", "instruction"))
# Text that a reader does not see: tag characters that are no flag of a region.
HIDDEN = re.compile("(?<![\U0001f3f4\U000e0020-\U000e007f])[\U000e0020-\U000e007f]")
# Letters one by one ("i g n o r e"), and encoded data (base64).
SPACED_LETTERS = re.compile(r"(?:\b\w[ ._*-]){6}")
ENCODED = re.compile(rf"[A-Za-z0-9+/_-]{{{MAX_WORD_LENGTH},}}")
CHARACTER_CLASSES = (re.compile(r"[A-Z]"), re.compile(r"[a-z]"), re.compile(r"\d"))


def normalize_text(text: str) -> str:
    """The text in NFKC without invisible characters, with single spaces. 2 µs for three sentences."""
    text = " ".join(unicodedata.normalize("NFKC", text).split())
    if text.isprintable():
        return text
    return " ".join("".join(char for char in text if unicodedata.category(char) not in INVISIBLE).split())


def visible_text(text: str) -> str:
    """The text in NFKC without invisible characters, line by line."""
    if text.isascii() and text.isprintable():
        return text
    return "\n".join(map(normalize_text, text.splitlines()))


def is_suspicious(text: str) -> bool:
    """Whether a text is spam or a prompt injection. 65 µs for 336 characters on two busy cores, 95 if not ASCII."""
    if HIDDEN.search(text):
        return True
    text = normalize_text(text)
    if _matches(text, SPAM_RULES) or has_instructions(text):
        return True
    return any(all(character.search(run) for character in CHARACTER_CLASSES) for run in ENCODED.findall(text))


def has_instructions(text: str) -> bool:
    """Whether a normalized text gives instructions to a model, also with spaced or look-alike letters."""
    if SPACED_LETTERS.search(text) or _matches(text, INSTRUCTION_RULES):
        return True
    return not text.isascii() and _matches(anyascii(text), INSTRUCTION_RULES)


def _matches(text: str, rules: Iterable[Rule]) -> bool:
    lowered = text.lower()
    return any(any(hint in lowered for hint in hints) and pattern.search(text) for hints, pattern in rules)
