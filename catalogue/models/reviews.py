"""Reviews of restaurants."""

from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now, Round

from catalogue.models.reference_data import Source
from catalogue.models.restaurants import Restaurant
from framework.public_ids import new_id


class Review(models.Model):
    """A review with stars and text, and the owner's reply if there is one."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    restaurant = models.ForeignKey(Restaurant, on_delete=models.CASCADE, related_name="reviews", db_index=False)
    stars = models.IntegerField()
    rating = models.DecimalField(
        max_digits=2,
        decimal_places=1,
        null=True,
        blank=True,
        help_text="The exact stars if they are not a whole number: 3.5, with stars rounded to 4",
    )
    text = models.TextField(blank=True)
    lang = models.CharField(max_length=8, blank=True, help_text="ISO 639-1")
    author = models.CharField(max_length=120)
    visited_on = models.DateField(null=True, blank=True)
    helpful_count = models.PositiveIntegerField(default=0)
    photo_count = models.PositiveSmallIntegerField(default=0, db_default=0)
    owner_reply = models.TextField(null=True, blank=True)
    owner_replied_at = models.DateTimeField(null=True, blank=True)
    keeps_reply = models.BooleanField(
        default=False,
        db_default=False,
        editable=False,
        help_text="Written or removed by the owner or our staff: imports do not change the reply",
    )
    reply_locked = models.BooleanField(
        default=False, db_default=False, help_text="The owner cannot change or remove the reply, or write another"
    )
    source = models.ForeignKey(Source, on_delete=models.PROTECT, related_name="+", db_index=False)
    record = models.CharField(
        max_length=120,
        null=True,
        blank=True,
        help_text="The source's own id of the restaurant, where an import says it",
    )
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField(db_default=Now(), editable=False, help_text="Set by a trigger")

    class Meta:
        constraints = [
            models.CheckConstraint(name="review_stars_in_1_to_5", condition=Q(stars__range=(1, 5))),
            models.CheckConstraint(
                name="review_rating_rounds_to_stars",
                condition=Q(rating__isnull=True) | Q(rating__range=(1, 5), stars=Round(F("rating"))),
            ),
            models.CheckConstraint(
                name="review_reply_requires_timestamp",
                condition=Q(owner_reply__isnull=True, owner_replied_at__isnull=True)
                | Q(owner_reply__isnull=False, owner_replied_at__isnull=False),
            ),
        ]
        indexes = [
            models.Index(fields=["restaurant", "-created_at", "-id"], name="review_newest_of_restaurant"),
            # The order of the back office.
            models.Index(fields=["created_at"], name="review_newest"),
            # A B-tree index would double the cost of an update.
            BrinIndex(fields=["updated_at"], name="review_by_update", autosummarize=True),
        ]

    def __str__(self) -> str:
        return f"{self.stars} stars by {self.author}"


class ReviewChange(models.Model):
    """What the place of a review in a list followed from before it was changed, for walks that began before.

    A trigger writes these (catalogue/sql/insert_review_changes.sql); catalogue.reviews.aggregates removes them when
    no cursor is as old any more.
    """

    id = models.BigAutoField(primary_key=True)
    restaurant = models.UUIDField()
    review = models.UUIDField()
    stars = models.IntegerField()
    length = models.IntegerField(help_text="Of the text, in characters")
    helpful_count = models.IntegerField()
    photo_count = models.IntegerField()
    transaction = models.BigIntegerField(help_text="Of the database: which walks have seen the change")
    at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["restaurant"], name="review_change_of_restaurant")]

    def __str__(self) -> str:
        return str(self.review)
