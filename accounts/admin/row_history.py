"""The history of a row in the back office: what was changed, from what to what, when and by whom."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from django.db.models import Field, Model
from django.http import HttpRequest, HttpResponse
from pghistory.core import event_models

from framework.admin.large_tables import BoundedActions
from framework.db.row_history import CHANGED

# Of each kind of rows the newest.
MOST_CHANGES = 100


@dataclass(frozen=True, slots=True)
class Difference:
    """A field, as it was and as it became."""

    label: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Change:
    """Something that happened to a row. `what` names the row where it is one of several."""

    at: datetime
    actor: str
    label: str
    what: str
    differences: tuple[Difference, ...]


class WithChanges(BoundedActions):
    """Shows on the page History also what the triggers of framework.db.row_history wrote.

    `changes_also` are rows that have no page of their own: their model, and the column of its changes that leads here.
    """

    object_history_template = "admin/row_history.html"
    changes_also: ClassVar[Sequence[tuple[type[Model], str]]] = ()

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The page. Two queries for each kind of rows, and one for each kind that their fields name."""
        row = self.get_object(request, object_id)
        told = {"changes": changes(row, also=self.changes_also), "most": MOST_CHANGES} if row is not None else {}
        return super().history_view(request, object_id, {**told, **(extra_context or {})})


def changes(row: Model, *, also: Sequence[tuple[type[Model], str]] = ()) -> list[Change]:
    """What happened to the row, and to those that lead to it, newest first."""
    found = list(_of(type(row), "pgh_obj_id", row.pk, names=False))
    for model, column in also:
        found.extend(_of(model, column, row.pk, names=True))
    return sorted(found, key=lambda change: change.at, reverse=True)


def _of(model: type[Model], column: str, key: object, *, names: bool) -> Iterator[Change]:
    kept: Any = next(iter(event_models(tracks_model=model)), None)
    if kept is None:
        return
    lines = list(kept.objects.filter(**{column: key}).order_by("-pgh_id")[:MOST_CHANGES])
    # Read backwards, what a row became is what it was before the next change; the last change led to what it is.
    became: dict[object, Any] = dict(model._default_manager.in_bulk({line.pgh_obj_id for line in lines}))
    pairs = []
    for line in lines:
        pairs.append((line, became.get(line.pgh_obj_id)))
        became[line.pgh_obj_id] = line
    columns = {field.name for field in kept._meta.concrete_fields}
    fields = [field for field in model._meta.concrete_fields if field.name in columns]
    related = _named(fields, pairs)
    for line, after in pairs:
        differences = tuple(
            Difference(
                str(field.verbose_name),
                _shown(field, getattr(line, field.attname), related),
                _shown(field, getattr(after, field.attname), related),
            )
            for field in (fields if line.pgh_label == CHANGED and after is not None else ())
            if getattr(line, field.attname) != getattr(after, field.attname)
        )
        what = f"{model._meta.verbose_name} {getattr(line, 'name', '')}".strip() if names else ""
        actor = (line.pgh_context or {}).get("actor") or "system"
        yield Change(line.pgh_created_at, actor, line.pgh_label, what, differences)


def _named(fields: Sequence[Field[Any, Any]], pairs: Sequence[tuple[Any, Any]]) -> dict[tuple[str, object], str]:
    """How people call the rows that are named by their keys."""
    found: dict[tuple[str, object], str] = {}
    for field in fields:
        if field.remote_field:
            keys = {getattr(each, field.attname) for pair in pairs for each in pair if each is not None} - {None}
            rows: Any = field.remote_field.model
            found |= {(field.name, key): str(each) for key, each in rows._default_manager.in_bulk(keys).items()}
    return found


def _shown(field: Field[Any, Any], value: Any, related: dict[tuple[str, object], str]) -> str:
    if value is None or value == "" or value == []:
        return "nothing"
    if field.remote_field:
        return related.get((field.name, value), str(value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M} UTC"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(dict(field.flatchoices).get(value, value))
