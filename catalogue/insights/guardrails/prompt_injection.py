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
# Endings of hosts; those that are words too end a link only where something else about it is one, for guests leave out
# the space behind a full stop.
ENDINGS = "com|net|org|io|info|biz|xyz|app|dev|eu|uk|fr|dk|nl|pl|ru|cn|jp|kr|ch|ly|gl|gd|gg|tv|cc|cz|hu|gr|br|pt"
WORDS = (
    "de|es|it|at|be|us|me|no|se|in|is|to|so|co|ai|my|restaurant|menu|pizza|bar|cafe|food|shop|store|club|online|site"
)
# Links, markup, code, numbers to call.
STRANGE: tuple[Rule, ...] = (
    _rule("http|www.|<|{{|](|@", r"https?:|www\.|<[a-z/!|]|\{\{|\]\(|@\w"),
    _rule(
        "|".join(f".{ending}" for ending in f"{ENDINGS}|{WORDS}".split("|")),
        rf"(?<=\w)\.(?:({ENDINGS})\b|({WORDS})/\w)",
        rf"(?<=\w)-[\w-]{{1,60}}\.({WORDS})\b",
        rf"\b(visit|book at|see|via|auf|unter|sur|su) \w{{1,60}}\.({WORDS})\b",
    ),
    _rule("[|(|{", r"\w ?[\[({] ?(dot|\.) ?[\])}] ?\w|\[/?(inst|sys(tem)?)\]"),
    _rule(" .", rf"\w \. ?({ENDINGS})\b"),
    _rule("dot", rf"(?<!the )\bdot ({ENDINGS}|{WORDS})\b"),
    _rule(":", r"\bh ?t ?t ?p s? ?:", r"[\"']\w+[\"'] ?: ?[\"'\[{\d]"),
    # Numbers to call, each a rule by itself, for so its first sign is found fast; those of an order are none.
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
# Orders to machines, in the languages in which they come most.
ORDERS: tuple[Rule, ...] = (
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
    # Whoever reads or sums up, what its text shall say, and that the reviews are over.
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
    """Whether no guest writes so. 65 µs for 336 characters on two busy cores, 95 where letters are not ASCII."""
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
