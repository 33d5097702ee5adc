"""Photos of restaurants and dishes, and those that an import has listed."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from catalogue.models.reference_data import Source
from catalogue.models.restaurants import Restaurant
from catalogue.models.reviews import Review
from framework.public_ids import new_id


class Photo(models.Model):
    """A photo: a file in the storage or, for generated restaurants, a card that is drawn from a seed."""

    class Kind(models.TextChoices):
        FOOD = "food"
        DRINK = "drink"
        INTERIOR = "interior"
        EXTERIOR = "exterior"
        MENU = "menu"
        OTHER = "other"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    restaurant = models.ForeignKey(Restaurant, on_delete=models.CASCADE, db_index=False, related_name="photos")
    review = models.ForeignKey(
        Review, on_delete=models.CASCADE, null=True, blank=True, db_index=False, related_name="photos"
    )
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.FOOD)
    caption = models.CharField(max_length=300, null=True, blank=True)
    alt = models.CharField(max_length=300, blank=True, help_text="What the photo shows, for screen readers")
    author = models.CharField(max_length=120, null=True, blank=True)
    license = models.CharField(max_length=60, help_text="SPDX identifier")
    source = models.ForeignKey(Source, on_delete=models.PROTECT, related_name="+", db_index=False)
    width = models.PositiveIntegerField(help_text="Pixels")
    height = models.PositiveIntegerField(help_text="Pixels")
    file = models.CharField(max_length=200, blank=True, help_text="Name in the storage")
    card_seed = models.BigIntegerField(
        null=True, blank=True, editable=False, help_text="The card of a generated photo is drawn from it"
    )
    is_hidden = models.BooleanField("hidden", default=False, help_text="Not shown")
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField(db_default=Now(), editable=False, help_text="Set by a trigger")

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="photo_file_xor_card_seed",
                condition=Q(file="", card_seed__isnull=False) | (~Q(file="") & Q(card_seed__isnull=True)),
            ),
            models.CheckConstraint(name="photo_size_positive", condition=Q(width__gte=1, height__gte=1)),
        ]
        indexes = [
            models.Index(fields=["restaurant", "-created_at", "-id"], name="photo_newest_of_restaurant"),
            models.Index(fields=["review"], name="photo_of_review", condition=Q(review__isnull=False)),
        ]

    def __str__(self) -> str:
        return self.caption or self.alt or str(self.pk)


class PhotoImport(models.Model):
    """A photo that a source lists for a restaurant: a worker downloads it once (catalogue.photos.downloads)."""

    class State(models.TextChoices):
        PENDING = "pending"
        DONE = "done"
        FAILED = "failed"

    restaurant = models.ForeignKey(Restaurant, on_delete=models.CASCADE, db_index=False, related_name="photo_imports")
    source = models.ForeignKey(Source, on_delete=models.PROTECT, related_name="+", db_index=False)
    record = models.CharField(max_length=200, help_text="Of the source")
    url = models.CharField(max_length=500)
    kind = models.CharField(max_length=10, choices=Photo.Kind, default=Photo.Kind.FOOD)
    caption = models.CharField(max_length=300, null=True, blank=True)
    alt = models.CharField(max_length=300)
    author = models.CharField(max_length=120, null=True, blank=True)
    license = models.CharField(max_length=60, help_text="SPDX identifier")
    photo = models.OneToOneField(
        Photo, on_delete=models.SET_NULL, null=True, blank=True, related_name="photo_import", help_text="Once stored"
    )
    state = models.CharField(max_length=10, choices=State, default=State.PENDING)
    tries = models.PositiveSmallIntegerField(default=0)
    next_try_at = models.DateTimeField()
    error = models.CharField(max_length=300, blank=True, help_text="Of the last try")
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["restaurant", "url"], name="unique_photo_import_url")]
        indexes = [
            models.Index(fields=["next_try_at", "id"], name="photo_import_due", condition=Q(state="pending")),
            models.Index(fields=["state", "-id"], name="photo_import_newest_of_state"),
        ]

    def __str__(self) -> str:
        return self.url
