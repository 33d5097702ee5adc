"""What crawlers, agents and reporters look for at well-known paths."""

from datetime import UTC, datetime
from xml.etree import ElementTree as ET

import pytest
import time_machine
from django.conf import LazySettings
from django.test import Client

from catalogue.agent_discovery import llms_txt
from config.website import docs, reference

BASE = "https://api.example.com"


@pytest.fixture(autouse=True)
def _public_address(settings: LazySettings) -> None:
    settings.PUBLIC_BASE_URL = BASE


def test_robots_may_read_what_is_public(client: Client) -> None:
    response = client.get("/robots.txt")
    assert (response.status_code, response["Content-Type"]) == (200, "text/plain; charset=utf-8")
    assert response.content.decode().splitlines() == [
        "User-agent: *",
        "Disallow: /account/",
        "Disallow: /admin/",
        "Disallow: /dashboard",
        "Disallow: /guest/",
        "Disallow: /mailbox",
        "Disallow: /restaurants?*cursor=",
        "Disallow: /restaurants?*q=",
        "Disallow: /restaurants?*near=",
        "Disallow: /restaurants?*cuisine=",
        f"Sitemap: {BASE}/sitemap.xml",
    ]


@pytest.mark.django_db
def test_the_sitemap_lists_the_landing_page_and_each_guide(client: Client) -> None:
    assert f"<loc>{BASE}/sitemap-pages.xml</loc>" in client.get("/sitemap.xml").content.decode()
    response = client.get("/sitemap-pages.xml")
    assert (response.status_code, response["Content-Type"]) == (200, "application/xml")
    listed = [str(element.text) for element in ET.fromstring(response.content).iter() if element.tag.endswith("}loc")]  # noqa: S314  # our own
    assert listed[:4] == [f"{BASE}{path}" for path in ("/", "/restaurants", "/terms", "/privacy")]
    apis = [reference.load(name) for name in reference.TITLES]
    operations = sum(1 + len(api.groups) for api in apis)
    assert len(listed) == 5 + len(docs.guides()) + len(docs.decisions()) + operations
    assert f"{BASE}/docs/api/data/reviews" in listed
    assert f"{BASE}/docs/mcp" in listed


@pytest.mark.django_db
def test_the_sitemap_leaves_out_pages_that_redirect_to_others(client: Client, settings: LazySettings) -> None:
    settings.TERMS_URL = "https://operator.example/terms"
    content = client.get("/sitemap-pages.xml").content.decode()
    assert f"<loc>{BASE}/terms</loc>" not in content
    assert f"<loc>{BASE}/privacy</loc>" in content


def test_security_txt_names_the_contact_of_the_installation(client: Client, settings: LazySettings) -> None:
    path = "/.well-known/security.txt"
    assert client.get(path).status_code == 404
    settings.SECURITY_CONTACT = "mailto:security@example.com"
    with time_machine.travel(datetime(2026, 1, 31, 12, tzinfo=UTC), tick=False):
        response = client.get(path)
    assert response["Content-Type"] == "text/plain; charset=utf-8"
    assert response.content.decode().splitlines() == [
        "Contact: mailto:security@example.com",
        "Expires: 2026-07-30T00:00:00Z",
        "Preferred-Languages: en",
        f"Canonical: {BASE}/.well-known/security.txt",
    ]


def test_the_icon_is_found_where_clients_look_for_it(client: Client) -> None:
    response = client.get("/favicon.ico")
    assert (response.status_code, response["Location"]) == (302, "/static/tablewire/mark.svg")


@pytest.mark.django_db
def test_the_full_text_for_models_has_the_pages_for_callers(client: Client) -> None:
    response = client.get("/llms-full.txt")
    assert (response.status_code, response["Content-Type"]) == (200, "text/markdown; charset=utf-8")
    text = response.content.decode()
    assert text.startswith(client.get("/llms.txt").content.decode())
    for name in ("mcp", *llms_txt.FOR_CALLERS):
        assert (llms_txt.PAGES / f"{name}.md").read_text().replace("http://127.0.0.1:8000", BASE) in text


@pytest.mark.django_db
def test_the_landing_page_links_its_descriptions_in_a_header_and_in_its_head(client: Client) -> None:
    response = client.get("/")
    links = [link.strip().split(">; rel=") for link in response["Link"].split(",")]
    assert [target.removeprefix("<") for target, _ in links] == [
        "/llms.txt",
        "/docs",
        "/docs/openapi/data.json",
        "/docs/openapi/management.json",
        "/mcp/server-card",
    ]
    assert '<link rel="alternate" type="text/markdown" href="/llms.txt"' in response.content.decode()
