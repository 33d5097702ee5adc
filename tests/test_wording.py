"""User-facing text is plain English: words that were replaced by standard terms must not come back."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from config.management.commands.collect_texts import all_texts

ROOT = Path(__file__).parent.parent
APPS = ("accounts", "catalogue", "config", "orders", "payments", "reservations")
# A replaced word or phrase, and what to write instead.
REPLACED = {
    r"anew": "again, or the verb: regenerate, restart",
    r"somebody|someone else|anybody": "another user, or the role",
    r"nobody|whoever": "no user, or the role",
    r"meanwhile": "since",
    r"told|tells|telling|said": "shows, notifies, states",
    r"mend|mended": "correct, edit",
    r"callers?": "API clients",
    r"mails?|e-mails?": "email",
    r"by the clock|wall clock": "in the time zone",
    r"at once": "immediately",
    r"for good": "permanently",
    r"no more|any more": "no longer",
    r"of yours|one's": "your",
    r"is over": "has ended, is in the past",
    r"wishes": "special requests",
    r"door": "channel",
    r"owed?": "refund due",
    r"sent back": "refunded",
    r"ticked": "selected",
    r"switch(?:ed)? (?:it )?o(?:n|ff)": "enable, disable",
    r"leads nowhere": "is invalid",
    r"give(?:n)? up": "cancel, stop",
    r"begun": "started",
    r"taken then": "already booked",
}
# Phrases, each the distinctive part of a text that was replaced as a whole.
PHRASES = """
    ask for data, here and now; ask for something that is sold; before the answer is read; day of tables
    called so; sending a call again; API, to try; what they are called; is decided; becomes of; people in our tables
    watching it; watching over; a thumb on it; for who runs; really done
    have you an; that everybody uses; where the restaurant is; of your menu's prices
    is it still you; second step; your finger; delete yourself; delete my; goodbye
    I have kept; have another sent; got lost
    nothing that you do; hear of; until it listens; stands in; keep the key; no key works
    completed of; cancelled of; next to come
    programs make them; by themselves; priced by it; hold nothing; may hold
    lets it play; be taken back; in your words; is like that; summed up; this page stands; stay here; how does it get
    back on; for sure; nothing is in it; grows with
    write it down; waits for your; your word; to decide; may write; stand here; of their turns; the best that is free
    not proven; did they not; they did not come; take the request; the party is large
    are these one; make them two; keep the note; what is known
    guests may call; guests come to; forget guests; the staff's word; tax is added to them; stay, minutes
    so many guests; given to guests; name other times
    a program of; your programs; of this venue alone; it did not say; signs too; make it\\.
    paid and answered; not fetched; never moved; look again; looked at; what it would be; month of now; is good once
    not here; no part in; yours to see; not for you; cannot be read\\.; something broke; written down; too many tries
    to signing in; guards this page; country's number; ask for this time; hear from it
    what waits; let go; deed; rises to; struck; arrived in 24; every minutes; stand up to; off the service
    make one of the two; carries claim; ended well; what fits; too much to look; get there sooner; look after
    people alone; in any case and
"""
ALL = [*REPLACED, *(phrase.strip() for line in PHRASES.split("\n") for phrase in line.split(";") if phrase.strip())]
FORBIDDEN = re.compile(rf"(?<![\w-])(?:{'|'.join(ALL)})(?![\w-])", re.IGNORECASE)
TAG = re.compile(r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}|<(?:script|style)\b.*?</(?:script|style)>", re.DOTALL)
ATTRIBUTE = re.compile(r'\b(?:aria-label|title|placeholder|alt|data-label)="([^"]*)"')
MARKUP = re.compile(r"<[^>]*>", re.DOTALL)


def templates() -> list[Path]:
    """All templates, in a stable order."""
    return sorted(path for path in (ROOT / "templates").rglob("*") if path.suffix in (".html", ".txt"))


def modules() -> list[Path]:
    """The Python modules with labels, help texts and messages of pages."""
    found = [
        path for app in APPS for part in ("admin", "dashboard", "forms") for path in (ROOT / app / part).rglob("*.py")
    ]
    found += [path for app in APPS for path in (ROOT / app).glob("*forms.py")]
    return sorted(
        [
            *found,
            ROOT / "reservations/mail/texts.py",
            *(ROOT / "reservations/booking_page").rglob("*.py"),
            *(ROOT / "reservations/self_service").rglob("*.py"),
            *(ROOT / "orders/ordering_page").rglob("*.py"),
            ROOT / "reservations/service/display_status.py",
            ROOT / "accounts/tenancy/team.py",
        ]
    )


def visible(template: str) -> str:
    """The text and the readable attributes of a template."""
    source = TAG.sub(" ", template)
    return " ".join([*ATTRIBUTE.findall(source), MARKUP.sub(" ", source)])


def strings(source: str) -> Iterator[str]:
    """The string literals of a module that contain a space, without docstrings."""
    tree = ast.parse(source)
    docstrings = {
        id(first.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        for first in node.body[:1]
        if isinstance(first, ast.Expr)
    }
    for node in ast.walk(tree):
        if id(node) in docstrings or not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            continue
        if " " in node.value:
            yield MARKUP.sub(" ", node.value)


@pytest.mark.parametrize("path", templates(), ids=lambda path: str(path.relative_to(ROOT)))
def test_templates_contain_no_replaced_words(path: Path) -> None:
    assert sorted(set(FORBIDDEN.findall(visible(path.read_text())))) == []


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_labels_and_messages_contain_no_replaced_words(path: Path) -> None:
    found = [text for text in strings(path.read_text()) if FORBIDDEN.search(text)]
    assert found == []


def test_the_check_finds_a_replaced_word() -> None:
    assert FORBIDDEN.findall(visible('<p title="Tell somebody">{% if told %}Written anew{% endif %}</p>')) == [
        "somebody",
        "anew",
    ]
    assert list(strings('"""Docstring told."""\nx = "Nobody is told."')) == ["Nobody is told."]


def test_marked_texts_contain_no_replaced_words() -> None:
    texts = [text for forms, _context in all_texts() for text in forms]
    assert [text for text in texts if FORBIDDEN.search(text)] == []
