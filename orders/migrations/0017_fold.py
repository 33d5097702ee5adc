"""The function that folds texts for search: without accents, in lower case."""

from django.contrib.postgres.operations import UnaccentExtension
from django.db import migrations

from framework.db.sql_files import run_sql_files


class Migration(migrations.Migration):
    dependencies = [("orders", "0016_ticket_claims")]

    operations = [UnaccentExtension(), run_sql_files("framework", "fold")]
