import django.db.models.functions.text
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("catalogue", "0006_cuisine_tree"),
    ]

    operations = [
        AddIndexConcurrently(
            model_name="restaurant",
            index=models.Index(
                django.db.models.functions.text.Upper(
                    django.db.models.functions.text.Replace("postal_code", models.Value(" "), models.Value(""))
                ),
                name="restaurant_by_postal_code",
            ),
        ),
        AddIndexConcurrently(
            model_name="searchrow",
            index=models.Index(
                models.Func(
                    models.Func(
                        models.F("line1"),
                        models.Value("\\m[0-9]+[a-z]?\\M"),
                        models.Value(""),
                        models.Value("g"),
                        function="regexp_replace",
                    ),
                    models.Value(" ,"),
                    function="btrim",
                ),
                name="search_by_street",
            ),
        ),
    ]
