"""What our staff keep in the back office: saved filters, and who works on which row of a queue."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db import models
from django.db.models.functions import Cast

from accounts.models.users import User
from framework.public_ids import new_id


class SavedFilter(models.Model):
    """The filters, the search and the order of a list of the back office, under a name."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="saved_filters", db_index=False)
    list_name = models.CharField(max_length=100, help_text="App and model: orders_order")
    name = models.CharField(max_length=60)
    query = models.CharField(max_length=2000, blank=True)
    is_shared = models.BooleanField(default=False)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "list_name", "name"], name="saved_filter_has_its_own_name"),
        ]

    def __str__(self) -> str:
        return self.name


class Assignments(models.QuerySet["Assignment"]):
    """Changes the assignees of rows by their keys; a row has at most one assignee, by a unique constraint."""

    def of_model(self, model: type[models.Model]) -> "Assignments":
        """Those of active users: rows of others have no assignee."""
        return self.filter(queue=model._meta.label_lower, user__is_active=True)

    def subquery_of_keys(self, model: type[models.Model]) -> models.QuerySet[Any]:
        """The primary keys of the assigned rows, as a subquery of the type of the model's key."""
        key: Any = model._meta.pk
        key = getattr(key, "target_field", key)
        return self.of_model(model).values(key=Cast("object_id", type(key)()))

    def take(self, model: type[models.Model], keys: Iterable[Any], *, user: User, now: datetime) -> int:
        """Assign the rows that have no assignee to the user. Returns how many of the rows are theirs now."""
        rows = _build(model, keys, user, now)
        ids = [row.object_id for row in rows]
        self.filter(queue=model._meta.label_lower, object_id__in=ids, user__is_active=False).delete()
        self.bulk_create(rows, ignore_conflicts=True)
        return self.of_model(model).filter(object_id__in=ids, user=user).count()

    def assign(self, model: type[models.Model], keys: Iterable[Any], *, user: User, now: datetime) -> int:
        """Assign the rows to the user, whoever had them."""
        rows = _build(model, keys, user, now)
        self.bulk_create(
            rows,
            update_conflicts=True,
            unique_fields=["queue", "object_id"],
            update_fields=["user", "assigned_at"],
        )
        return len(rows)

    def release(self, model: type[models.Model], keys: Iterable[Any], *, user: User) -> int:
        """End the user's own assignments of the rows. Returns how many there were."""
        return self.of_model(model).filter(object_id__in=[str(key) for key in keys], user=user).delete()[0]

    def end(self, model: type[models.Model], keys: Iterable[Any]) -> None:
        """Delete the assignments of rows that have been decided, whoever had them."""
        self.filter(queue=model._meta.label_lower, object_id__in=[str(key) for key in keys]).delete()

    def emails(self, model: type[models.Model], keys: Iterable[Any]) -> Mapping[str, str]:
        """The assignees of these rows by key, as text. One query."""
        rows = self.of_model(model).filter(object_id__in=[str(key) for key in keys])
        return dict(rows.values_list("object_id", "user__email"))


class Assignment(models.Model):
    """A row of a queue that a user of our staff works on. A decision about the row deletes it."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    queue = models.CharField(max_length=100, help_text="The model of the row: catalogue.report")
    object_id = models.CharField(max_length=64, help_text="The primary key of the row, as text")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="assignments", db_index=False)
    assigned_at = models.DateTimeField()

    objects = Assignments.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["queue", "object_id"], name="assignment_has_one_assignee")]
        indexes = [models.Index(fields=["user", "queue"], name="assignment_of_user")]

    def __str__(self) -> str:
        return f"{self.queue} {self.object_id}"


def _build(model: type[models.Model], keys: Iterable[Any], user: User, now: datetime) -> list[Assignment]:
    """The rows to insert, in one order, so that two statements do not deadlock."""
    ids = sorted({str(key) for key in keys})
    return [Assignment(queue=model._meta.label_lower, object_id=each, user=user, assigned_at=now) for each in ids]
