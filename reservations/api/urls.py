"""Paths of reservations, below /api/v1 and /api/v2."""

from typing import Any

from framework.api.routers import OptionalSlashRouter
from reservations.api.availability import AvailabilityViewSet
from reservations.api.holds import HoldViewSet
from reservations.api.viewsets import ReservationViewSet, SingleReservationViewSet


def make_urls(reservations: type[ReservationViewSet]) -> list[Any]:
    """Return the paths of a version, which differ in what can be done with a single reservation."""
    router = OptionalSlashRouter()
    router.register("availability", AvailabilityViewSet, basename="availability")
    router.register("holds", HoldViewSet, basename="hold")
    router.register("reservations", reservations, basename="reservation")
    return router.urls


v1 = make_urls(ReservationViewSet)
v2 = make_urls(SingleReservationViewSet)
