from django.contrib.postgres.operations import TrigramExtension
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("orders", "0005_menus_can_be_deleted")]

    operations = [TrigramExtension()]
