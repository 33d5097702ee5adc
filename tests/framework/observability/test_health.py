"""Health answers: before host checks, keys and limits. Parts that are away are in test_served.py."""

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries


@pytest.mark.parametrize("host", ["testserver", "evil.example", "10.0.0.17:8000", "a_b"])
@pytest.mark.django_db
def test_a_running_and_ready_server_says_so_to_any_host(client: Client, host: str) -> None:
    alive, ready = (client.get(path, headers={"host": host}) for path in ("/livez", "/readyz"))
    assert (alive.status_code, alive["Content-Type"], alive.json()) == (200, "application/json", {"status": "ok"})
    assert (ready.status_code, ready["Content-Type"], ready.json()) == (
        200,
        "application/json",
        {"status": "ok", "parts": {"database": "ok", "counters": "ok"}},
    )


@pytest.mark.django_db
def test_to_be_alive_takes_no_query_and_to_be_ready_one(
    client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(0):
        client.get("/livez")
    with django_assert_num_queries(1):
        client.get("/readyz")


@pytest.mark.parametrize("path", ["/livez/", "/livezz", "/readyz/x", "/api/livez"])
@pytest.mark.django_db
def test_only_the_two_paths_are_health(client: Client, path: str) -> None:
    assert client.get(path).status_code in (401, 404)
