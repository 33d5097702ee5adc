"""The change history of a row in the back office: fields, old and new values, time and actor."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from operator import itemgetter
from typing import Any, ClassVar

from django.db.models import Field, Model
from django.http import HttpRequest, HttpResponse
from pghistory.core import event_models

from framework.admin.large_tables import BoundedActions
from framework.db.row_history import CHANGED

# The newest changes of each kind of row that are listed.
MAX_CHANGES = 100


class RowHistoryAdmin(BoundedActions):
    """Adds the changes that the triggers of framework.db.row_history recorded to the History page.

    `related_history` lists related models without an own page: the model, and the column that references this row.
    """

    object_history_template = "admin/row_history.html"
    related_history: ClassVar[Sequence[tuple[type[Model], str]]] = ()

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Render the page. Two queries for each kind of row, and one for each model that their fields reference."""
        row = self.get_object(request, object_id)
        if row:
            tables = [(type(row), "pgh_obj_id"), *self.related_history]
            changes = [change for model, column in tables for change in list_changes(model, column, row.pk)]
            changes.sort(key=itemgetter("at"), reverse=True)
            extra_context = {"changes": changes, "max_changes": MAX_CHANGES, **(extra_context or {})}
        return super().history_view(request, object_id, extra_context)


def list_changes(model: type[Model], column: str, key: object) -> Iterator[dict[str, Any]]:
    """Yield the changes of the model's rows with this key in the column, each with the fields that differ."""
    history: Any = next(iter(event_models(tracks_model=model)), None)
    if history is None:
        return
    lines = list(history.objects.filter(**{column: key}).order_by("-pgh_id")[:MAX_CHANGES])
    # Read backwards: the new value of a change is the old value of the next one, or the current value for the last.
    newer: dict[object, Any] = dict(model._default_manager.in_bulk({line.pgh_obj_id for line in lines}))
    pairs = []
    for line in lines:
        pairs.append((line, newer.get(line.pgh_obj_id)))
        newer[line.pgh_obj_id] = line
    columns = {field.name for field in history._meta.concrete_fields}
    fields = [field for field in model._meta.concrete_fields if field.name in columns]
    related = _fetch_related_names(fields, pairs)
    for line, after in pairs:
        differences = [
            {
                "label": field.verbose_name,
                "old": _format_value(field, getattr(line, field.attname), related),
                "new": _format_value(field, getattr(after, field.attname), related),
            }
            for field in (fields if line.pgh_label == CHANGED and after is not None else ())
            if getattr(line, field.attname) != getattr(after, field.attname)
        ]
        is_related = column != "pgh_obj_id"
        yield {
            "at": line.pgh_created_at,
            "actor": (line.pgh_context or {}).get("actor") or "system",
            "label": line.pgh_label,
            "row_name": f"{model._meta.verbose_name} {getattr(line, 'name', '')}".strip() if is_related else "",
            "differences": differences,
        }


def _fetch_related_names(
    fields: Sequence[Field[Any, Any]], pairs: Sequence[tuple[Any, Any]]
) -> dict[tuple[str, object], str]:
    """Return the display names of the rows that foreign keys reference."""
    found: dict[tuple[str, object], str] = {}
    for field in fields:
        if field.remote_field:
            keys = {getattr(row, field.attname) for pair in pairs for row in pair if row is not None} - {None}
            rows: Any = field.remote_field.model
            found |= {(field.name, key): str(row) for key, row in rows._default_manager.in_bulk(keys).items()}
    return found


def _format_value(field: Field[Any, Any], value: Any, related: dict[tuple[str, object], str]) -> str:
    if value is None or value == "" or value == []:
        return "empty"
    if field.remote_field:
        return related.get((field.name, value), str(value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M} UTC"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(dict(field.flatchoices).get(value, value))
