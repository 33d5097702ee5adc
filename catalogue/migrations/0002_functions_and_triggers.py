"""Versions, the read model, review changes, removals, updated_at and outdated insights follow their rows by
triggers.
"""

from django.db import migrations

from framework.db.sql_files import run_sql_files


class Migration(migrations.Migration):
    dependencies = [
        ("catalogue", "0001_initial"),
    ]

    operations = [
        run_sql_files(
            "catalogue",
            "restaurant_document",
            "public_id",
            "api_timestamp",
            "json_members",
            "restaurant_search_row",
            "rank_restaurants",
            "render_locked_restaurants",
            "render_restaurants",
            "version_feed_sequence",
            "unversioned_columns",
            "increment_restaurant_version",
            "forbid_former_slugs",
            "on_restaurant_insert",
            "on_restaurant_update",
            "on_restaurant_delete",
            "render_related_restaurants",
            "insert_review_changes",
            "set_updated_at",
            "touch_landmark",
            "touch_records_on_review_figures",
            "touch_records_on_insight_delete",
            "insert_removals",
            "insert_version_removals",
            "mark_insights_outdated",
            "mark_insights_outdated_by_restaurants",
            "mark_insights_outdated_by_reviews",
            "mark_insights_outdated_by_flow_rules",
            "mark_insights_outdated_by_rows",
        ),
    ]
