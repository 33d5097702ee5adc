"""What no guest writes: links, markup, numbers to call, orders to machines. Neither we nor a model reads it."""

import re
import unicodedata
from collections.abc import Iterable

from anyascii import anyascii

# Characters that nobody sees: of control and format, and those that are none.
UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
# A word without a gap that is longer holds something else than a word, where it mixes letters and digits too.
LONGEST_WORD = 32

Rule = tuple[tuple[str, ...], re.Pattern[str]]


def _rule(hints: str, *patterns: str) -> Rule:
    """Expressions, and hints: where they match, the text in small letters has one of these, which is found faster."""
    return tuple(hints.split("|")), re.compile("|".join(patterns), re.IGNORECASE)


DIGITS = "0|1|2|3|4|5|6|7|8|9"
ENDINGS = "com|net|org|io|ru|cn|info|biz"
# Links, markup, code, numbers to call.
STRANGE: tuple[Rule, ...] = (
    _rule("http|www.|<|{{|](|@", r"https?:|www\.|<[a-z/!|]|\{\{|\]\(|@\w"),
    _rule("|".join(f".{ending}" for ending in ENDINGS.split("|")), rf"\w\.({ENDINGS})\b"),
    _rule("[|(|{", r"\w ?[\[({] ?(dot|\.) ?[\])}] ?\w|\[/?(inst|sys(tem)?)\]"),
    _rule(" .", r"\w \. ?(com|net|org|io|ru)\b"),
    _rule("dot", r"\bdot (com|net|org|io|ru)\b"),
    _rule(":", r"\bh ?t ?t ?p s? ?:", r"[\"']\w+[\"'] ?: ?[\"'\[{\d]"),
    _rule(
        DIGITS,
        r"\d{7}|\+\d(?:[ ().\-/]{0,2}\d){7}|\(?\b0?\d{3}\)?[ .-]\d{3}[ .-]\d{4}\b|\b0\d{3,4}[ /-]\d{3,4}[ -]?\d{3}\b",
    ),
    _rule("0x", r"\b0x[0-9a-f]{16}"),
    _rule("```|=", r"```|\bon\w+ ?= ?[\"']"),
    _rule("function|tool", r"\b(function|tool)_?(call|use|result)"),
)
# Orders to machines, in the languages in which they come most.
ORDERS: tuple[Rule, ...] = (
    _rule(
        "ignore|disregard|forget|override|bypass",
        r"\b(ignore|disregard|forget|override|bypass)\b.{0,40}"
        r"\b(instruction|prompt|previous|above|rule|guideline)",
    ),
    _rule(
        "system|assistant|developer|human|user",
        r"\b(system|assistant|developer|human|user) ?(:|message|prompt)",
        r"\bdeveloper mode\b",
    ),
    _rule(
        " ai |ai-| model|gpt|llm|bot|summari|jailbreak|injection|do anything",
        r"\b(an? (ai|language model)|language model|chat ?gpt|gpt-?\d|llms?|chat ?bot|summari[sz]er)\b",
        r"\bai (model|assistant|agent|summar\w+)\b|\b(jailbreak|do anything now|prompt injection)\b",
    ),
    _rule("you are now|your |new instr", r"\b(you are now|your (system )?prompt|new instructions?)\b"),
    _rule("in your |in the ", r"\bin (your|the) (summary|insight|output)\b"),
    _rule(
        "write|output|print|repeat|respond|reply|answer",
        r"\b(write|output|print|repeat|respond|reply|answer)\b.{0,20}"
        r"\b(the following|verbatim|word for word|in json|only with|with only|nothing but)\b",
    ),
    _rule(
        "owner|manager|admin|operator|developer",
        r"\b(i am|i'm|as) (the|an?) (owner|manager|admin\w*|operator|developer)\b.{0,60}"
        r"\b(you (to|must|should|will)|say|write)\b",
    ),
    # German; Spanish, French, Italian, Portuguese, Dutch, Danish, Polish, Russian; Turkish.
    _rule(
        "ignorier|vergiss|missacht",
        r"\b(ignorieren? sie|ignoriere?|vergiss|missachten?)\b.{0,40}\b(anweisung|instruktion|regel|vorherig)",
    ),
    _rule(
        "ignor|olvid|oubli|dimentic|esque|desconsider|negeer|vergeet|glem",
        r"\b(ignora|ignorez?|olvida|oubliez?|dimentica|esqueca|desconsidere|negeer|vergeet|ignorer|glem|zignoruj|ignorir\w*)"
        r"\b.{0,40}\b(instru[ckz]|istruzion|indicac|consigne|anterior|precedent|regel|tidligere|eerdere|vorige|poprzedni|predydushch)",
    ),
    _rule("talimat|komut", r"\b(onceki|yukaridaki|tum) .{0,20}(talimat|komut)"),
    _rule(
        "忽略|無視|无视|무시|تجاهل|निर्देश|התעלם",
        r"(忽略|无视|無視).{0,12}(指令|指示|规则|提示|命令)|(指示|指令|命令).{0,4}(無視|忽略)",
        r"지시.{0,8}무시|무시.{0,8}지시|تجاهل.{0,20}(التعليمات|الأوامر)|निर्देश.{0,20}(अनदेखा|नज़रअंदाज़)|התעלם.{0,20}הוראות",
    ),
)
# Letters one by one ("i g n o r e"), and what is written for machines alone (base64).
SPELLED = re.compile(r"(?:\b\w[ ._*-]){6}")
ENCODED = re.compile(rf"[A-Za-z0-9+/_-]{{{LONGEST_WORD},}}")
KINDS = (re.compile(r"[A-Z]"), re.compile(r"[a-z]"), re.compile(r"\d"))


def plain(text: str) -> str:
    """The text without tricks: each letter in its plain form, nothing that cannot be seen, white space as one space.

    2 µs for three sentences.
    """
    text = " ".join(unicodedata.normalize("NFKC", text).split())
    if text.isprintable():
        return text
    return " ".join("".join(each for each in text if unicodedata.category(each) not in UNSEEN).split())


def is_strange(text: str) -> bool:
    """Whether no guest writes so. 15 µs for three sentences, twice that where letters are not ASCII."""
    text = plain(text)
    if _breaks(text, STRANGE) or speaks_to_machines(text):
        return True
    return any(all(kind.search(run) for kind in KINDS) for run in ENCODED.findall(text))


def speaks_to_machines(text: str) -> bool:
    """Whether a plain text gives orders to a machine, however its letters are spelled."""
    if SPELLED.search(text) or _breaks(text, ORDERS):
        return True
    # Letters of other scripts that look like ours are read as ours.
    return not text.isascii() and _breaks(anyascii(text), ORDERS)


def _breaks(text: str, rules: Iterable[Rule]) -> bool:
    lowered = text.lower()
    return any(any(hint in lowered for hint in hints) and pattern.search(text) for hints, pattern in rules)
