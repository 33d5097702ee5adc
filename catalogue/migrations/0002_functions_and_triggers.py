"""Versions, the read model, review changes, removals, updated_at and outdated insights follow their rows by triggers."""

from django.db import migrations

from framework.db.sql_files import run_sql_files


class Migration(migrations.Migration):
    dependencies = [
        ("catalogue", "0001_restaurants_reviews_insights_and_exports"),
    ]

    operations = [
        # The names that they had while the first migration defined them.
        migrations.RunSQL(
            "DROP FUNCTION IF EXISTS api_moment, count_restaurant_version, refuse_former_slugs, restaurants_added, restaurants_changed, "
            "restaurants_removed, restaurants_told_of, remember_review_places, note_change, landmark_was_renamed, "
            "figures_were_counted, insights_were_removed, note_removals, note_removed_versions, outdate_insights, "
            "outdate_insights_told_of, review_of_insights_changed, flowrule_of_insights_changed, "
            "restaurant_of_insights_changed CASCADE",
            migrations.RunSQL.noop,
        ),
        run_sql_files(
            "catalogue",
            "restaurant_document",
            "public_id",
            "api_timestamp",
            "json_members",
            "restaurant_record",
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
