"""Menus from files: shown first, applied as one, and written so that they come back."""

from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from threading import Barrier
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Event, Venue
from orders.menu import csv_format, import_file
from orders.menu.item_changes import change_items
from orders.models import Allergen, Menu, MenuItem, MenuUpload
from tests.support import builders, users

HEADER = "id,name,category,price,tax_percent,description,available\n"


def root(venue: Venue) -> str:
    """Where the menu is."""
    return f"/dashboard/{venue.public_id}/menu"


def text(response: Any) -> str:
    """The page."""
    content: str = response.content.decode()
    return content


def send(client: Client, venue: Venue, content: str | bytes) -> Any:
    """Upload a file; the page that follows."""
    raw = content.encode() if isinstance(content, str) else content
    return client.post(f"{root(venue)}/upload", {"file": SimpleUploadedFile("menu.csv", raw)}, follow=True)


def planned(venue: Venue, content: str) -> import_file.Plan:
    """What a file would do."""
    return import_file.plan_import(venue, csv_format.read(content.encode()))


def faults(venue: Venue, *lines: str, header: str = HEADER) -> list[tuple[int, str, str]]:
    """What is wrong with a file of these lines."""
    found = planned(venue, header + "\n".join(lines)).errors
    return [(fault.line, fault.column, fault.message) for fault in found]


@pytest.fixture
def manager(venue: Venue) -> Client:
    """Somebody who writes the menu."""
    return users.member(venue, "manager")


def rows(venue: Venue) -> list[tuple[Any, ...]]:
    """What is on the menu, in its order."""
    menu = Menu.objects.filter(venue=venue).first()
    return [tuple(import_file.format_item(item, venue.currency).values()) for item in import_file.list_items(menu)]


@pytest.mark.exhaustive
def test_a_file_is_shown_first_and_then_applied(manager: Client, venue: Venue) -> None:
    menu = builders.menu(venue, bufala="12.00", marinara="7.00")
    before = rows(venue)
    page = send(
        manager,
        venue,
        HEADER + "margherita,Margherita,Dishes,10.00,10,,yes\nbufala,Bufala,Dishes,12.00,10,,yes\n"
        "tiramisu,Tiramisù,Desserts,6.5,10,<b>house</b>,no\n",
    )
    shown = text(page)
    assert page.status_code == 200
    assert "<code>price</code> <del>9.50</del> → <ins>10.00</ins>" in shown
    assert "&lt;b&gt;house&lt;/b&gt;" in shown
    assert "Also delete the 1 dish that is not in the file" in shown
    assert rows(venue) == before
    plan = page.context["plan"]
    assert (len(plan.added), len(plan.changed), plan.unchanged, len(plan.missing)) == (1, 1, 1, 1)
    path = page.redirect_chain[-1][0]
    result = text(manager.post(path, {"version": plan.version, "removes_missing": "on"}, follow=True))
    assert "Applied: 1 added, 1 changed, 1 deleted." in result
    assert rows(venue) == [
        ("bufala", "Bufala", "Dishes", "12.00", "10", "", "", "", "", "yes", "", "", "", ""),
        ("margherita", "Margherita", "Dishes", "10.00", "10", "", "", "", "", "yes", "", "", "", ""),
        ("tiramisu", "Tiramisù", "Desserts", "6.50", "10", "", "<b>house</b>", "", "", "no", "", "", "", ""),
    ]
    assert menu.categories.get(name="Desserts").position == 1
    # Once more does nothing: not even where the menu is another by now.
    MenuItem.objects.filter(ref="bufala").delete()
    result = text(manager.post(path, {"version": plan.version}, follow=True))
    assert "This file was already applied. It was not applied again." in result
    assert len(rows(venue)) == 2


def test_what_is_missing_stays_unless_it_is_ticked(manager: Client, venue: Venue) -> None:
    builders.menu(venue)
    page = send(manager, venue, "id,name,category,price\nbufala,Bufala,Dishes,12\n")
    manager.post(page.redirect_chain[-1][0], {"version": page.context["plan"].version})
    assert [row[0] for row in rows(venue)] == ["margherita", "bufala"]


