"""An index for `near=Flæsketorvet 100`: the address of a restaurant as a reference point."""

from django.db import migrations, models
from django.db.models import Func


class Migration(migrations.Migration):
    dependencies = [("catalogue", "0002_catalogue")]
    operations = [
        migrations.AddIndex(
            model_name="restaurant",
            index=models.Index(Func("line1", function="fold"), name="restaurant_by_address"),
        ),
    ]
