"""Staff read the dashboard in one language: no text of ours stands in English among the others."""

import re
from collections import deque
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from babel import Locale
from django.conf import settings
from django.test import Client, override_settings
from django.utils import timezone, translation

from accounts.demo import commands
from accounts.forms.people import CURRENCIES
from accounts.models import Venue
from framework.languages import list_languages
from tests.languages import pseudo
from tests.support import builders, users

# Ids make different pages of one kind.
ID = re.compile(r"[a-z]{3,4}_[0-9a-z]{26}|[0-9a-f]{8}-[0-9a-f-]{27}|\b\d+\b|\?.*")
# A ticket is in the language of its venue.
NOT_PAGES = re.compile(r"logout|\.(csv|json|pdf|svg|ics)(\?|$)|/download|/takeout|/file|/photos/|/ticket")
IDS = r"Tablewire|\b[A-Z0-9]{6}\b|[a-z]+_[0-9a-zA-Z]{20,}|[\w.]+@example\.com|https?://\S+"
WORD = re.compile(r"[^\W\d_]{2,}")
# Terms of the APIs, of products and of zones, which are the same in each language.
TERMS = """Europe Rome Roma Nov Okt ms req rk test DEMO URL USDC GET POST PUT PATCH DELETE Free Pro Premium Enterprise
    order orders reservation reservations menu item table webhook webhooks write read created updated changed completed
    cancelled reopened confirmed sold out finished stage port ping person BKQC Walk in
    usdc export xx
    ai insight context reviews photos history csv gz jsonl parquet core Service Unavailable accepted de"""
# What allauth says in Dutch.
ALLAUTH = "Je moet eerst je mailadres verifiëren voordat je twee factor authenticatie kunt activeren"

pytestmark = pytest.mark.exhaustive


@pytest.fixture(autouse=True)
def _pseudo_language(tmp_path: Path) -> Iterator[None]:
    with pseudo.activated(tmp_path), override_settings(DASHBOARD_LANGUAGES=("en", pseudo.LANGUAGE)):
        yield


@pytest.fixture
def sandbox(db: None) -> Venue:
    venue = builders.venue("Osteria", is_sandbox=True)
    commands.fill(venue, now=timezone.now())
    return venue


def known_words(venue: Venue) -> set[str]:
    """The words that are in no catalogue: of the demo data, of Babel and Django in Dutch, and the terms above."""
    texts = [TERMS, ALLAUTH, venue.name, *(path.read_text() for path in Path(settings.BASE_DIR).glob("*/demo/*.toml"))]
    texts += [str(name) for _code, name in (*CURRENCIES, *list_languages())]
    for width in ("wide", "abbreviated"):
        texts += [*Locale(pseudo.LANGUAGE).days["format"][width].values()]
        texts += [*Locale(pseudo.LANGUAGE).months["format"][width].values()]
    return {word for text in texts for word in WORD.findall(text)}


def each_kind(client: Client, start: str) -> Iterator[tuple[str, str]]:
    """Yield the path and the text of one page of each kind that links lead to."""
    waiting, kinds = deque([start]), set[str]()
    while waiting:
        path = waiting.popleft()
        kind = ID.sub("*", path)
        if kind in kinds or NOT_PAGES.search(path):
            continue
        kinds.add(kind)
        response = client.get(path, headers={"accept-language": pseudo.LANGUAGE})
        if response.status_code != 200 or "text/html" not in response["content-type"]:
            continue
        page = unescape(response.content.decode())
        for link in re.findall(r'href="([^"]+)"', page):
            parts = urlsplit(link)
            if not parts.netloc and parts.path.startswith(("/dashboard/", "/account/")):
                waiting.append(parts.path + (f"?{parts.query}" if parts.query else ""))
        yield path, page


def test_each_page_of_the_dashboard_is_in_one_language(sandbox: Venue) -> None:
    pages = dict(each_kind(users.member(sandbox), f"/dashboard/{sandbox.public_id}"))
    with translation.override(pseudo.LANGUAGE):
        known = known_words(sandbox)
    words = {path: set(pseudo.find_unmarked(page, known=IDS)) - known for path, page in pages.items()}
    assert {path: found for path, found in words.items() if found} == {}
    assert len(pages) > 90, list(pages)
