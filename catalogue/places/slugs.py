"""Slugs: the names of restaurants in URLs."""

import re
from collections.abc import Iterable, Sequence

from anyascii import anyascii

from catalogue.models import FormerSlug, Restaurant
from framework.invisible_text import remove_invisible

MAX_LENGTH = 100
_APOSTROPHES = re.compile(r"['`]")
_SEPARATORS = re.compile(r"[^a-z0-9]+")


def slugify(text: str) -> str:
    """ASCII letters and digits joined by hyphens: "Kødbyens Fiskebar" becomes `kodbyens-fiskebar`.

    1 to 100 characters; a text without letters and digits becomes `restaurant`.
    """
    words = _SEPARATORS.sub("-", _APOSTROPHES.sub("", anyascii(remove_invisible(text))).lower()).strip("-")
    return words[:MAX_LENGTH].rstrip("-") or "restaurant"


def allocate_slugs(places: Sequence[tuple[str, str | None]]) -> list[str]:
    """Return a slug for each (name, neighborhood) that no restaurant has or had, all different.

    It is the name, else name and neighborhood, else the latter with the first free number from 2. A concurrent
    transaction may store the same slug first; then the constraint fails, and the caller tries again. One query, and
    one for each doubling of the numbers of a frequent name.
    """
    bases = [_base_slugs(name, neighborhood) for name, neighborhood in places]
    slugs: dict[int, str] = {}
    allocated: set[str] = set()
    pending = list(range(len(places)))
    # First without a number, then 2 to 9, 10 to 19, 20 to 39 and so on.
    start, end = 0, 2
    while pending:
        candidates = {
            index: bases[index] if not start else [f"{bases[index][-1]}-{number}" for number in range(start, end)]
            for index in pending
        }
        taken = _find_taken(slug for choices in candidates.values() for slug in choices)
        for index, choices in candidates.items():
            slug = next((slug for slug in choices if slug not in taken and slug not in allocated), None)
            if slug is not None:
                slugs[index] = slug
                allocated.add(slug)
        pending = [index for index in pending if index not in slugs]
        start, end = end, max(10, 2 * end)
    return [slugs[index] for index in range(len(places))]


def _base_slugs(name: str, neighborhood: str | None) -> list[str]:
    texts = [name, f"{name} {neighborhood}"] if neighborhood else [name]
    return list(dict.fromkeys(map(slugify, texts)))


def _find_taken(slugs: Iterable[str]) -> set[str]:
    candidates = set(slugs)
    current = Restaurant.objects.filter(slug__in=candidates).values_list("slug")
    return {slug for (slug,) in current.union(FormerSlug.objects.filter(slug__in=candidates).values_list("slug"))}
