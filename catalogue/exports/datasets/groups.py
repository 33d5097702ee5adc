"""The groups of fields that an export of restaurants may have beside the free ones."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

import psycopg
from django.db import connection
from django.db.models import Case, Q, Value, When

from catalogue.exports.datasets.base import Column, Dataset
from catalogue.exports.datasets.sql_json import an_object, or_null, value, word
from catalogue.field_groups import context, insights
from catalogue.insights import MIN_REVIEWS, stale_condition
from catalogue.insights.pipeline import approval
from catalogue.insights.pipeline.staleness import MAX_AGE
from catalogue.insights.providers.registry import get_provider
from catalogue.models import Export, Insight
from catalogue.search.geocoding import distance


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Fields that are asked for together: what they join to a restaurant, and what they are, as in Dataset.

    `members` are fields of the line in JSON by their names, `changed` the condition that they have changed since.
    """

    members: Mapping[str, str]
    schema: Mapping[str, str]
    columns: tuple[Column, ...]
    joins: str = ""
    changed: str | None = None
    versions: tuple[str, ...] = ()


def added(dataset: Dataset, group: Group) -> Dataset:
    """A dataset with the fields of a group behind its own."""
    return replace(
        dataset,
        rows=f"{dataset.rows} {group.joins}",
        changed=f"{dataset.changed} OR {group.changed}" if group.changed else dataset.changed,
        # Without the brace that closes the one, and the one that opens the other.
        record=f"left({dataset.record}, -1) || ',' || substr({an_object(group.members)}, 2)",
        schema={**dataset.schema, **group.schema},
        columns=(*dataset.columns, *group.columns),
        versions=(*dataset.versions, *group.versions),
    )


# What the row counts: the lines themselves are another dataset.
IS_REVIEWED = "restaurant.star_counts NOT IN ('{}', '{0,0,0,0,0}')"
STARS = {given: f"coalesce(restaurant.star_counts[{given}], 0)" for given in range(5, 0, -1)}
BY_LANG = "coalesce((restaurant.review_facets -> 'by_lang')::text, '{}')"


def facet(name: str) -> str:
    """How many reviews have something."""
    return f"coalesce((restaurant.review_facets ->> '{name}')::integer, 0)"


def reviewed(sql: str) -> str:
    """Null where nobody has written any."""
    return f"CASE WHEN {IS_REVIEWED} THEN {sql} END"


SUMMARY = an_object(
    {
        "rating": or_null("restaurant.rating"),
        "count": "restaurant.review_count",
        "distribution": an_object({str(given): sql for given, sql in STARS.items()}),
        "by_lang": BY_LANG,
        "with_photos": facet("with_photos"),
        "with_reply": facet("with_reply"),
    }
)
REVIEWS = Group(
    members={"reviews": f"coalesce({reviewed(an_object({'summary': SUMMARY}))}, 'null')"},
    schema={"reviews": "object or null"},
    columns=(
        Column("reviews_rating", reviewed("restaurant.rating"), "number or null"),
        Column("reviews_count", reviewed("restaurant.review_count"), "integer or null"),
        *(Column(f"reviews_stars_{given}", reviewed(sql), "integer or null") for given, sql in STARS.items()),
        Column("reviews_by_lang", reviewed(BY_LANG), "string or null", "JSON: how many, by ISO 639-1."),
        Column("reviews_with_photos", reviewed(facet("with_photos")), "integer or null"),
        Column("reviews_with_reply", reviewed(facet("with_reply")), "integer or null"),
    ),
)


# In the circle of the plane that holds the one on the ground, then by the great circle
# (catalogue.search.geocoding.distance).
LAT, LNG = "restaurant.latitude", "restaurant.longitude"
METRES = distance.METRES_SQL.replace("%(lat)s", LAT).replace("%(lng)s", LNG)
STRETCH = f"""{distance.MERCATOR_RADIUS_M / distance.EARTH_RADIUS_M * (1 + 1e-9)}
    / cos(radians(abs({LAT})) + {context.DEFAULT_RADIUS_M / distance.EARTH_RADIUS_M})"""
EAST = f"radians(r.longitude - {LNG})"
BEARING = f"""((round(degrees(atan2(
    sin({EAST}) * cos(radians(r.latitude)),
    cos(radians({LAT})) * sin(radians(r.latitude)) - sin(radians({LAT})) * cos(radians(r.latitude)) * cos({EAST})
)))::integer %% 360) + 360) %% 360"""
ENTRY = an_object(
    {
        "id": word("public_id('lm', near.id)"),
        "name": value("near.name"),
        "kind": value("near.kind"),
        "distance_m": "round(near.metres)",
        "walking_distance_m": f"round(near.metres * {distance.DETOUR_FACTOR})",
        "walking_minutes": f"ceil(near.metres * {distance.DETOUR_FACTOR} / {distance.WALKING_M_PER_MINUTE})",
        "bearing": "near.bearing",
        "wikidata": or_null("near.wikidata"),
        "source": value("near.source_id"),
    }
)
AROUND = f"""LEFT JOIN LATERAL (
    SELECT string_agg({ENTRY}, ',' ORDER BY near.metres, near.id) AS entries FROM (
        SELECT * FROM (
            SELECT r.id, r.name, r.kind, r.wikidata, r.source_id, {METRES} AS metres, {BEARING} AS bearing
            FROM catalogue_landmark AS r
            WHERE r.position <@ circle(restaurant.position, {context.DEFAULT_RADIUS_M} * {STRETCH})
                AND r.kind IN ({", ".join(f"'{kind}'" for kind in context.KINDS)})
        ) AS candidate
        WHERE candidate.metres <= {context.DEFAULT_RADIUS_M}
        ORDER BY candidate.metres, candidate.id LIMIT {context.MAX_ENTRIES}
    ) AS near
) AS around ON true"""  # noqa: S608  # of constants
CONTEXT_RECORD = f"""CASE WHEN around.entries IS NULL THEN 'null' ELSE
    concat('{{"neighborhood":', {or_null("restaurant.neighborhood")}, ',"entries":[', around.entries, ']}}') END"""
