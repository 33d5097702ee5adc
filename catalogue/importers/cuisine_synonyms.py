"""Cuisines of files by the synonyms that staff keep: a file's "trattoria" is `italian`."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from catalogue.importers.parsing.parsed_place import ParsedPlace
from catalogue.models import Cuisine
from catalogue.search.text.vocabulary import fold


@dataclass(frozen=True, slots=True)
class KnownCuisines:
    """Labels by slug, and the slug of each folded synonym that one cuisine alone has."""

    labels: Mapping[str, str] = field(default_factory=dict)
    by_synonym: Mapping[str, str] = field(default_factory=dict)

    def apply(self, place: ParsedPlace) -> ParsedPlace:
        """Return the place with each cuisine that is not known replaced by the one whose synonym it is."""
        slugs = {slug: self._find(slug, label) for slug, label in place.cuisine_labels.items()}
        if all(slug == found for slug, found in slugs.items()):
            return place
        labels = {found: self.labels.get(found, place.cuisine_labels[slug]) for slug, found in slugs.items()}
        return replace(place, cuisine_labels=labels)

    def _find(self, slug: str, label: str) -> str:
        if slug in self.labels:
            return slug
        return self.by_synonym.get(fold(slug)) or self.by_synonym.get(fold(label)) or slug


def load_known_cuisines() -> KnownCuisines:
    """One query."""
    rows = list(Cuisine.objects.values_list("slug", "label", "synonyms"))
    found: dict[str, set[str]] = defaultdict(set)
    for slug, _, synonyms in rows:
        for word in synonyms:
            found[fold(word)].add(slug)
    return KnownCuisines(
        labels={slug: label for slug, label, _ in rows},
        by_synonym={word: next(iter(slugs)) for word, slugs in found.items() if len(slugs) == 1},
    )
