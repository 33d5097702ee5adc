import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models

from framework.db.sql_files import run_sql_files


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0018_oauthapp_oauthcode_oauthgrant_oauthtoken_and_more"),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name="webhookendpoint",
            name="added_insert",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="webhookendpoint",
            name="changed_update",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="webhookendpoint",
            name="removed_delete",
        ),
        migrations.AddField(
            model_name="webhookendpoint",
            name="grant",
            field=models.ForeignKey(
                blank=True,
                editable=False,
                help_text="What its app was granted; empty for an endpoint of the restaurant itself",
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="webhook_endpoints",
                to="accounts.oauthgrant",
            ),
        ),
        migrations.AddField(
            model_name="webhookendpointchange",
            name="grant",
            field=models.ForeignKey(
                blank=True,
                db_constraint=False,
                editable=False,
                help_text="What its app was granted; empty for an endpoint of the restaurant itself",
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to="accounts.oauthgrant",
            ),
        ),
        migrations.AlterField(
            model_name="webhookendpoint",
            name="disabled_reason",
            field=models.CharField(
                blank=True,
                choices=[
                    ("staff", "disabled manually"),
                    ("gone", "the server answered 410"),
                    ("failing", "failed for five days"),
                    ("app_ended", "the access of its app ended"),
                ],
                editable=False,
                max_length=10,
                null=True,
            ),
        ),
        migrations.AlterField(
            model_name="webhookendpointchange",
            name="disabled_reason",
            field=models.CharField(
                blank=True,
                choices=[
                    ("staff", "disabled manually"),
                    ("gone", "the server answered 410"),
                    ("failing", "failed for five days"),
                    ("app_ended", "the access of its app ended"),
                ],
                editable=False,
                max_length=10,
                null=True,
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="webhookendpoint",
            trigger=pgtrigger.compiler.Trigger(
                name="added_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "accounts_webhookendpointchange" ("created_at", "description", "disabled_at", "disabled_reason", "grant_id", "id", "old_secret_until", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "types", "url", "venue_id") VALUES (NEW."created_at", NEW."description", NEW."disabled_at", NEW."disabled_reason", NEW."grant_id", NEW."id", NEW."old_secret_until", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'added\', NEW."id", NEW."types", NEW."url", NEW."venue_id"); RETURN NULL;',
                    hash="fe58963fa5442a4cbe4ee49f471b6fd7cc251b06",
                    operation="INSERT",
                    pgid="pgtrigger_added_insert_4128f",
                    table="accounts_webhookendpoint",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="webhookendpoint",
            trigger=pgtrigger.compiler.Trigger(
                name="changed_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."created_at" IS DISTINCT FROM (NEW."created_at") OR OLD."description" IS DISTINCT FROM (NEW."description") OR OLD."disabled_at" IS DISTINCT FROM (NEW."disabled_at") OR OLD."disabled_reason" IS DISTINCT FROM (NEW."disabled_reason") OR OLD."grant_id" IS DISTINCT FROM (NEW."grant_id") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."old_secret_until" IS DISTINCT FROM (NEW."old_secret_until") OR OLD."types" IS DISTINCT FROM (NEW."types") OR OLD."url" IS DISTINCT FROM (NEW."url") OR OLD."venue_id" IS DISTINCT FROM (NEW."venue_id"))',
                    func='INSERT INTO "accounts_webhookendpointchange" ("created_at", "description", "disabled_at", "disabled_reason", "grant_id", "id", "old_secret_until", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "types", "url", "venue_id") VALUES (OLD."created_at", OLD."description", OLD."disabled_at", OLD."disabled_reason", OLD."grant_id", OLD."id", OLD."old_secret_until", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'changed\', OLD."id", OLD."types", OLD."url", OLD."venue_id"); RETURN NULL;',
                    hash="0a3c9159b754651ac40e7d01016b18fefb9fb4ab",
                    operation="UPDATE",
                    pgid="pgtrigger_changed_update_a6617",
                    table="accounts_webhookendpoint",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="webhookendpoint",
            trigger=pgtrigger.compiler.Trigger(
                name="removed_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "accounts_webhookendpointchange" ("created_at", "description", "disabled_at", "disabled_reason", "grant_id", "id", "old_secret_until", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "types", "url", "venue_id") VALUES (OLD."created_at", OLD."description", OLD."disabled_at", OLD."disabled_reason", OLD."grant_id", OLD."id", OLD."old_secret_until", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'removed\', OLD."id", OLD."types", OLD."url", OLD."venue_id"); RETURN NULL;',
                    hash="55d3aa9429c2072acb1dd5e0fe42d84ef85d1143",
                    operation="DELETE",
                    pgid="pgtrigger_removed_delete_523dc",
                    table="accounts_webhookendpoint",
                    when="AFTER",
                ),
            ),
        ),
        run_sql_files("accounts", "disable_endpoints_of_grant", "disable_endpoint_without_grant"),
    ]
