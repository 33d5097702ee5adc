"""The catalogue's pages of the admin."""

from types import SimpleNamespace
from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.admin import ModelAdmin
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.test.utils import CaptureQueriesContext

import tests.support.builders
from accounts.templatetags.back_office import row_count
from catalogue.hours import open_intervals
from catalogue.models import (
    Deposit,
    FlowRule,
    ImportRun,
    Landmark,
    LandmarkName,
    MatchCandidate,
    Report,
    Restaurant,
    Review,
    SearchRow,
)
from catalogue.moderation import reports
from catalogue.offers import booking
from framework.admin.large_tables import EstimatedPaginator
from tests.catalogue import builders
from tests.catalogue.builders import NOW
from tests.catalogue.claims.claim_builders import claimed
from tests.catalogue.exports import export_builders
from tests.catalogue.html import address, change
from tests.payments import ledger_builders

pytestmark = pytest.mark.django_db

# Session and user are the first two.
BUDGET = 15
# The database writes these by itself, and an insight's page shows who asked for it.
UNSEEN = {"InsightDemand", "Kitchen", "NeighborhoodChange", "Record", "Removal", "ReviewChange", "SearchRow"}
CATALOGUE: list[type[Model]] = [
    model for model in apps.get_app_config("catalogue").get_models() if model.__name__ not in UNSEEN
]


@pytest.fixture
def staff() -> Client:
    """A superuser who is signed in."""
    return tests.support.builders.staff()


@pytest.fixture
def place() -> Restaurant:
    """A restaurant with everything that hangs on it, and a row of each other table."""
    made = builders.restaurant(
        slug="kodbyens-fiskebar", name="Kødbyens Fiskebar", hours=builders.week("17:30", "23:00"), rating="4.5"
    )
    open_intervals.refresh_open_intervals(now=NOW)
    record = builders.listed(made)
    builders.rule(made, weekdays=[4, 0])
    listing = builders.listing(made)
    claimed(made, listing.venue)
    booked = booking.book_offer(
        builders.slot(made).pk, party_size=2, customer_name="Ada", customer_email="ada@example.com", now=NOW
    )
    Deposit.objects.create(booking=booked, payment=ledger_builders.payment())
    builders.landmark("Tivoli Gardens", "Tivoli", market="copenhagen")
    Review.objects.create(restaurant=made, stars=5, author="Ada", source=record.source, created_at=NOW)
    builders.insight(made)
    made.insight_calls.create(provider="openai", model="small", cost_usd="0.01", started_at=NOW)
    builders.photo(made)
    made.photo_imports.create(
        source=record.source, url="https://kodbyens.example/1.jpg", alt="The bar", next_try_at=NOW, created_at=NOW
    )
    reports.file_report(made.slug, kind="closed", reporter="f" * 64, now=NOW)
    ImportRun.objects.create(source=record.source, file="cph.geojson", started_at=NOW)
    export_builders.create_running()
    builders.attribute()
    builders.holiday(made.market, NOW.date())
    made.refresh_from_db()
    return made


@pytest.fixture
def twin(place: Restaurant) -> Restaurant:
    """Another one that may be the same, and was called otherwise once."""
    made = builders.restaurant(slug="fiskebar", status="permanently_closed")
    made.slug = "fiskebaren"
    made.save(update_fields=["slug"])
    first, second = sorted([place.pk, made.pk])
    MatchCandidate.objects.create(first_id=first, second_id=second, score=0.5, found_at=NOW)
    return made


def page(staff: Client, address: str, **parameters: str) -> str:
    """A page that is served within the budget."""
    with CaptureQueriesContext(connection) as queries:
        response = staff.get(address, parameters)
    assert response.status_code == 200, address
    assert len(queries) <= BUDGET, [query["sql"][:200] for query in queries.captured_queries]
    return response.content.decode()


def test_every_model_is_registered() -> None:
    assert [model.__name__ for model in CATALOGUE if not admin.site.is_registered(model)] == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("model", CATALOGUE)
