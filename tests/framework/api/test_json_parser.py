"""The strict JSON parser by itself; what each operation makes of bodies is in tests/contract/test_strictness.py."""

import io

import pytest
from django.core.handlers.wsgi import WSGIRequest

from framework.api.json_parser import BodyTooLarge, MalformedBody, parse, read_body


def test_an_object_is_read_with_all_that_json_has() -> None:
    raw = '{"a": [1, -2.5, true, false, null, "Ærø 🍕"], "b": {"c": {}}, "\\u0061\\n": "\\ud83c\\udf55"}'.encode()
    assert parse(raw) == {"a": [1, -2.5, True, False, None, "Ærø 🍕"], "b": {"c": {}}, "a\n": "🍕"}


def test_objects_nest_32_deep_and_no_deeper() -> None:
    assert parse(b'{"a":' * 32 + b"1" + b"}" * 32)["a"]
    with pytest.raises(MalformedBody, match="nested deeper than 32 levels"):
        parse(b'{"a":' * 33 + b"1" + b"}" * 33)


def test_brackets_in_text_do_not_nest() -> None:
    assert parse(b'{"a": "' + b"[" * 100 + b'", "b": "\\"' + b"{" * 100 + b'"}')["b"] == '"' + "{" * 100


def test_an_unfinished_text_of_half_a_megabyte_of_quotes_is_read_once() -> None:
    # Read anew from each quote it would take hours.
    with pytest.raises(MalformedBody, match="Unterminated string"):
        parse(b'{"a": "' + b'\\"' * 500_000)


def test_a_whole_number_beyond_64_bits_is_refused() -> None:
    assert parse(b'{"a": [18446744073709551615, -9223372036854775808]}') == {"a": [2**64 - 1, -(2**63)]}
    for beyond in (b'{"a": 18446744073709551616}', b'{"a": -9223372036854775809}'):
        with pytest.raises(MalformedBody, match="too large"):
            parse(beyond)
    with pytest.raises(MalformedBody, match="too large"):
        parse(b'{"a": 100000000000000000000}')


def test_malformed_body_is_reported_with_line_and_column() -> None:
    with pytest.raises(MalformedBody) as refused:
        parse(b'{"a": 1,\n "b" 2}')
    assert refused.value.message == "The body is not JSON: Expecting ':' delimiter at line 2, column 6."


@pytest.mark.exhaustive
def test_position_of_invalid_text_is_reported_with_limited_length() -> None:
    # A name of half a megabyte is not written out for each of its 200,000 elements.
    with pytest.raises(MalformedBody) as refused:
        parse(b'{"' + b"k" * 500_000 + b'": [' + b"0," * 200_000 + b'"\\u0000"]}')
    assert refused.value.param == "k" * 200


def test_a_body_in_chunks_is_the_same_whenever_it_is_asked_for_and_stays_too_large() -> None:
    def sent(size: int) -> WSGIRequest:
        body = {"wsgi.input": io.BytesIO(b"x" * size), "wsgi.input_terminated": True}
        return WSGIRequest({"REQUEST_METHOD": "POST", "HTTP_TRANSFER_ENCODING": "chunked", **body})

    small, large = sent(100), sent(10_000)
    assert [len(read_body(small, limit=100)) for _ in range(2)] == [100, 100]
    for _ in range(2):
        with pytest.raises(BodyTooLarge, match="larger than 100 bytes"):
            read_body(large, limit=100)
