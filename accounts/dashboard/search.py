"""The search of a venue's dashboard. Apps above this one add what can be found to SOURCES in AppConfig.ready."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import urlencode

from django import forms
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from accounts.dashboard.decorators import PageRequest, page
from accounts.dashboard.menu import list_groups
from accounts.onboarding_steps import build_venue_url
from accounts.tenancy.permissions import Access, Right
from framework.db.statement_timeout import StatementTimedOut, statement_timeout

MIN_LENGTH, MAX_LENGTH = 2, 100
# The results that are shown of each source, and the time that its query may take.
MAX_HITS = 5
TIMEOUT_MS = 1_000


@dataclass(frozen=True, slots=True)
class Hit:
    """A found row: its name, its page, and a line about it; its state with the style of a badge, and its sum."""

    title: str
    url: str
    details: str = ""
    state: str = ""
    badge: str = ""
    amount: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One kind of rows, for users who may view one of `rights`; without rights, for all.

    `find` returns at most as many rows as its third argument says. `find_exact` returns the URL of the row with this
    id, code or number, or None.
    """

    position: int
    label: str | Promise
    rights: tuple[Right, ...] = ()
    find: Callable[[Access, str, int], list[Hit]]
    find_exact: Callable[[Access, str], str | None] | None = None
    # The page that lists all matching rows, and its parameter for the text.
    list_page: str = ""
    list_param: str = "q"
    # The link to what else one can do (its label and URL): shown if nothing was found.
    suggest: Callable[[Access, str], tuple[str, str] | None] | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """The results of one source. `url` is the list of all of them, if there is one."""

    label: str | Promise
    hits: list[Hit]
    url: str
    has_more: bool = False
    is_timed_out: bool = False


class SearchForm(forms.Form):
    q = forms.CharField(required=False, max_length=MAX_LENGTH)

    def clean_q(self) -> str:
        return " ".join(str(self.cleaned_data["q"]).split())


def find_pages(access: Access, text: str, limit: int) -> list[Hit]:
    """Return the pages of the navigation menu whose title contains the text."""
    entries = [entry for _, group in list_groups(access, "") for entry in group]
    found = [Hit(entry["label"], entry["url"]) for entry in entries if text.casefold() in entry["label"].casefold()]
    return found[:limit]


SOURCES = [Source(position=50, label=gettext_lazy("Pages"), find=find_pages)]


def list_sources(access: Access) -> list[Source]:
    """Return the sources that the user may view, in order."""
    allowed = [source for source in SOURCES if not source.rights or any(map(access.may_view, source.rights))]
    return sorted(allowed, key=lambda source: source.position)


def find_exact(access: Access, text: str) -> str | None:
    """Return the URL of the row with this id, code or number. At most one query for each source."""
    urls = (source.find_exact(access, text) for source in list_sources(access) if source.find_exact)
    return next(filter(None, urls), None)


def build_list_url(source: Source, access: Access, text: str) -> str:
    """Return the URL of the page that lists all rows of a source that match; empty if there is none."""
    return source.list_page and f"{build_venue_url(source.list_page, access)}?{urlencode({source.list_param: text})}"


def find_all(access: Access, text: str) -> Iterator[Group]:
    """Yield the results of each source that has some. One query for each, under a statement timeout."""
    for source in list_sources(access):
        url = build_list_url(source, access, text)
        try:
            with statement_timeout(TIMEOUT_MS):
                hits = source.find(access, text, MAX_HITS + 1)
        except StatementTimedOut:
            yield Group(source.label, [], url, is_timed_out=True)
            continue
        if hits:
            yield Group(source.label, hits[:MAX_HITS], url, has_more=len(hits) > MAX_HITS)


def list_suggestions(access: Access, text: str) -> Iterator[tuple[str, str]]:
    """Yield the label and URL of what one can do if nothing was found. No query."""
    for source in list_sources(access):
        if source.suggest and (suggestion := source.suggest(access, text)):
            yield suggestion


@page()
def search(request: PageRequest) -> HttpResponse:
    """Redirect to the row with this id, code or number, or list what contains the text."""
    form = SearchForm(request.GET)
    is_valid = form.is_valid()
    text = form.cleaned_data["q"] if is_valid else ""
    if text and (url := find_exact(request.access, text)):
        return redirect(url)
    is_long_enough = len(text) >= MIN_LENGTH
    groups = list(find_all(request.access, text)) if is_long_enough else []
    is_unfound = is_long_enough and not groups
    context = {
        "form": form,
        "search_text": text,
        "groups": groups,
        "is_unfound": is_unfound,
        "suggestions": list(list_suggestions(request.access, text)) if is_unfound else [],
        "searched": [source.label for source in list_sources(request.access)] if is_unfound else [],
        "is_too_short": is_valid and not is_long_enough,
        "min_length": MIN_LENGTH,
    }
    return render(request, "dashboard/search.html", context, status=200 if is_valid else 400)
