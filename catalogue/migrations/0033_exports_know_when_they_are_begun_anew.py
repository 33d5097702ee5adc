"""An export that is begun anew has a moment of its own, from which it is given time."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("catalogue", "0032_equal_orders_of_staff_are_one")]
    operations = [
        migrations.AddField(
            model_name="export",
            name="restarted_at",
            field=models.DateTimeField(null=True, blank=True, help_text="When it was last begun anew, having failed"),
        ),
    ]