def test_a_column_that_is_left_out_stays_as_it_is(venue: Venue) -> None:
    menu = builders.menu(venue)
    menu.items.update(description="tomato", is_available=False)
    assert planned(venue, "price,id,name,category\n9.5,margherita,Margherita,Dishes").unchanged == 1


@pytest.mark.exhaustive
def test_concurrent_change_is_reported_and_nothing_is_applied(manager: Client, venue: Venue) -> None:
    builders.menu(venue)
    page = send(manager, venue, HEADER + "margherita,Margherita,Dishes,10.00,10,,yes\n")
    MenuItem.objects.update(price=Decimal("11.00"))
    answer = manager.post(page.redirect_chain[-1][0], {"version": page.context["plan"].version})
    assert answer.status_code == 400
    assert "The menu was changed after this preview was made. Nothing was applied" in text(answer)
    assert "<del>11.00</del> → <ins>10.00</ins>" in text(answer)
    assert rows(venue)[0][3] == "11.00"
    assert MenuUpload.objects.get().applied_at is None
    # The page that told of it is a preview of the menu as it is now.
    assert manager.post(page.redirect_chain[-1][0], {"version": answer.context["plan"].version}).status_code == 302
    assert rows(venue)[0][3] == "10.00"


def test_dish_sold_out_during_an_edit_stays_sold_out(manager: Client, venue: Venue) -> None:
    builders.menu(venue)
    page = send(manager, venue, HEADER + "margherita,Margherita,Dishes,10.00,10,,yes\n")
    change_items(MenuItem.objects.all(), {"is_sold_out": True}, actor="system", now=timezone.now())
    day = MenuItem.objects.get().sold_out_on
    assert manager.post(page.redirect_chain[-1][0], {"version": page.context["plan"].version}).status_code == 302
    item = MenuItem.objects.get()
    assert (item.price, item.sold_out_on) == (Decimal("10.000"), day)


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("has_menu", [True, False])
def test_of_two_concurrent_changes_one_gets_a_conflict_message(has_menu: bool) -> None:
    venue = builders.venue()
    if has_menu:
        builders.menu(venue)
    uploads = [
        import_file.store_upload(
            venue,
            content=f"id,name,category,price\nmargherita,Margherita,Dishes,{price}\n".encode(),
            file_name="menu.csv",
            now=timezone.now(),
        )
        for price in ("10.00", "11.00")
    ]
    version = import_file.plan_import(venue, csv_format.Sheet.from_json(uploads[0].content)).version
    start = Barrier(2)

    def attempt(upload: MenuUpload) -> str:
        start.wait()
        try:
            import_file.apply_upload(
                upload, version=version, removes_missing=False, actor="system", now=timezone.now()
            )
        except import_file.MenuChanged:
            return "message"
        finally:
            connection.close()
        return rows_price(upload)

    def rows_price(upload: MenuUpload) -> str:
        return str(upload.content["rows"][0]["values"]["price"])

    with ThreadPoolExecutor(2) as pool:
        ends = list(pool.map(attempt, uploads))
    assert sorted(ends)[1] == "message"
    assert [row[3] for row in rows(venue)] == [min(ends)]
    assert MenuUpload.objects.filter(applied_at=None).count() == 1


@pytest.mark.django_db(transaction=True)
def test_one_file_applied_twice_at_once_is_applied_once() -> None:
    venue = builders.venue()
    upload = import_file.store_upload(
        venue, content=b"id,name,category,price\na,A,B,1\n", file_name="menu.csv", now=timezone.now()
    )
    version = import_file.plan_import(venue, csv_format.Sheet.from_json(upload.content)).version
    start = Barrier(2)

    def attempt(_: int) -> bool:
        start.wait()
        try:
            return (
                import_file.apply_upload(
                    upload, version=version, removes_missing=False, actor="system", now=timezone.now()
                )
                is not None
            )
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(attempt, range(2))) == [False, True]
    assert len(rows(venue)) == 1


