"""The page for a form that was opened before its user signed in again."""

import pytest
from django.test import Client

from accounts.models import Venue
from tests.support import users

OWN = {"origin": "http://testserver", "referer": "http://testserver/dashboard/x/settings"}


@pytest.fixture
def browser(venue: Venue) -> Client:
    """The owner's browser, which sends no CSRF token of the present session."""
    client = users.member(venue)
    client.handler.enforce_csrf_checks = True
    return client


def test_what_was_typed_can_be_submitted_again(venue: Venue, browser: Client) -> None:
    path = f"/dashboard/{venue.public_id}/settings/save"
    typed = {"name": "Trattoria <da> Ada", "address": "Via Roma 1\n00184 Roma", "csrfmiddlewaretoken": "x" * 64}
    response = browser.post(path, typed, headers=OWN)
    page = response.content.decode()
    assert response.status_code == 403
    assert "<h1>Please submit again</h1>" in page
    assert f'<form method="post" action="{path}" data-fresh-token>' in page
    assert '<input type="hidden" name="name" value="Trattoria &lt;da&gt; Ada">' in page
    assert '<input type="hidden" name="address" value="Via Roma 1\n00184 Roma">' in page
    assert 'href="http://testserver/dashboard/x/settings"' in page
    assert "x" * 64 not in page

    token = response.context["csrf_token"]
    again = browser.post(path, typed | {"csrfmiddlewaretoken": str(token)}, headers=OWN)
    assert again.status_code != 403


def test_passwords_are_not_repeated(browser: Client) -> None:
    page = browser.post("/account/login/", {"login": "a@example.com", "password": "hunter2"}, headers=OWN).content
    assert b"a@example.com" in page
    assert b"hunter2" not in page
    # Without its password the form cannot be submitted.
    assert b"Submit again" not in page
    assert b'<a class="button" href="http://testserver/dashboard/x/settings">Open the page again</a>' in page


def test_fields_whose_name_contains_code_are_repeated(venue: Venue, browser: Client) -> None:
    path = f"/dashboard/{venue.public_id}/settings/save"
    page = browser.post(path, {"postal_code": "00184", "code": ""}, headers=OWN).content
    assert b'<input type="hidden" name="postal_code" value="00184">' in page
    assert b"Submit again" in page


def test_forms_of_the_guest_register_are_offered_again(venue: Venue) -> None:
    path = f"/dashboard/{venue.public_id}/guests/rsv_x/merge"
    response = Client().post(path, {"with": "rsv_y"}, headers=OWN)
    assert (response.status_code, b"Submit again" in response.content) == (403, True)


@pytest.mark.parametrize("headers", [{"origin": "https://evil.example"}, {}])
def test_forms_of_other_sites_are_not_offered_again(venue: Venue, browser: Client, headers: dict[str, str]) -> None:
    path = f"/dashboard/{venue.public_id}/settings/save"
    response = browser.post(path, {"name": "Owned"}, headers=headers)
    assert response.status_code == 403
    assert b"Owned" not in response.content
    assert b"Submit again" not in response.content


def test_signed_out_users_are_asked_to_sign_in_first(client: Client) -> None:
    guest = Client(enforce_csrf_checks=True)
    page = guest.post("/account/signup/", {"email": "ada@example.com"}, headers=OWN).content.decode()
    assert '<a href="/account/login/" target="_blank">Sign in</a> first.' in page


def test_a_form_that_is_sent_signed_out_is_offered_again_after_sign_in(venue: Venue) -> None:
    path, typed = "/dashboard/you", {"first_name": "Ada", "new_password": ""}
    owner = users.membership(venue).user
    browser = Client(enforce_csrf_checks=True)
    browser.get("/account/login/")
    token = browser.cookies["csrftoken"].value
    response = browser.post(path, typed | {"csrfmiddlewaretoken": token}, headers=OWN)
    page = response.content.decode()
    assert response.status_code == 403
    assert '<a href="/account/login/" target="_blank">Sign in</a> first.' in page
    assert f'<form method="post" action="{path}" data-fresh-token>' in page
    assert '<input type="hidden" name="first_name" value="Ada">' in page

    # In another tab. The script of the page takes the token of the new session.
    browser.force_login(owner)
    browser.get(path)
    fresh = browser.cookies["csrftoken"].value
    assert browser.post(path, typed | {"csrfmiddlewaretoken": fresh}, headers=OWN).status_code == 302
    owner.refresh_from_db()
    assert owner.first_name == "Ada"


@pytest.mark.parametrize("path", ["/dashboard/you", "/admin/accounts/venue/add/"])
def test_forms_of_all_pages_are_offered_again(db: None, client: Client, path: str) -> None:
    response = client.post(path, {"first_name": "Ada"}, headers=OWN)
    assert (response.status_code, b"Submit again" in response.content) == (403, True)
    assert client.post(path, {"first_name": "Ada"}, headers={"origin": "https://evil.example"}).status_code == 302
    assert client.get(path).status_code == 302
