"""What a new venue has yet to do about its menu, for the overview."""

from accounts.onboarding import Step, url_of
from accounts.tenancy.permissions import Access, Right
from orders.models import Menu


def menu(mine: Access) -> Step | None:
    """A menu that is published; what is for trying out needs none. One query."""
    if mine.venue.is_sandbox or not mine.may(Right.MENU):
        return None
    if Menu.objects.filter(venue=mine.venue, is_published=True).exists():
        return None
    return Step("Publish your menu", "Orders are then priced by it, and hold nothing else.", url_of("menu", mine))
