"""Files of menus that were uploaded and are looked at before they count."""

from django.db import models

from accounts.models import Venue
from framework.public_ids import new_id


class MenuUpload(models.Model):
    """A file of dishes as it was read; it changes nothing until it is applied, once."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    venue = models.ForeignKey(Venue, on_delete=models.CASCADE, related_name="menu_uploads", db_index=False)
    file_name = models.CharField(max_length=200)
    content = models.JSONField(help_text="What orders.menu.csv_format read")
    created_at = models.DateTimeField()
    applied_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["venue", "-created_at"], name="menu_upload_newest_of_venue")]

    def __str__(self) -> str:
        return self.file_name
