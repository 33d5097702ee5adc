"""The terms and the privacy notice of an installation."""

import re

import pytest
from django.conf import LazySettings
from django.test import Client

from config.website import legal


@pytest.mark.parametrize(("path", "title"), [("/terms", "Terms of use"), ("/privacy", "Privacy notice")])
def test_the_page_names_the_operator_of_the_installation(
    client: Client, settings: LazySettings, path: str, title: str
) -> None:
    page = client.get(path).content.decode()
    assert f"<h1>{title}</h1>" in page
    assert "operated by" not in page
    # Each heading is in the list of contents.
    assert re.findall(r'<h2 id="([^"]+)">', page) == re.findall(r'<li><a href="#([^"]+)">', page)
    assert f"Last changed on {legal.UPDATED_DATE:%-d %B %Y}." in page

    settings.OPERATOR_NAME, settings.OPERATOR_EMAIL = "Ada & Sons", "office@example.com"
    page = client.get(path).content.decode()
    assert 'operated by Ada &amp; Sons: <a href="mailto:office@example.com">office@example.com</a>.' in page


@pytest.mark.parametrize(("path", "setting"), [("/terms", "TERMS_URL"), ("/privacy", "PRIVACY_URL")])
def test_the_operators_own_page_is_used_where_there_is_one(
    client: Client, settings: LazySettings, path: str, setting: str
) -> None:
    setattr(settings, setting, "https://example.com/legal")
    response = client.get(path)
    assert (response.status_code, response["Location"]) == (302, "https://example.com/legal")


def test_the_privacy_notice_states_the_retention_of_guests(client: Client, settings: LazySettings) -> None:
    assert "Each restaurant sets how long it stores them." in client.get("/privacy").content.decode()
    settings.GUEST_RETENTION_DAYS = 90
    assert "erased 90 days after your last visit" in client.get("/privacy").content.decode()
