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
FORBIDDEN = re.compile(rf"(?<![\w-])(?:{'|'.join(REPLACED)})(?![\w-])", re.IGNORECASE)
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
