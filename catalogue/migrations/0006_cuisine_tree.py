import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("catalogue", "0005_photo_imports"),
    ]

    operations = [
        migrations.AddField(
            model_name="cuisine",
            name="parent",
            field=models.ForeignKey(
                blank=True,
                db_constraint=False,
                db_index=False,
                help_text="The more general cuisine, whose searches find this one too: japanese for sushi",
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="children",
                to="catalogue.cuisine",
            ),
        ),
        migrations.AddField(
            model_name="cuisine",
            name="synonyms",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=80),
                blank=True,
                db_default=[],
                default=list,
                help_text="Other words for it in searches, in any language, separated by commas: hamburger, smash burger",
                size=None,
            ),
        ),
    ]
