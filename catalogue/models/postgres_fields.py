"""Model fields for two PostgreSQL types that Django does not support: `point` and `tstzmultirange`."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import models
from psycopg.types.multirange import Multirange
from psycopg.types.range import Range

Span = tuple[datetime, datetime]


@dataclass(frozen=True, slots=True)
class Point:
    """A place on the plane of catalogue.search.geocoding.distance: Web-Mercator metres, x east, y north."""

    x: float
    y: float


class PointField(models.Field[Point | str | None, Point | None]):
    """PostgreSQL's own `point`; read as Point."""

    description = "A point on the plane"

    def db_type(self, connection: Any) -> str:
        return "point"

    def from_db_value(self, value: str | None, *_: object) -> Point | None:
        if value is None:
            return None
        x, y = value.strip("()").split(",")
        return Point(float(x), float(y))

    def get_prep_value(self, value: Any) -> Any:
        return f"({value.x},{value.y})" if isinstance(value, Point) else value


class SpansField(models.Field[Iterable[Span] | None, list[Span] | None]):
    """Half-open intervals of time in a `tstzmultirange`; read and written as a list of (start, end)."""

    description = "Spans of time"

    def db_type(self, connection: Any) -> str:
        return "tstzmultirange"

    def from_db_value(self, value: Multirange[datetime] | None, *_: object) -> list[Span] | None:
        if value is None:
            return None
        return [(span.lower, span.upper) for span in value if span.lower is not None and span.upper is not None]

    def get_prep_value(self, value: Any) -> Any:
        if value is None or isinstance(value, Multirange):
            return value
        return Multirange([Range(start, end, "[)") for start, end in value])

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        return value if prepared else self.get_prep_value(value)

    def get_placeholder(self, value: Any, compiler: Any, connection: Any) -> str:
        # An empty multirange has no element that shows its type.
        return "%s::tstzmultirange"
