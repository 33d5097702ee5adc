"""Which record stated a review or a discount, so that an import takes back only what that record had stated.

Both columns are empty in the rows there are, so nothing is rewritten; a review has no key to its record, because that
would need an index on all reviews for a record that is hardly ever deleted.
"""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("catalogue", "0020_spans_carried_over")]
    operations = [
        migrations.AddField(
            model_name="review",
            name="record",
            field=models.CharField(
                blank=True,
                help_text="The source's own id of the restaurant, where an import says it",
                max_length=120,
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="flowrule",
            name="source_record",
            field=models.ForeignKey(
                blank=True,
                editable=False,
                help_text="What stated it; empty: staff",
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="flow_rules",
                to="catalogue.sourcerecord",
            ),
        ),
    ]
