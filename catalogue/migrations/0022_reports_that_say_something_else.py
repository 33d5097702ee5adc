"""Reports of one reader that say different things are different reports."""

from django.db import migrations, models
from django.db.models import Q
from django.db.models.functions import MD5


class Migration(migrations.Migration):
    dependencies = [("catalogue", "0021_what_an_import_stated")]

    operations = [
        migrations.RemoveConstraint(model_name="report", name="one_open_report_of_a_kind_and_reporter"),
        migrations.AddConstraint(
            model_name="report",
            constraint=models.UniqueConstraint(
                "restaurant",
                "kind",
                "reporter",
                MD5("text"),
                "same_as",
                condition=Q(state="open"),
                name="the_same_open_report_of_a_reporter_is_one",
                nulls_distinct=False,
            ),
        ),
    ]
