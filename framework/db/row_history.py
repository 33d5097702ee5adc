"""Row history, written by triggers, so that `queryset.update` and SQL by hand are recorded too.

A table `<Model>Change` stands beside each model with `track_history`. A row of it says what happened (`pgh_label`),
when, who acted (framework.db.actor) and how the row was before; for an added row, how it was inserted.
"""

from collections.abc import Callable
from typing import TypeVar, cast

import pghistory
from django.db.models import Model

M = TypeVar("M", bound=type[Model])

ADDED, CHANGED, REMOVED = "added", "changed", "removed"


def track_history(*, exclude: tuple[str, ...] = ()) -> Callable[[M], M]:
    """Record each change of a model's rows, except changes of the columns `exclude` alone.

    Exclude secrets, and columns that change with each use.
    """

    def decorate(model: M) -> M:
        track = pghistory.track(
            pghistory.InsertEvent(ADDED),
            pghistory.UpdateEvent(CHANGED, row=pghistory.Old),
            pghistory.DeleteEvent(REMOVED),
            exclude=list(exclude),
            # The record outlives its row and holds the actor itself, so that no context row is looked up.
            obj_field=pghistory.ObjForeignKey(related_name="+", related_query_name="+"),
            context_field=pghistory.ContextJSONField(),
            context_id_field=None,  # type: ignore[arg-type]  # documented for "no context id"
            model_name=f"{model.__name__}Change",
        )
        return cast("M", track(model))

    return decorate