def test_the_menu_comes_back_from_its_file_just_as_it_was(manager: Client, venue: Venue) -> None:
    menu = builders.menu(venue)
    for number, name in enumerate(
        ["=1+1", "+39", "-5", "@x", "'=x", "'quoted'", 'a "b", c;d', "Tiramisù 北京", "\uff1d1"]
    ):
        builders.dish(
            menu, f"={number}", name=name, description=f"{name}\nand more", allergens=Allergen.values[:number]
        )
    raw = manager.get(f"{root(venue)}/menu.csv").content
    assert raw.startswith(
        b"\xef\xbb\xbfid,name,category,price,tax_percent,takeaway_tax_percent,description,allergens,diets,available,"
        b"station,prep_minutes,stock,modifier_groups\r\n"
    )
    # No cell begins as a formula does.
    assert b",=" not in raw
    assert b"\n=" not in raw
    plan = import_file.plan_import(venue, csv_format.read(raw))
    assert (plan.added, plan.changed, plan.missing, plan.errors, plan.unchanged) == ((), (), (), (), 10)
    MenuItem.objects.all().delete()
    page = send(manager, venue, raw)
    manager.post(page.redirect_chain[-1][0], {"version": page.context["plan"].version})
    assert {item.name for item in MenuItem.objects.filter(ref__startswith="=")} == {
        "=1+1", "+39", "-5", "@x", "'=x", "'quoted'", 'a "b", c;d', "Tiramisù 北京", "\uff1d1",
    }  # fmt: skip


def test_allergens_are_read_in_any_order_and_case_between_spaces_commas_or_semicolons(venue: Venue) -> None:
    menu = builders.menu(venue, soup="5.00", water="2.00")
    menu.items.filter(ref="water").update(allergens=["milk"])
    header = "id;name;category;price;allergens\n"
    plan = planned(
        venue,
        f"{header}margherita;Margherita;Dishes;9.50;Milk  gluten, MILK\nsoup;Soup;Dishes;5.00;\n"
        'water;Water;Dishes;2.00;\ncake;Cake;Dishes;3.00;"nuts;eggs"\n',
    )
    assert [(dish.ref, dish.cells) for dish in plan.changed] == [
        ("margherita", (("allergens", "", "gluten milk"),)),
        ("water", (("allergens", "milk", ""),)),
    ]
    assert [row.values["allergens"] for row in plan.added] == ["eggs nuts"]
    assert (plan.unchanged, plan.errors) == (1, ())


def test_an_unknown_allergen_is_reported_with_the_known_ones(venue: Venue) -> None:
    known = (
        "The allergens are: gluten, crustaceans, eggs, fish, peanuts, soybeans, milk, nuts, celery, mustard, sesame, "
        "sulphites, lupin, molluscs."
    )
    header = "id,name,category,price,allergens\n"
    assert faults(venue, "a,A,Dishes,1,milk glutten", "b,B,Dishes,1,x", header=header) == [
        (2, "allergens", f"“glutten” is not an allergen. Did you mean gluten? {known}"),
        (3, "allergens", f"“x” is not an allergen. {known}"),
    ]


@pytest.mark.exhaustive
def test_applied_allergens_are_stored_and_a_file_without_the_column_keeps_them(manager: Client, venue: Venue) -> None:
    menu = builders.menu(venue)
    for header, cell, name in (
        ("id,name,category,price,allergens\n", ",milk gluten", "Margherita"),
        ("id,name,category,price\n", "", "Regina"),
    ):
        page = send(manager, venue, f"{header}margherita,{name},Dishes,9.50{cell}\n")
        manager.post(page.redirect_chain[-1][0], {"version": page.context["plan"].version})
        item = menu.items.get()
        assert (item.name, item.allergens) == (name, ["gluten", "milk"])


def test_the_example_can_be_uploaded(manager: Client, venue: Venue) -> None:
    plan = import_file.plan_import(venue, csv_format.read(manager.get(f"{root(venue)}/template.csv").content))
    assert (len(plan.added), plan.errors) == (1, ())


