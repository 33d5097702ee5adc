import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0019_webhook_endpoint_grant"),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name="apikey",
            name="added_insert",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="apikey",
            name="changed_update",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="apikey",
            name="removed_delete",
        ),
        migrations.AddField(
            model_name="apikey",
            name="has_data_access",
            field=models.BooleanField(
                db_default=True,
                default=True,
                help_text="May use the data API, which is of the account as a whole: its tier, wallets, payments and exports",
                verbose_name="data service",
            ),
        ),
        migrations.AddField(
            model_name="apikeychange",
            name="has_data_access",
            field=models.BooleanField(
                db_default=True,
                default=True,
                help_text="May use the data API, which is of the account as a whole: its tier, wallets, payments and exports",
                verbose_name="data service",
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="apikey",
            trigger=pgtrigger.compiler.Trigger(
                name="added_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "accounts_apikeychange" ("allowance", "app_id", "created_at", "end", "expires_at", "family", "has_data_access", "id", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "revoked_at", "scopes", "start", "venue_id") VALUES (NEW."allowance", NEW."app_id", NEW."created_at", NEW."end", NEW."expires_at", NEW."family", NEW."has_data_access", NEW."id", NEW."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'added\', NEW."id", NEW."revoked_at", NEW."scopes", NEW."start", NEW."venue_id"); RETURN NULL;',
                    hash="fc5e592a8c55d2b485f008b016043e8747e82ae7",
                    operation="INSERT",
                    pgid="pgtrigger_added_insert_d3b8e",
                    table="accounts_apikey",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="apikey",
            trigger=pgtrigger.compiler.Trigger(
                name="changed_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."allowance" IS DISTINCT FROM (NEW."allowance") OR OLD."app_id" IS DISTINCT FROM (NEW."app_id") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at") OR OLD."end" IS DISTINCT FROM (NEW."end") OR OLD."expires_at" IS DISTINCT FROM (NEW."expires_at") OR OLD."family" IS DISTINCT FROM (NEW."family") OR OLD."has_data_access" IS DISTINCT FROM (NEW."has_data_access") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."name" IS DISTINCT FROM (NEW."name") OR OLD."revoked_at" IS DISTINCT FROM (NEW."revoked_at") OR OLD."scopes" IS DISTINCT FROM (NEW."scopes") OR OLD."start" IS DISTINCT FROM (NEW."start") OR OLD."venue_id" IS DISTINCT FROM (NEW."venue_id"))',
                    func='INSERT INTO "accounts_apikeychange" ("allowance", "app_id", "created_at", "end", "expires_at", "family", "has_data_access", "id", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "revoked_at", "scopes", "start", "venue_id") VALUES (OLD."allowance", OLD."app_id", OLD."created_at", OLD."end", OLD."expires_at", OLD."family", OLD."has_data_access", OLD."id", OLD."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'changed\', OLD."id", OLD."revoked_at", OLD."scopes", OLD."start", OLD."venue_id"); RETURN NULL;',
                    hash="83c72f09fb3fb37703a926b3b669793b06b5b433",
                    operation="UPDATE",
                    pgid="pgtrigger_changed_update_46070",
                    table="accounts_apikey",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="apikey",
            trigger=pgtrigger.compiler.Trigger(
                name="removed_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "accounts_apikeychange" ("allowance", "app_id", "created_at", "end", "expires_at", "family", "has_data_access", "id", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "revoked_at", "scopes", "start", "venue_id") VALUES (OLD."allowance", OLD."app_id", OLD."created_at", OLD."end", OLD."expires_at", OLD."family", OLD."has_data_access", OLD."id", OLD."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'removed\', OLD."id", OLD."revoked_at", OLD."scopes", OLD."start", OLD."venue_id"); RETURN NULL;',
                    hash="2a63361e623caeec574d9a023ee32727dcd7e37f",
                    operation="DELETE",
                    pgid="pgtrigger_removed_delete_d5bea",
                    table="accounts_apikey",
                    when="AFTER",
                ),
            ),
        ),
    ]
