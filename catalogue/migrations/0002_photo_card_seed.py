from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("catalogue", "0001_restaurants_reviews_insights_and_exports")]

    operations = [
        migrations.RemoveConstraint("photo", "a_photo_has_a_file_or_is_painted"),
        migrations.RenameField("photo", "art", "card_seed"),
        migrations.AlterField(
            "photo",
            "card_seed",
            models.BigIntegerField(
                blank=True, editable=False, help_text="The card of a generated photo is drawn from it", null=True
            ),
        ),
        migrations.AlterField(
            "photo",
            "alt",
            models.CharField(blank=True, help_text="What the photo shows, for screen readers", max_length=300),
        ),
        migrations.AlterField(
            "photo", "file", models.CharField(blank=True, help_text="Name in the storage", max_length=200)
        ),
        migrations.AddConstraint(
            "photo",
            models.CheckConstraint(
                condition=Q(("card_seed__isnull", False), ("file", ""))
                | Q(~Q(("file", "")), ("card_seed__isnull", True)),
                name="photo_has_either_file_or_card_seed",
            ),
        ),
    ]