CONTEXT = Group(
    members={"context": CONTEXT_RECORD},
    schema={"context": "object or null"},
    columns=(Column("context", f"nullif({CONTEXT_RECORD}, 'null')", "string or null", "JSON: what a walk reaches."),),
    joins=AROUND,
    # Nobody knows where one was that has moved or gone; they seldom do.
    changed="""EXISTS (SELECT FROM catalogue_landmark WHERE updated_at >= %(since)s::timestamptz)
    OR EXISTS (SELECT FROM catalogue_removal WHERE dataset = 'landmarks' AND at >= %(since)s::timestamptz)""",
    versions=(
        "(SELECT landmark.xmin FROM catalogue_landmark AS landmark ORDER BY age(landmark.xmin) LIMIT 1)",
        """(SELECT gone.xmin FROM catalogue_removal AS gone WHERE gone.dataset = 'landmarks'
            ORDER BY age(gone.xmin) LIMIT 1)""",
    ),
)


# As catalogue.field_groups.insights says it.
REASON = f"""CASE
    WHEN told.hidden THEN '{insights.WITHHELD}'
    WHEN restaurant.review_count < {FEWEST_REVIEWS} THEN '{insights.TOO_FEW_REVIEWS}'
    WHEN told.text <> '' THEN CASE WHEN told.is_waiting THEN '{insights.AWAITING_APPROVAL}' END
    WHEN told.restaurant_id IS NULL OR told.failed_at IS NOT NULL THEN '{insights.NOT_WRITTEN_YET}'
    WHEN told.review_count < {FEWEST_REVIEWS} THEN '{insights.TOO_FEW_REVIEWS}'
    ELSE '{insights.NOTHING_TO_SAY}'
END"""
TEXT = f"CASE WHEN {REASON} IS NULL THEN told.text END"
DETAIL = f"""CASE WHEN {REASON} IS NULL THEN (
    jsonb_build_object('summary', told.text, 'languages', jsonb_build_object())
    || told.detail
    || jsonb_build_object(
        'review_count', told.review_count, 'reviews_through', api_timestamp(told.reviews_through),
        'generated_at', api_timestamp(told.generated_at), 'model', concat_ws(
            ' ', nullif(told.provider, ''), nullif(told.provider_version, ''), nullif(told.model, '')),
        'stale', told.stale
    )
)::text END"""
TOLD = (
    *("restaurant_id", "text", "detail", "provider", "provider_version", "model", "review_count", "reviews_through"),
    *("generated_at", "failed_at", "hidden"),
)


def written(export: Export) -> Group:
    """What the reviews say. Whether it is stale is judged at the moment at which the export was asked for, or begun
    anew: every part is of one mind then, whoever writes it and whenever.
    """
    since = export.since_export
    return Group(
        members={
            "ai_insight": or_null(TEXT),
            "ai_insight_detail": f"coalesce({DETAIL}, 'null')",
            "ai_insight_reason": or_null(REASON),
        },
        schema={
            "ai_insight": "string or null",
            "ai_insight_detail": "object or null",
            "ai_insight_reason": "string or null",
        },
        columns=(
            Column("ai_insight", TEXT, "string or null", "What the reviews say."),
            Column("ai_insight_detail", DETAIL, "string or null", "JSON: what each claim rests on."),
            Column("ai_insight_reason", REASON, "string or null", "Why there is none."),
        ),
        joins=f"LEFT JOIN ({_insights(export.asked_at)}) AS told ON told.restaurant_id = restaurant.id",
        changed=f"""restaurant.id IN (
    SELECT restaurant_id FROM catalogue_insight WHERE updated_at >= %(since)s::timestamptz
    OR generated_at BETWEEN '{since.asked_at - MAX_AGE}' AND '{export.asked_at - MAX_AGE}'
)"""  # noqa: S608  # moments
        if since
        else None,
        versions=(
            "(SELECT insight.xmin FROM catalogue_insight AS insight WHERE insight.restaurant_id = restaurant.id)",
        ),
    )


def _insights(moment: datetime) -> str:
    """SELECT all insights, each with whether it is stale, and whether it waits for staff."""
    rows = Insight.objects.order_by().values(
        *TOLD,
        stale=_flag(stale_condition(get_provider(), now=moment, restaurant="restaurant__")),
        is_waiting=_flag(approval.pending_approval()),
    )
    connection.ensure_connection()
    statement = psycopg.ClientCursor(connection.connection).mogrify(*rows.query.sql_with_params())
    # The values are in it already.
    return statement.replace("%", "%%")


def _flag(condition: Q) -> Case:
    return Case(When(condition, then=Value(True)), default=Value(False))