def test_each_invalid_line_is_reported_with_its_number_and_reason(venue: Venue) -> None:
    assert faults(
        venue,
        "a,A,Dishes,9.50,10,,yes",
        'b,B,Dishes,"9,500",10,,yes',
        "c,C,Dishes,9.505,10,,yes",
        "d,D,Dishes,9.50,101,,maybe",
        "a,A,Dishes,1,10,,yes",
        ",,,1,10,,yes",
        f"{'f' * 65},F,Dishes,1,10,,yes",
        "g,G,Dishes,1e3,10,,yes",
        "h,H,Dishes,-1,10,,yes",
        "i,I,Dishes,1,10",
        'j,"J\x07",Dishes,1,10,,yes',
        "k,K,Dishes,99999999,10,,yes",
    ) == [
        (3, "price", "“9,500” is not a valid number. Use the format 9.50."),
        (4, "price", "A price in EUR has at most 2 decimals."),
        (5, "available", "“maybe” is not yes or no."),
        (5, "tax_percent", "A tax is 0 to 100 percent."),
        (6, "id", "“a” is already in line 2."),
        (7, "name", "The value is missing."),
        (7, "category", "The value is missing."),
        (8, "id", "Ensure this value has at most 64 characters (it has 65)."),
        (9, "price", "“1e3” is not a valid number. Use the format 9.50."),
        (10, "price", "“-1” is not a valid number. Use the format 9.50."),
        (11, "", "The line has 5 cells, the first line has 7."),
        (12, "name", "The value contains a control character."),
        (13, "price", "“99999999” is not a valid number. Use the format 9.50."),
    ]


def test_a_faulty_file_is_applied_not_even_in_part(manager: Client, venue: Venue) -> None:
    page = send(manager, venue, HEADER + "a,A,Dishes,1,10,,yes\nb,B,Dishes,x,10,,yes\n")
    assert "1 error: the file cannot be applied." in text(page)
    answer = manager.post(page.redirect_chain[-1][0], {"version": page.context["plan"].version})
    assert answer.status_code == 400
    assert "Nothing was applied: some lines have errors." in text(answer)
    assert not MenuItem.objects.exists()


def test_semicolons_and_tabs_are_accepted_and_decimal_commas_are_reported(venue: Venue) -> None:
    for delimiter in (";", "\t", ","):
        number, large = ('"9,50"', '"1,250"') if delimiter == "," else ("9,50", "1,250")
        cells = [("id", "name", "category", "price"), ("a", "A", "Dishes", number), ("b", "B", "Dishes", large)]
        plan = planned(venue, "\n".join(delimiter.join(row) for row in cells))
        assert [row.values["price"] for row in plan.added] == ["9.50"]
        assert plan.notes == ("1 number with a decimal comma was converted: 9,50 to 9.50.",)
        assert [fault.line for fault in plan.errors] == [3]


