"""Query strings: each operation refuses by name what it does not understand."""

import pytest
from django.test import Client, RequestFactory

from framework.api.query_params import parser
from framework.errors import InvalidRequest

LISTS = ["/api/v1/orders", "/api/v1/reservations"]


def problems(query_string: str | bytes, *known: str) -> list[tuple[str | None, str]]:
    """What is refused of this query string."""
    with pytest.raises(InvalidRequest) as refused:
        read(query_string, *known)
    return [(problem.param, problem.message) for problem in refused.value.details]


def read(query_string: str | bytes, *known: str) -> dict[str, str]:
    """Read it as a WSGI server hands it on: its bytes as latin-1 letters."""
    raw = query_string.encode() if isinstance(query_string, str) else query_string
    return parser.parse_query(RequestFactory().get("/", QUERY_STRING=raw.decode("latin-1")), known)


def test_parameters_are_read_decoded() -> None:
    assert read("a=1&b=x+y%20z%26&c=%C3%A6", "a", "b", "c") == {"a": "1", "b": "x y z&", "c": "æ"}


def test_unencoded_characters_are_read_as_utf_8() -> None:
    assert read("near=Rådhuspladsen", "near") == {"near": "Rådhuspladsen"}


@pytest.mark.parametrize("query_string", [b"near=%FF", b"near=R\xe5dhus", b"%FF=1"])
def test_what_is_not_utf_8_is_refused(query_string: bytes) -> None:
    with pytest.raises(InvalidRequest, match=r"^The query string is not UTF-8\.$"):
        read(query_string, "near")


def test_an_unknown_parameter_is_refused_with_the_nearest_known_one() -> None:
    assert problems("stauts=pending&limit=2", "status", "limit") == [
        ("stauts", "Unknown parameter `stauts`. Did you mean `status`? Known: status, limit.")
    ]


def test_where_none_is_known_the_refusal_says_so() -> None:
    assert problems("a=1") == [("a", "Unknown parameter `a`. None is known here.")]


def test_all_errors_are_reported_together() -> None:
    assert problems("a=1&a=2&b=&c=x%00y&d", "a", "b", "c") == [
        ("a", "`a` stands twice; give it once."),
        ("b", "`b` is empty; leave it out or give it a value."),
        ("c", "`c` holds a NUL, which no text may hold."),
        ("d", "Unknown parameter `d`. Known: a, b, c."),
    ]


def test_more_than_100_parameters_are_refused() -> None:
    assert len(problems("&".join("a=1" for _ in range(100)), "a")) == 99
    with pytest.raises(InvalidRequest, match="more than 100 parameters"):
        read("&".join("a=1" for _ in range(101)), "a")


@pytest.mark.sample(8)
@pytest.mark.parametrize("path", LISTS)
@pytest.mark.parametrize(
    ("asked", "param"),
    [
        *[(f"limit={value}", "limit") for value in ("0", "101", "abc", "-1", "1.5", "", "+5", "%D9%A5", "1e1", "0x1")],
        *[(f"page={value}", "page") for value in ("0", "abc", "-1", "1.5", "", "%20", "1000000000001", "9" * 5000)],
        ("status=PENDING", "status"),
        ("status=Pending", "status"),
        ("status=done", "status"),
        ("status=null", "status"),
        ("offset=10", "offset"),
    ],
)
@pytest.mark.django_db
def test_a_list_refuses_by_name(api: Client, path: str, asked: str, param: str) -> None:
    response = api.get(f"{path}?{asked}")
    assert response.status_code == 400
    error = response.json()["error"]
    assert (error["code"], error["param"]) == ("invalid_request", param)
    assert param in {problem["param"] for problem in error["details"]}


@pytest.mark.parametrize("path", LISTS)
@pytest.mark.django_db
def test_more_than_a_thousand_parameters_are_refused_as_json(api: Client, path: str) -> None:
    response = api.get(f"{path}?{'&'.join('page=1' for _ in range(5000))}")
    assert (response.status_code, response.json()["error"]["code"]) == (400, "invalid_request")
