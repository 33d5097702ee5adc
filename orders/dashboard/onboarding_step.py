"""The set-up step for the menu, for the overview."""

from accounts.onboarding import Step, build_venue_url
from accounts.tenancy.permissions import Access, Right
from orders.models import Menu


def find_menu_step(access: Access) -> Step | None:
    """Return the step to publish the menu, until it is published; a sandbox needs none. One query."""
    if access.venue.is_sandbox or not access.may(Right.MENU):
        return None
    if Menu.objects.filter(venue=access.venue, is_published=True).exists():
        return None
    return Step(
        "Publish your menu",
        "Orders are then limited to its dishes and use its prices.",
        build_venue_url("menu", access),
    )
