"""Claims are proved by listings of our staff only, and our staff lock the replies that they have removed."""

from django.db import migrations, models

# What no owner can have made. A claim that such a listing has verified says so in its method.
MARK_LISTINGS_BY_STAFF = """
UPDATE catalogue_listing SET by_staff = true
WHERE NOT EXISTS (
    SELECT FROM catalogue_restaurantclaim AS claim
    WHERE claim.venue_id = catalogue_listing.venue_id AND claim.method <> 'listing'
)
"""


class Migration(migrations.Migration):
    dependencies = [("catalogue", "0018_claims")]

    operations = [
        migrations.AddField(
            model_name="listing",
            name="by_staff",
            field=models.BooleanField(
                db_default=False,
                default=False,
                editable=False,
                help_text="Made by our staff, which proves a claim; else by the owner of the restaurant",
            ),
        ),
        migrations.RunSQL(MARK_LISTINGS_BY_STAFF, migrations.RunSQL.noop),
        migrations.AddField(
            model_name="review",
            name="reply_locked",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="The owner cannot change or remove the reply, or write another",
            ),
        ),
        migrations.AlterField(
            model_name="review",
            name="keeps_reply",
            field=models.BooleanField(
                db_default=False,
                default=False,
                editable=False,
                help_text="Written or removed by the owner or our staff: imports do not change the reply",
            ),
        ),
    ]
