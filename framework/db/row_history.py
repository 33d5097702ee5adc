"""What a row was before each change, written by triggers: `queryset.update` and SQL by hand are caught too.

A table `<Model>Change` stands beside each model that is `kept`. A line of it says what happened (`pgh_label`), when,
who acted (framework.db.actor) and how the row was until then; of a new row it holds how it began.
"""

from collections.abc import Callable
from typing import TypeVar, cast

import pghistory
from django.db.models import Model

M = TypeVar("M", bound=type[Model])

ADDED, CHANGED, REMOVED = "added", "changed", "removed"


def track_history(*, without: tuple[str, ...] = ()) -> Callable[[M], M]:
    """Keep the history of a model's rows, but of the columns `without`: a change of these alone is none.

    Name there what is secret, and what changes with each use.
    """

    def decorate(model: M) -> M:
        track = pghistory.track(
            pghistory.InsertEvent(ADDED),
            pghistory.UpdateEvent(CHANGED, row=pghistory.Old),
            pghistory.DeleteEvent(REMOVED),
            exclude=list(without),
            # The line outlives its row, and says in itself who acted: no row of a context has to be looked up.
            obj_field=pghistory.ObjForeignKey(related_name="+", related_query_name="+"),
            context_field=pghistory.ContextJSONField(),
            context_id_field=None,  # type: ignore[arg-type]  # what its documentation says for none
            model_name=f"{model.__name__}Change",
        )
        return cast("M", track(model))

    return decorate
