"""What an argument may become while a person types it: by the suggestions that REST gives too."""

from collections import Counter
from collections.abc import Mapping

from django.http import HttpRequest

from catalogue.matching.scoring import fold
from catalogue.search.text import autocomplete
from catalogue.search.text.autocomplete import MIN_QUERY_LENGTH, Kind, Suggestion
from catalogue.search.text.vocabulary import Vocabulary
from framework.mcp.resources import MOST_VALUES, Values

# As long as GET /v1/autocomplete takes it; nothing has a longer name that is typed to its end.
LONGEST = 60


def near(_request: HttpRequest, typed: str, _others: Mapping[str, str]) -> Values:
    """Landmarks, neighborhoods and cities with a word that begins so; before two letters the markets.

    Of equal names each with its market, which tells them apart in a search too. One query, one more for each of at
    most five spellings where nothing begins so.
    """
    areas = Vocabulary.load().markets
    if len(fold(typed)) < MIN_QUERY_LENGTH:
        begun = [area.name for area in areas.values() if fold(area.name).startswith(fold(typed))]
        return Values(sorted(begun))
    found = suggested(typed, Kind.LANDMARK)
    called = Counter(fold(each.text) for each in found)
    values = []
    for each in found:
        area = areas.get(each.market or "")
        values.append(f"{each.text}, {area.name}" if area and called[fold(each.text)] > 1 else each.text)
    return Values(list(dict.fromkeys(values)), has_more=len(found) > MOST_VALUES)


def slug(_request: HttpRequest, typed: str, _others: Mapping[str, str]) -> Values:
    """The slugs of restaurants whose name has a word that begins so, the best known first. Queries as of `near`."""
    found = suggested(typed, Kind.RESTAURANT)
    return Values([str(each.slug) for each in found], has_more=len(found) > MOST_VALUES)


def slugs(request: HttpRequest, typed: str, others: Mapping[str, str]) -> Values:
    """The last of several slugs with commas between them; each value is the whole text, so completed."""
    before, comma, last = typed.rpartition(",")
    chosen = {one.strip() for one in before.split(",")}
    found = slug(request, last.strip(), others)
    kept = before + comma + (" " if last.startswith(" ") else "")
    return Values([f"{kept}{one}" for one in found.found if one not in chosen], has_more=found.has_more)


def suggested(typed: str, of: Kind) -> list[Suggestion]:
    """What begins so in one dictionary, one more than is told; nothing for what is longer than any name."""
    # A slug has hyphens where its name has spaces.
    words = " ".join(typed.replace("-", " ").split())
    return autocomplete.suggest(words, limit=MOST_VALUES + 1, kinds=(of,)) if len(words) <= LONGEST else []
