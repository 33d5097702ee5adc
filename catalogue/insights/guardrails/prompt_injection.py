"""Detection of suspicious reviews: links, markup, phone numbers, instructions to models. They are never analyzed."""

import re
import unicodedata
from collections.abc import Iterable

from anyascii import anyascii

# Unicode categories of invisible characters: control, format, surrogate, private use, unassigned.
INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
# A longer run that mixes lower case, upper case and digits is encoded data.
MAX_WORD_LENGTH = 32

Rule = tuple[tuple[str, ...], re.Pattern[str]]


def _rule(hints: str, *patterns: str) -> Rule:
    """Patterns, and hints: each match contains one of the hints in lower case, and searching them first is faster."""
    return tuple(hints.split("|")), re.compile("|".join(patterns), re.IGNORECASE)


DIGITS = "0|1|2|3|4|5|6|7|8|9"
# Top-level domains. Those that are also words need another sign of a link, because guests omit the space after a full
# stop.
DOMAINS = "com|net|org|io|info|biz|xyz|app|dev|eu|uk|fr|dk|nl|pl|ru|cn|jp|kr|ch|ly|gl|gd|gg|tv|cc|cz|hu|gr|br|pt"
WORD_DOMAINS = (
    "de|es|it|at|be|us|me|no|se|in|is|to|so|co|ai|my|restaurant|menu|pizza|bar|cafe|food|shop|store|club|online|site"
)
# Links, markup, code, phone numbers.
SPAM_RULES: tuple[Rule, ...] = (
    _rule("http|www.|<|{{|](|@", r"https?:|www\.|<[a-z/!|]|\{\{|\]\(|@\w"),
    _rule(
        "|".join(f".{domain}" for domain in f"{DOMAINS}|{WORD_DOMAINS}".split("|")),
        rf"(?<=\w)\.(?:({DOMAINS})\b|({WORD_DOMAINS})/\w)",
        rf"(?<=\w)-[\w-]{{1,60}}\.({WORD_DOMAINS})\b",
        rf"\b(visit|book at|see|via|auf|unter|sur|su) \w{{1,60}}\.({WORD_DOMAINS})\b",
    ),
    _rule("[|(|{", r"\w ?[\[({] ?(dot|\.) ?[\])}] ?\w|\[/?(inst|sys(tem)?)\]"),
    _rule(" .", rf"\w \. ?({DOMAINS})\b"),
    _rule("dot", rf"(?<!the )\bdot ({DOMAINS}|{WORD_DOMAINS})\b"),
    _rule(":", r"\bh ?t ?t ?p s? ?:", r"[\"']\w+[\"'] ?: ?[\"'\[{\d]"),
    # Phone numbers: one rule each, so that the hint is specific. Numbers of orders and bookings are allowed.
    _rule("+", r"\+\d(?:[ ().\-/]{0,2}\d){7}"),
    _rule(DIGITS, r"\d{3}\)?[ .-]\d{3}[ .-]\d{4}\b"),
    _rule("0", r"0\d{3,4}[ /-]\d{3,4}[ -]?\d{3}\b"),
    _rule(
        DIGITS,
        r"\A(?=(?:\D+|\d{1,6}(?!\d))*+\d{7})"
        r"(?!.*\b(order|booking|reservation|reference|receipt|invoice|confirmation|ticket)\b)",
    ),
    _rule("0x", r"\b0x[0-9a-f]{16}"),
    _rule("```|=", r"```|\bon\w+ ?= ?[\"']"),
    _rule("function|tool", r"\b(function|tool)_?(call|use|result)"),
)
# Instructions to models, in the most frequent languages.
INSTRUCTION_RULES: tuple[Rule, ...] = (
    _rule(
        "ignore|disregard|forget|override|bypass",
        r"\b(ignore|disregard|forget|override|bypass)\b.{0,40}\b(instructions?|prompts?|guidelines?|directives?)\b",
        r"\b(ignore|disregard|forget|override|bypass) (\w+ ){0,4}((previous|prior|earlier|your) rules|rules above|"
        r"everything (above|before)|(all|any) (previous|prior)(?! (reviews?|comments?))|"
        r"(the|all) (above|previous)(?= and\b|[.:!;]|$))",
    ),
    _rule(
        "system|assistant|developer|human|user",
        r"(^|[^\w\s,;] ?)(system|assistant|developer|human|user) ?:",
        r"\b(system|assistant|developer|human|user) ?(message|prompt)",
        r"\bdeveloper mode\b",
    ),
    _rule(
        " ai |ai-| model|gpt|llm|bot|summari|jailbreak|injection|do anything",
        r"\b(an? (ai|language model)|language model|chat ?gpt|gpt-?\d|llms?|chat ?bot|summari[sz]er)\b",
        r"\bai (model|assistant|agent|summar\w+)\b|\b(jailbreak|do anything now|prompt injection)\b",
    ),
    _rule("you are now|your |new instr", r"\b(you are now|your (system )?prompt|new instructions?)\b"),
    _rule("in your ", r"\bin your (summary|insight|output|text|answer|overview)\b"),
    # Text that addresses the reader of the reviews, dictates the summary, or claims that the reviews end.
    _rule(
        "whoever|anyone|who |machine|program|dear |attention|note to",
        r"\b(whoever|any(one|body) who|those who|whatever) (\w+ ){0,2}"
        r"(reads?|compiles?|processe?s?|parses?|writes?|collects?|summ?\w+)( \w+){0,2} (reviews?|text|summary|this)\b",
        r"\bby (a )?machines?\b|\b(dear|note to|attention) (\w+ )?(ai|models?|programs?|machines?)\b",
    ),
    _rule(
        "summary|overview|description|text|insight",
        r"\b(summary|overview|description|this text|insight) (shall|must|should|has to|ought to|will) (\w+ )?"
        r"(say|state|mention|include|describe|call|praise|be)\b",
        r"\b(say|state|mention|write|include|put)\b[^.!?]{0,40}\bin the (summary|overview|insight|output)\b",
        r"\bin the (summary|overview|insight|output),? (please |always )?(say|state|mention|write|include|put)\b",
    ),
    _rule(
        "describe|call ",
        r"(^|[.:!?;,] ?|\b(always|now|please|must|shall) )(describe|call) (this|the|our) "
        r"(place|restaurant|food|house) as\b",
    ),
    _rule("end of ", r"\bend of (the |all )?(reviews|documents?|input|json|prompt)\b"),
    _rule(
        "zusammenfassung|zusammenfasst",
        r"\bin (deiner|ihrer) zusammenfassung\b|\bwenn (du|sie) \w* ?zusammenfass",
    ),
    _rule(
        "resum|r\u00e9sum|riass|sintesi|synth|sammenfat|opsumm",
        r"\bal resumir\b.{0,20}\b(di|diga|escrib\w+|mencion\w+)\b|\ben (tu|su) resumen\b",
        r"\bdans (ton|votre) (resume|synthese)\b|\ben resumant,? (dis|dites|ecri\w+|mentionne\w*)\b",
        r"\bnel (tuo|suo|vostro) riassunto\b|\bnella (tua|sua|vostra) sintesi\b|\briassumendo,? (scriv\w+|di')",
        r"\bi (dit|din|jeres) (resume|sammenfatning|opsummering)\b|\bnar du (opsummerer|sammenfatter)\b",
    ),
    _rule(
        "要約|まとめ|紹介文",
        r"(要約|まとめ|紹介文)(に|では|には|で|の中で).{0,30}(書いて|書け|述べて|記載|含めて|言って|言え)",
    ),
    _rule(
        "write|output|print|repeat|respond|reply|answer",
        r"\b(write|output|print|repeat|respond|reply|answer)\b.{0,20}"
        r"\b(the following|verbatim|word for word|in json|only with|with only|nothing but)\b",
    ),
    _rule(
        "owner|manager|admin|operator|developer",
        r"\b(i am|i'm|as) (the|an?) (owner|manager|admin\w*|operator|developer)\b.{0,60}"
        r"\b(you (to|must|should|will|shall) (always )?"
        r"(say|write|mention|state|praise|describe|include)|[:,] ?(say|write))\b",
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


def is_suspicious(text: str) -> bool:
    """Whether a text is spam or a prompt injection. 65 µs for 336 characters on two busy cores, 95 if not ASCII."""
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
