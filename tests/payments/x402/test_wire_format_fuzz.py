"""Whatever comes as a payment is read or refused: nothing makes the reader fail."""

import base64
import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from payments.x402.proofs import Authorization, InvalidPayment, TransactionProof, parse_proof
from tests.payments.x402.test_wire_format import HASH, V1, V2, in_base64


def places(content: dict[str, Any], *, within: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The way to each field of this JSON, whole objects among them."""
    for name, inner in content.items():
        yield (*within, name)
        if isinstance(inner, dict):
            yield from places(inner, within=(*within, name))


def replaced(content: dict[str, Any], way: tuple[str, ...], by: str) -> dict[str, Any]:
    """The same JSON with something else in one place."""
    name, *rest = way
    return {**content, name: replaced(content.get(name, {}), (*rest,), by) if rest else by}


NAMED = {**V2, "extensions": {"payment-identifier": {"info": {"id": "pay_0123456789abcdef"}}}}


@pytest.mark.parametrize("deep", ["[" * 1000 + "]" * 1000, '{"a":' * 900 + "1" + "}" * 900], ids=["lists", "objects"])
@pytest.mark.parametrize("content", [{"transaction": HASH}, NAMED, V1], ids=["transaction", "version 2", "version 1"])
def test_deeply_nested_json_is_refused_or_ignored_at_any_place(content: dict[str, Any], deep: str) -> None:
    for way in [*places(content), ("resource",), ("more",)]:
        with suppress(InvalidPayment):
            text = json.dumps(replaced(content, way, "here")).replace('"here"', deep)
            assert isinstance(parse_proof({"X-Payment": text}), Authorization | TransactionProof)


@given(text=st.text(max_size=200) | st.binary(max_size=200).map(lambda content: base64.b64encode(content).decode()))
def test_no_text_crashes_the_parser(text: str) -> None:
    with suppress(InvalidPayment):
        parse_proof({"X-Payment": text})


@pytest.mark.exhaustive
@given(
    content=st.recursive(
        st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["x402Version", "payload", "accepted", "authorization", "transaction"]), inner
            )
        ),
    )
)
def test_no_json_crashes_the_parser(content: Any) -> None:
    with suppress(InvalidPayment):
        parse_proof({"X-Payment": in_base64(content)})
