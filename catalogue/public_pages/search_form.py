"""The form of the search page, whose fields are parameters of GET /v1/restaurants."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import ValidationError

from catalogue.filters.search import SearchParams
from catalogue.public_pages.labels import format_distance, label_attribute, price_sign
from catalogue.search.text.vocabulary import DIET, Vocabulary
from framework.api.error_handler import flatten_detail, invalid_request
from framework.errors import ApiError

# Other parameters are left out: links carry those of newsletters and advertisements.
NAMES = (
    "q", "near", "radius", "market", "cuisine", "price", "open", "rating_min", "diet", "attributes", "offer", "sort",
    "cursor",
)  # fmt: skip
# Several check boxes of one name are one parameter, with commas.
LISTS = ("price", "diet", "attributes")
MORE_FILTERS = ("rating_min", "diet", "attributes", "offer", "radius", "sort")
FOLDED_FILTERS = ("cuisine", "open", "price", *MORE_FILTERS)
# Only where a reference point is given.
RADII_M = (500, 1_500, 3_000, 10_000)
CLOCK_TIMES = ("12:00", "19:00", "22:00")
RATINGS = ("3.5", "4", "4.5")
DIETS = ("vegetarian", "vegan", "gluten_free", "halal")
ATTRIBUTES = ("outdoor_seating", "wheelchair", "highchair", "dog", "live_music", "takeaway")
FILTERS: Mapping[str, Any] = {
    "q": gettext_lazy("What"),
    "near": gettext_lazy("Where"),
    "radius": gettext_lazy("Distance"),
    "market": gettext_lazy("City"),
    "cuisine": gettext_lazy("Cuisine"),
    "price": gettext_lazy("Price"),
    "price_max": gettext_lazy("Price"),
    "open": gettext_lazy("Open"),
    "rating_min": gettext_lazy("Rating"),
    "diet": gettext_lazy("Diet"),
    "attributes": gettext_lazy("Features"),
    "sort": gettext_lazy("Sort by"),
    "neighborhood": gettext_lazy("Neighbourhood"),
}


@dataclass(frozen=True, slots=True)
class Option:
    """A choice of a select, or a check box."""

    value: str
    label: str
    is_chosen: bool


@dataclass(kw_only=True)
class SearchForm:
    """The values of the form, and what is wrong with them: messages by parameter, the empty one for all."""

    values: Mapping[str, str]
    vocabulary: Vocabulary
    cuisine_labels: Mapping[str, str]
    errors: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, query: QueryDict, *, vocabulary: Vocabulary, cuisine_labels: Mapping[str, str]) -> "SearchForm":
        values = {name: _read_value(query, name) for name in NAMES}
        given = {name: value for name, value in values.items() if value}
        return cls(values=given, vocabulary=vocabulary, cuisine_labels=cuisine_labels)

    def parse(self) -> dict[str, Any]:
        """Return the values of SearchParams, as the API reads them. Raises ApiError."""
        try:
            return SearchParams.parse(urlencode(self.values))
        except ValidationError as error:
            raise invalid_request(list(flatten_detail(error.detail))) from error

    def add_error(self, error: ApiError) -> None:
        """Show the message of the API at its field."""
        for problem in error.details:
            self.errors.setdefault(problem.param if problem.param in NAMES else "", problem.message)
        if not error.details:
            self.errors.setdefault("", error.message)

    @property
    def other_error(self) -> str:
        """The message that belongs to no visible field."""
        return self.errors.get("", "") or self.errors.get("market", "") or self.errors.get("cursor", "")

    @property
    def filter_count(self) -> int:
        return sum(name in self.values for name in FOLDED_FILTERS)

    @property
    def has_folded_errors(self) -> bool:
        return any(name in self.errors for name in FOLDED_FILTERS)

    @property
    def has_more_filters(self) -> bool:
        return any(name in self.values or name in self.errors for name in MORE_FILTERS)

    @property
    def cuisines(self) -> list[Option]:
        labels = sorted(self.cuisine_labels.items(), key=lambda item: item[1].casefold())
        return self._options("cuisine", _("All cuisines"), labels)

    @property
    def opening_times(self) -> list[Option]:
        return self._options("open", _("At any time"), [("now", _("Now")), *((time, time) for time in CLOCK_TIMES)])

    @property
    def ratings(self) -> list[Option]:
        return self._options("rating_min", _("Any"), [(rating, f"★ {rating}+") for rating in RATINGS])

    @property
    def radii(self) -> list[Option]:
        if not {"near", "radius"} & self.values.keys():
            return []
        return self._options("radius", _("Any"), [(str(metres), format_distance(metres)) for metres in RADII_M])

    @property
    def orders(self) -> list[Option]:
        orders = [("rating", _("Rating")), ("reviews", _("Number of reviews")), ("offer", _("Discount"))]
        if "near" in self.values:
            orders.insert(0, ("distance", _("Distance")))
        return self._options("sort", _("Best match"), orders)

    @property
    def prices(self) -> list[Option]:
        return self._boxes("price", [(str(level), price_sign(level)) for level in range(1, 5)])

    @property
    def diets(self) -> list[Option]:
        known = self.vocabulary.attributes
        return self._boxes("diet", [(key, label_attribute(DIET + key, known)) for key in DIETS if DIET + key in known])

    @property
    def attributes(self) -> list[Option]:
        known = self.vocabulary.attributes
        return self._boxes("attributes", [(key, label_attribute(key, known)) for key in ATTRIBUTES if key in known])

    def without(self, *names: str) -> dict[str, str]:
        """Return the values without these parameters and the cursor."""
        return {name: value for name, value in self.values.items() if name not in (*names, "cursor")}

    def _options(self, name: str, anything: str, choices: Iterable[tuple[str, str]]) -> list[Option]:
        """Return the options of a select, with the given value if it is none of the choices."""
        given = self.values.get(name, "")
        options = [Option("", anything, not given), *(Option(value, text, value == given) for value, text in choices)]
        if not any(option.is_chosen for option in options):
            options.append(Option(given, given, True))
        return options

    def _boxes(self, name: str, choices: Iterable[tuple[str, str]]) -> list[Option]:
        """Return check boxes, with those given values that are none of the choices."""
        given = self.values.get(name, "").split(",") if name in self.values else []
        known = list(choices)
        others = [(value, value) for value in given if value not in dict(known)]
        return [Option(value, text, value in given) for value, text in [*known, *others]]


def label_filter(parameter: str) -> str:
    return str(capfirst(FILTERS.get(parameter, parameter)))


def _read_value(query: QueryDict, name: str) -> str:
    values = [value.strip() for value in query.getlist(name) if value.strip()]
    return ",".join(dict.fromkeys(values)) if name in LISTS else (values[-1] if values else "")
