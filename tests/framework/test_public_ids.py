"""Public ids: typed, ordered, and read back only as they were written."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.public_ids import decode, encode, new_id, pattern

SAMPLE = UUID("01890a5d-ac96-774b-bcce-b302099a8057")


def test_an_id_is_the_prefix_and_26_letters_of_typeid() -> None:
    # The example of the TypeID specification, version 0.3.
    assert encode("prefix", SAMPLE) == "prefix_01h455vb4pex5vsknk084sn02q"


def test_smallest_and_greatest_id_are_encoded_in_full() -> None:
    assert encode("ord", UUID(int=0)) == "ord_00000000000000000000000000"
    assert encode("ord", UUID(int=2**128 - 1)) == "ord_7zzzzzzzzzzzzzzzzzzzzzzzzz"


@given(st.uuids())
def test_what_is_written_is_read_back(value: UUID) -> None:
    assert decode("ord", encode("ord", value)) == value


@given(st.text())
def test_text_is_read_only_if_it_would_be_written_so(text: str) -> None:
    found = decode("ord", f"ord_{text}")
    assert found is None or encode("ord", found) == f"ord_{text}"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ord",
        "ord_",
        "01h455vb4pex5vsknk084sn02q",
        "res_01h455vb4pex5vsknk084sn02q",
        "ORD_01h455vb4pex5vsknk084sn02q",
        "ord_01H455VB4PEX5VSKNK084SN02Q",
        "ord_01h455vb4pex5vsknk084sn02",
        "ord_01h455vb4pex5vsknk084sn02q0",
        "ord_01h455vb4pex5vsknk084sn0iq",
        "ord_81h455vb4pex5vsknk084sn02q",
        "ord_01h455vb4pex5vsknk084sn02\u0662",
        "ord_01h455vb4pex5vsknk084sn02q\n",
        "ord-01h455vb4pex5vsknk084sn02q",
        "01890a5d-ac96-774b-bcce-b302099a8057",
    ],
)
def test_other_texts_are_not_ids(text: str) -> None:
    assert decode("ord", text) is None


def test_ids_follow_one_another() -> None:
    ids = [encode("ord", new_id()) for _ in range(1000)]
    assert ids == sorted(set(ids))


def test_the_published_pattern_is_that_of_the_ids() -> None:
    assert pattern("ord") == "^ord_[0-7][0123456789abcdefghjkmnpqrstvwxyz]{25}$"
