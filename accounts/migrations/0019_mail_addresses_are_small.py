"""Mail addresses of users in small letters: by them they are found when somebody signs in."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("accounts", "0018_our_staff_have_roles")]

    operations = [
        # One address in any case is one user's already.
        migrations.RunSQL(
            "UPDATE accounts_user SET email = lower(email) WHERE email <> lower(email)", migrations.RunSQL.noop
        ),
    ]
