"""What our fields take at a glance is what REST framework takes after a long look."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rest_framework import serializers
from rest_framework.exceptions import ValidationError

from framework.api.fields import StrictIntegerField, StrictSerializer, TextField
from orders.serializers import NewOrder
from reservations.serializers import NewReservation

FIELDS: list[TextField | StrictIntegerField] = [
    TextField(),
    TextField(max_length=3),
    TextField(min_length=2, max_length=4),
    TextField(max_length=3, allow_blank=True),
    TextField(min_length=2, allow_blank=True, lines=True),
    TextField(max_length=4, lines=True, allow_null=True),
    TextField(pattern="[a-c]+", hint="Only a, b and c."),
    StrictIntegerField(),
    StrictIntegerField(min_value=0),
    StrictIntegerField(max_value=5),
    StrictIntegerField(min_value=-2, max_value=2),
]
letters = st.sampled_from(
    ["a", "b", "é", "🙂", " ", "\t", "\n", "\r", "\0", "\x1f", "\x7f", "\x85", "\u2028", "\ud800"]
)
values: st.SearchStrategy[Any] = st.one_of(
    st.lists(letters, max_size=6).map("".join),
    st.integers(-9, 9),
    st.sampled_from([True, False, None, 2.0, 10**30, [], {}, serializers.empty]),
)
lines = st.fixed_dictionaries({}, optional={"menu_item_id": values, "quantity": values, "notes": values})
orders = st.fixed_dictionaries(
    {},
    optional={
        "customer_id": values,
        "items": st.one_of(values, st.lists(st.one_of(lines, values), max_size=3)),
        "payment_method": st.one_of(values, st.just("card")),
        "delivery_address": values,
    },
)
bookings = st.fixed_dictionaries(
    {"date": st.sampled_from(["2031-02-28", "2031-02-29", 7]), "time": st.sampled_from(["19:30", "24:00", None])},
    optional={"customer_name": values, "customer_phone": st.just("+45 33 15 10 01"), "party_size": values},
)


def outcome(read: Any, *given: Any) -> Any:
    """What is read, or what is said to be wrong."""
    try:
        return ("read", read(*given))
    except serializers.SkipField:
        return ("left out",)
    except ValidationError as refused:
        return ("refused", refused.detail, refused.get_codes())


@pytest.mark.sample(3)
@pytest.mark.parametrize("field", FIELDS, ids=repr)
@given(value=values)
def test_values(field: TextField | StrictIntegerField, value: Any) -> None:
    plain: Any = super(type(field), field)
    found = outcome(field.run_validation, value)
    assert found == outcome(plain.run_validation, value)
    assert found[0] == "refused" or type(found[1]) is type(value)


def without_empty(payload: Any) -> Any:
    """The same without what stands for nothing, which no JSON holds."""
    if isinstance(payload, dict):
        return {name: without_empty(value) for name, value in payload.items() if value is not serializers.empty}
    return [without_empty(one) for one in payload] if isinstance(payload, list) else payload


@pytest.mark.exhaustive
@pytest.mark.parametrize(("kind", "bodies"), [(NewOrder, orders), (NewReservation, bookings)])
@given(data=st.data())
def test_objects(
    kind: type[StrictSerializer], bodies: st.SearchStrategy[Mapping[str, Any]], data: st.DataObject
) -> None:
    shape, body = kind(), without_empty(data.draw(bodies))
    found = outcome(shape.to_internal_value, body)
    assert found == outcome(serializers.Serializer.to_internal_value, shape, body)


def test_a_right_order_is_read_and_a_wrong_one_refused_in_each_part() -> None:
    line = {"menu_item_id": "a", "quantity": 2, "notes": ""}
    right = {"customer_id": "c", "items": [line], "payment_method": "card", "delivery_address": None}
    assert NewOrder.read(right) == right
    with pytest.raises(ValidationError) as refused:
        NewOrder.read(right | {"customer_id": "\ud800", "items": [line, line | {"quantity": True}], "tip": 1})
    assert list(refused.value.detail) == ["customer_id", "items", "tip"]
