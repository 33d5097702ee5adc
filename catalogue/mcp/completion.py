"""Completion of arguments, from the autocomplete of REST."""

from collections import Counter
from collections.abc import Mapping

from django.http import HttpRequest

from catalogue.matching.scoring import fold
from catalogue.search.text import autocomplete
from catalogue.search.text.autocomplete import MIN_QUERY_LENGTH, Kind, Suggestion
from catalogue.search.text.vocabulary import Vocabulary
from framework.mcp.resources import MAX_COMPLETIONS, Completions

# As in GET /v1/autocomplete.
MAX_LENGTH = 60


def complete_near(_request: HttpRequest, typed: str, _others: Mapping[str, str]) -> Completions:
    """Landmarks, neighborhoods and cities by the beginning of a word; the markets for less than two letters.

    Equal names get their market, which tells them apart in a search too. One query, and one for each of at most five
    spelling corrections if nothing matches.
    """
    markets = Vocabulary.load().markets
    if len(fold(typed)) < MIN_QUERY_LENGTH:
        return Completions(
            sorted(market.name for market in markets.values() if fold(market.name).startswith(fold(typed)))
        )
    suggestions = _suggest(typed, Kind.LANDMARK)
    counts = Counter(fold(suggestion.text) for suggestion in suggestions)
    values = []
    for suggestion in suggestions:
        market = markets.get(suggestion.market or "")
        is_ambiguous = counts[fold(suggestion.text)] > 1
        values.append(f"{suggestion.text}, {market.name}" if market and is_ambiguous else suggestion.text)
    return Completions(list(dict.fromkeys(values)), has_more=len(suggestions) > MAX_COMPLETIONS)


def complete_slug(_request: HttpRequest, typed: str, _others: Mapping[str, str]) -> Completions:
    """Slugs of restaurants by the beginning of a word of the name, best known first. Queries as `complete_near`."""
    suggestions = _suggest(typed, Kind.RESTAURANT)
    return Completions(
        [str(suggestion.slug) for suggestion in suggestions], has_more=len(suggestions) > MAX_COMPLETIONS
    )


def complete_slugs(request: HttpRequest, typed: str, others: Mapping[str, str]) -> Completions:
    """The last of several comma-separated slugs; each value is the whole text."""
    before, comma, last = typed.rpartition(",")
    present = {slug.strip() for slug in before.split(",")}
    completions = complete_slug(request, last.strip(), others)
    prefix = before + comma + (" " if last.startswith(" ") else "")
    values = [f"{prefix}{slug}" for slug in completions.values if slug not in present]
    return Completions(values, has_more=completions.has_more)


def _suggest(typed: str, kind: Kind) -> list[Suggestion]:
    """Suggestions of one kind, one more than are returned; none for a text longer than MAX_LENGTH."""
    # A slug has hyphens where its name has spaces.
    words = " ".join(typed.replace("-", " ").split())
    return autocomplete.suggest(words, limit=MAX_COMPLETIONS + 1, kinds=(kind,)) if len(words) <= MAX_LENGTH else []
