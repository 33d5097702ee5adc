"""The look of a venue's booking page."""

from django.db import models
from django.db.models import F, Q

from accounts.models import Venue
from framework.public_ids import new_id


class BrandingImage(models.Model):
    """The files of a logo or photo. The row exists before the files and until they are deleted (decision 76)."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"Image of {self.created_at:%Y-%m-%d %H:%M}"


class Branding(models.Model):
    """Colour, logo and photo of the pages that a venue's guests see."""

    venue = models.OneToOneField(Venue, on_delete=models.CASCADE, primary_key=True, related_name="branding")
    color = models.CharField(max_length=7, blank=True, default="", db_default="", help_text="#rrggbb; empty: ours")
    logo = models.OneToOneField(
        BrandingImage, on_delete=models.PROTECT, null=True, blank=True, editable=False, related_name="logo_of"
    )
    photo = models.OneToOneField(
        BrandingImage, on_delete=models.PROTECT, null=True, blank=True, editable=False, related_name="photo_of"
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="branding_color_is_hexadecimal", condition=Q(color="") | Q(color__regex="^#[0-9a-f]{6}$")
            ),
            models.CheckConstraint(name="branding_logo_is_not_the_photo", condition=~Q(logo=F("photo"))),
        ]

    def __str__(self) -> str:
        return f"Branding of {self.pk}"