def test_yen_have_no_decimals(venue: Venue) -> None:
    venue.currency = "JPY"
    venue.save()
    assert faults(venue, "a,A,Dishes,950,10,,yes", "b,B,Dishes,9.5,10,,yes") == [
        (3, "price", "A price in JPY has at most 0 decimals.")
    ]


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "The submitted file is empty."),
        (b"\n\n", "This file is empty."),
        (b"\x89PNG\r\n\x1a\n\0\0\xff\xfe", "This file is not UTF-8."),
        (b"PK\x03\x04rest", "This is a workbook. In your spreadsheet, save it as “CSV UTF-8” and upload that file."),
        (b"id,name,category,price\na\0,A,B,1\n", "This is not a text file: it contains the character NUL."),
        ("id,name,category,price\nà,A,B,1\n".encode("latin-1"), "This file is not UTF-8."),
        ("id,name,category,price\n".encode("utf-16"), "This file is not UTF-8."),
        (b"x" * (1024 * 1024 + 1), "This file is larger than 1 MB."),
        (b"a," * 10_000 + b"\n", "The first line names 10,001 columns; a menu has these: id, name"),
        (b"id,name,category,prize\n", "There is no column “prize”. Did you mean “price”?"),
        (b"id,name,category,price,price\n", "The column “price” is duplicated."),
        (b"id,name\n", "Columns missing in the first line: category, price."),
        (b'id,name,category,price\na,"open,B,1\n', "Line 2 cannot be read: a quotation mark is not closed"),
        (b"id,name,category,price\na," + b"x" * 200_000 + b",B,1\n", "Line 2 cannot be read"),
        (
            b"id,name,category,price\n" + b"a,A,B,1\n" * 2_001,
            "A menu can have at most 2,000 lines. This file has more.",
        ),
    ],
    ids=[
        *("nothing", "blank", "png", "xlsx", "nul", "latin", "utf16", "large", "columns", "unknown", "twice"),
        *("lacking", "quote", "cell", "lines"),
    ],
)
def test_what_is_no_menu_is_refused_at_its_field(manager: Client, venue: Venue, content: bytes, message: str) -> None:
    answer = send(manager, venue, content)
    assert answer.status_code == 400
    assert message in text(answer)
    assert not MenuUpload.objects.exists()


def test_a_form_without_a_file_is_refused(manager: Client, venue: Venue) -> None:
    assert manager.post(f"{root(venue)}/upload").status_code == 400
    assert manager.post(f"{root(venue)}/upload", {"file": "text"}).status_code == 400


@pytest.mark.exhaustive
def test_uploads_cost_the_same_for_one_and_for_many(manager: Client, venue: Venue) -> None:
    for number in (1, 200):
        page = send(manager, venue, HEADER + "".join(f"d{n},D,Dishes,1,10,,yes\n" for n in range(number)))
        with CaptureQueriesContext(connection) as captured:
            assert manager.get(page.redirect_chain[-1][0]).status_code == 200
        # Session, user, venue, part; upload, menu; other venues. With a menu one more, its dishes.
        assert len(captured) == 7
    assert (
        len(
            import_file.plan_import(
                venue, csv_format.Sheet.from_json(MenuUpload.objects.latest("created_at").content)
            ).added
        )
        == 200
    )


def test_another_venues_upload_is_not_there(manager: Client, venue: Venue, other_venue: Venue) -> None:
    upload = import_file.store_upload(
        other_venue, content=b"id,name,category,price\na,A,B,1\n", file_name="menu.csv", now=timezone.now()
    )
    assert manager.get(f"{root(venue)}/upload/{upload.pk}").status_code == 404
    assert manager.post(f"{root(venue)}/upload/{upload.pk}", {"version": "x"}).status_code == 404
    assert users.member(other_venue, "kitchen").get(f"{root(other_venue)}/upload/{upload.pk}").status_code == 403
    assert not MenuItem.objects.exists()


def test_old_uploads_go_when_another_comes(venue: Venue) -> None:
    now = timezone.now()
    for age in (import_file.UPLOAD_LIFETIME * 2, import_file.UPLOAD_LIFETIME / 2):
        import_file.store_upload(venue, content=b"id,name,category,price\n", file_name="menu.csv", now=now - age)
    for _ in range(25):
        import_file.store_upload(venue, content=b"id,name,category,price\n", file_name="menu.csv", now=now)
    assert MenuUpload.objects.count() == import_file.MAX_UPLOADS


def test_an_empty_id_is_derived_from_the_name_and_the_same_the_next_time(manager: Client, venue: Venue) -> None:
    content = "id,name,category,price\n,Crème brûlée,Desserts,6.50\n,Crème Brulee,Desserts,7\n"
    for added in (2, 0):
        page = send(manager, venue, content)
        plan = page.context["plan"]
        assert (len(plan.added), plan.unchanged, len(plan.missing)) == (added, 2 - added, 0)
        manager.post(page.redirect_chain[-1][0], {"version": plan.version})
    assert [row[0] for row in rows(venue)] == ["creme-brulee", "creme-brulee-2"]
    assert list(Event.objects.filter(venue=venue).values_list("type", flat=True)) == ["menu.updated"]


