"""The set-up step for the menu, for the overview."""

from accounts.onboarding import Step, url_of
from accounts.tenancy.permissions import Access, Right
from orders.models import Menu


def menu(mine: Access) -> Step | None:
    """The step to publish the menu; a sandbox does not need one. One query."""
    if mine.venue.is_sandbox or not mine.may(Right.MENU):
        return None
    if Menu.objects.filter(venue=mine.venue, is_published=True).exists():
        return None
    return Step("Publish your menu", "Orders are then limited to its dishes and use its prices.", url_of("menu", mine))
