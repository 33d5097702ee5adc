"""Uploaded menu files, which are previewed before they are applied."""

from django.db import models

from accounts.models import Venue
from framework.public_ids import new_id


class MenuUpload(models.Model):
    """A parsed file of dishes. It can be applied once."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    venue = models.ForeignKey(Venue, on_delete=models.CASCADE, related_name="menu_uploads", db_index=False)
    file_name = models.CharField(max_length=200)
    content = models.JSONField(help_text="Parsed by orders.menu.csv_format")
    created_at = models.DateTimeField()
    applied_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["venue", "-created_at"], name="menu_upload_newest_of_venue")]

    def __str__(self) -> str:
        return self.file_name