@pytest.mark.exhaustive
def test_the_new_columns_are_read_applied_and_written_as_they_were(manager: Client, venue: Venue) -> None:
    menu = builders.menu(venue)
    for ref in ("size", "extras"):
        menu.modifier_groups.create(ref=ref, name=ref.title())
    page = send(
        manager,
        venue,
        "name,category,price,takeaway_tax_percent,diets,station,prep_minutes,stock,modifier_groups\n"
        'Margherita,Dishes,9.50,"5,5",Halal vegan,pizza,20,7,size extras size\n',
    )
    manager.post(page.redirect_chain[-1][0], {"version": page.context["plan"].version})
    expected = ("5.5", "", "", "vegan halal", "yes", "pizza", "20", "7", "size extras")
    assert rows(venue)[0][5:] == expected
    plan = import_file.plan_import(venue, csv_format.read(manager.get(f"{root(venue)}/menu.csv").content))
    assert (plan.added, plan.changed, plan.missing, plan.errors, plan.unchanged) == ((), (), (), (), 1)
    # Without the columns they stay; portions that were ordered since the preview do not make it void.
    page = send(manager, venue, "id,name,category,price\nmargherita,Regina,Dishes,9.50\n")
    menu.items.update(stock=6)
    assert manager.post(page.redirect_chain[-1][0], {"version": page.context["plan"].version}).status_code == 302
    assert rows(venue)[0][5:] == (*expected[:7], "6", "size extras")


def test_bad_values_of_the_new_columns_are_reported(venue: Venue) -> None:
    header = "id,name,category,price,takeaway_tax_percent,diets,prep_minutes,stock,modifier_groups\n"
    known = "vegetarian, vegan, gluten_free, lactose_free, halal, kosher"
    assert faults(venue, "a,A,B,1,101,,,,", "b,B,B,1,x,paleo,0,-1,size", header=header) == [
        (2, "takeaway_tax_percent", "A tax is 0 to 100 percent."),
        (3, "takeaway_tax_percent", "“x” is not a valid number. Use the format 9.50."),
        (3, "diets", f"“paleo” is not a diet. The diets are: {known}."),
        (3, "prep_minutes", "“0” is not a whole number from 1 to 1,440."),
        (3, "stock", "“-1” is not a whole number from 0 to 1,000,000."),
        (3, "modifier_groups", "There is no modifier group “size”."),
    ]


def test_a_dish_that_a_modifier_names_is_not_removed_by_a_file(manager: Client, venue: Venue) -> None:
    menu = builders.menu(venue)
    group = menu.modifier_groups.create(ref="drinks", name="Drinks")
    group.modifiers.create(menu=menu, ref="m", name="M", item=menu.items.get())
    page = send(manager, venue, "id,name,category,price\nwater,Water,Dishes,2\n")
    sent = {"version": page.context["plan"].version, "removes_missing": "on"}
    answer = manager.post(page.redirect_chain[-1][0], sent)
    assert answer.status_code == 400
    assert "Nothing was applied: modifiers use Margherita. Keep these dishes in the file." in text(answer)
    assert [row[0] for row in rows(venue)] == ["margherita"]


def test_portions_that_were_ordered_after_the_upload_are_no_change_of_the_file(venue: Venue) -> None:
    menu = builders.menu(venue)
    menu.items.update(stock=10)
    content = b"id,name,category,price,stock\nmargherita,Pizza,Dishes,9.50,10\n"
    upload = import_file.store_upload(venue, content=content, file_name="menu.csv", now=timezone.now())
    sheet = csv_format.Sheet.from_json(upload.content)
    version = import_file.plan_import(venue, sheet, stock=upload.content["stock"]).version
    builders.order(venue, items=[{"menu_item_id": "margherita", "quantity": 1}])
    import_file.apply_upload(upload, version=version, removes_missing=False, actor="system", now=timezone.now())
    assert list(menu.items.values_list("name", "stock")) == [("Pizza", 9)]
