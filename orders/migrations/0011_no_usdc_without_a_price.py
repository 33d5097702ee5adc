"""Switch the setting for USDC off: no page showed it, and it needs a price from the next migration on."""

from django.db import migrations


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("orders", "0010_menu_sold_out_until_and_translations")]

    operations = [
        migrations.RunSQL(
            "UPDATE orders_orderingsettings SET takes_usdc = false WHERE takes_usdc", migrations.RunSQL.noop
        )
    ]