def test_lists_searches_and_forms_open_within_the_budget(
    staff: Client, place: Restaurant, twin: Restaurant, model: type[Model]
) -> None:
    row = model._default_manager.first()
    assert row is not None
    assert str(row) in page(staff, address(model, "change", row.pk)).replace("&#x27;", "'")
    page(staff, address(model, "changelist"))
    page(staff, address(model, "changelist"), q="kodbyens-fiskebar")
    registered: ModelAdmin[Any] = admin.site.get_model_admin(model)
    if registered.has_add_permission(staff.get("/admin/").wsgi_request):
        page(staff, address(model, "add"))


@pytest.mark.exhaustive
def test_a_list_costs_the_same_however_long_it_is(staff: Client, place: Restaurant) -> None:
    with CaptureQueriesContext(connection) as few:
        staff.get(address(Restaurant, "changelist"))
    for _ in range(20):
        builders.listed(builders.restaurant())
    with CaptureQueriesContext(connection) as many:
        staff.get(address(Restaurant, "changelist"))
    assert len(many) == len(few)


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("model", "q", "hits"),
    [
        (Restaurant, "fiskebar", 1),
        (Restaurant, "KODBYENS", 1),
        (Restaurant, "kodbyens-fiskebar", 1),
        (Restaurant, "100%", 0),
        (Landmark, "tivoli", 1),
        (Landmark, "gard", 1),
        (LandmarkName, "tiv", 2),
        (Review, "kodbyens-fiskebar", 1),
        (Review, "kodbyens", 1),
        (Restaurant, "%", 0),
        (Restaurant, "ko", 0),
        (FlowRule, "kodbyens-fiskebar", 1),
    ],
)
def test_a_search_finds_what_was_typed(
    staff: Client, place: Restaurant, model: type[Model], q: str, hits: int
) -> None:
    response = staff.get(address(model, "changelist"), {"q": q})
    assert response.context["cl"].result_count == hits


@pytest.mark.exhaustive
def test_hours_are_shown_in_lines(staff: Client, place: Restaurant) -> None:
    assert "Every day 17:30-23:00" in page(staff, address(Restaurant, "change", place.pk))


@pytest.mark.exhaustive
def test_new_hours_mark_the_open_intervals_as_missing(staff: Client, place: Restaurant) -> None:
    hours = '{"timezone": "Europe/Copenhagen", "periods": [], "special_days": [], "known": true}'
    assert SearchRow.objects.get(pk=place.pk).intervals_until is not None
    assert change(staff, place, hours=hours).status_code == 302
    assert SearchRow.objects.get(pk=place.pk).intervals_until is None
    assert Restaurant.objects.get().version == 2
    open_intervals.refresh_open_intervals(now=NOW)
    assert SearchRow.objects.get(pk=place.pk).open_intervals == []


