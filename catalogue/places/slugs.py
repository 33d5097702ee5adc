"""Slugs: the name of a restaurant in an address."""

import re
from collections.abc import Iterable, Iterator, Sequence

from anyascii import anyascii

from catalogue.models import FormerSlug, Restaurant

LONGEST = 100
_APOSTROPHES = re.compile(r"['`]")
_OTHERS = re.compile(r"[^a-z0-9]+")


def slugify(text: str) -> str:
    """ASCII letters and digits joined by hyphens, 1 to 100 of them: "Kødbyens Fiskebar" makes `kodbyens-fiskebar`.

    What leaves no letter at all makes `restaurant`.
    """
    words = _OTHERS.sub("-", _APOSTROPHES.sub("", anyascii(text)).lower()).strip("-")
    return words[:LONGEST].rstrip("-") or "restaurant"


def free(places: Sequence[tuple[str, str | None]]) -> list[str]:
    """A slug for each (name, neighborhood), which neither a restaurant has or had nor another of these gets.

    The name, else name and neighborhood, else the first with a number from 2 on. Whoever stores them at the same
    moment may be quicker: then the constraint on the slug says so, and the caller asks again. One query, and one
    more for each doubling of the number that a crowded name needs.
    """
    choices = [_choices(name, neighborhood) for name, neighborhood in places]
    slugs: dict[int, str] = {}
    given: set[str] = set()
    waiting = list(range(len(places)))
    for numbers in _rounds():
        candidates = {place: list(_numbered(choices[place], numbers)) for place in waiting}
        taken = _taken(slug for each in candidates.values() for slug in each)
        for place, wanted in candidates.items():
            slug = next((slug for slug in wanted if slug not in taken and slug not in given), None)
            if slug is not None:
                slugs[place] = slug
                given.add(slug)
        waiting = [place for place in waiting if place not in slugs]
        if not waiting:
            break
    return [slugs[place] for place in range(len(places))]


def _choices(name: str, neighborhood: str | None) -> list[str]:
    alone = slugify(name)
    if not neighborhood:
        return [alone]
    return list(dict.fromkeys([alone, slugify(f"{name} {neighborhood}")]))


def _rounds() -> Iterator[range]:
    """First no number at all, then 2 to 9, 10 to 19, 20 to 39 and so on."""
    yield range(0)
    start, end = 2, 10
    while True:
        yield range(start, end)
        start, end = end, end * 2


def _numbered(choices: list[str], numbers: range) -> Iterable[str]:
    return (f"{choices[-1]}-{number}" for number in numbers) if numbers else choices


def _taken(slugs: Iterable[str]) -> set[str]:
    wanted = set(slugs)
    now = Restaurant.objects.filter(slug__in=wanted).values_list("slug")
    return {slug for (slug,) in now.union(FormerSlug.objects.filter(slug__in=wanted).values_list("slug"))}