@pytest.mark.exhaustive
def test_a_change_of_the_name_leaves_the_open_intervals(staff: Client, place: Restaurant) -> None:
    until = SearchRow.objects.get(pk=place.pk).intervals_until
    assert change(staff, place, name="Fiskebaren").status_code == 302
    place.refresh_from_db()
    assert (place.name, place.version) == ("Fiskebaren", 2)
    assert SearchRow.objects.get(pk=place.pk).intervals_until == until is not None


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("hours", '{"timezone": "Nowhere"}', "Invalid opening hours"),
        ("hours", '["18:00"]', "Invalid opening hours"),
        ("cuisines", "seafood,unheard-of", "No such cuisine: unheard-of."),
        ("slug", "Capital", "restaurant_slug_is_lowercase"),
        ("phone", "12 34", "restaurant_phone_is_e164"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_changed(
    staff: Client, place: Restaurant, field: str, value: str, words: str
) -> None:
    response = change(staff, place, **{field: value})
    assert response.status_code == 200
    assert words in response.content.decode()
    place.refresh_from_db()
    assert place.version == 1


def test_a_restaurant_can_be_added(staff: Client, place: Restaurant) -> None:
    form = {
        "name": "New",
        "slug": "new",
        "status": "open",
        "market": "copenhagen",
        "country": "DK",
        "attributes": "{}",
        "external_ids": "{}",
    }
    for prefix in ("flow_rules", "source_records"):
        form |= {f"{prefix}-TOTAL_FORMS": "0", f"{prefix}-INITIAL_FORMS": "0"}
    assert staff.post(address(Restaurant, "add"), form).status_code == 302
    added = Restaurant.objects.get(slug="new")
    assert (added.version, added.created_at) == (1, added.updated_at)


def test_marking_as_closed_asks_first_and_takes_it_off_the_lists(staff: Client, place: Restaurant) -> None:
    other = builders.restaurant(status="permanently_closed")
    form = {"action": "close_permanently", "_selected_action": [str(place.pk), str(other.pk)]}

    requested = staff.post(address(Restaurant, "changelist"), form)
    assert requested.status_code == 200
    assert "1 restaurant will be marked as permanently closed" in requested.content.decode()
    place.refresh_from_db()
    assert place.status == "open"

    assert staff.post(address(Restaurant, "changelist"), {**form, "confirmed": "Yes"}).status_code == 302
    place.refresh_from_db()
    assert (place.status, place.version) == ("permanently_closed", 2)
    assert not SearchRow.objects.filter(pk=place.pk).exists()
    assert place.locked_fields == ["status"]
    other.refresh_from_db()
    assert other.version == 1


def test_what_importers_write_is_for_reading_only(staff: Client, place: Restaurant) -> None:
    run = ImportRun.objects.get()
    assert staff.post(address(ImportRun, "change", run.pk), {"file": "x"}).status_code == 403
    assert staff.get(address(ImportRun, "add")).status_code == 403
    assert staff.post(address(ImportRun, "delete", run.pk), {"post": "yes"}).status_code == 403
    assert staff.post(address(Restaurant, "delete", place.pk), {"post": "yes"}).status_code == 403
    assert Restaurant.objects.count() == 1


def test_a_run_of_an_importer_tells_its_rows_in_one_line(staff: Client, place: Restaurant) -> None:
    ImportRun.objects.update(read=5_000, created=4_000, changed=12, rejected=3, unchanged=0, skipped=0)
    text = "5,000 read: 4,000 created, 12 changed, 3 rejected"
    assert text in page(staff, address(ImportRun, "changelist"))


def test_an_empty_list_says_what_fills_it(staff: Client) -> None:
    assert "<h2>No reports yet</h2><p>POST /v1/restaurants/{slug}/reports creates reports.</p>" in page(
        staff, address(Report, "changelist")
    )


def test_the_list_says_how_many_restaurants_there_are_and_where(staff: Client, place: Restaurant) -> None:
    Restaurant.objects.filter(pk=place.pk).update(status=Restaurant.Status.TEMPORARILY_CLOSED)
    listed = page(staff, address(Restaurant, "changelist"))
    number = Restaurant.objects.count()
    assert f'<h1>Restaurants <span class="count">{number}</span></h1>' in listed
    # In the row and in the filter.
    assert listed.count("Temporarily closed") == 2
    assert "Temporarily Closed" not in listed


def test_of_a_long_table_the_rows_are_estimated_and_the_pages_bounded() -> None:
    with connection.cursor() as cursor:
        cursor.execute("UPDATE pg_class SET reltuples = 7500000 WHERE oid = 'catalogue_review'::regclass")
    whole = EstimatedPaginator(Review.objects.order_by("-pk"), 50)
    assert (whole.count, whole.num_pages) == (7_500_000, 200)
    assert EstimatedPaginator(Review.objects.filter(stars=5).order_by("-pk"), 50).count == 0


@pytest.mark.parametrize(
    ("number", "shown"), [(1_951, "1,951"), (10_001, "over 10,000"), (7_500_000, "about 7,500,000")]
)
def test_the_number_of_rows_says_whether_it_is_exact(number: int, shown: str) -> None:
    assert row_count(SimpleNamespace(result_count=number)) == shown  # type: ignore[arg-type]
