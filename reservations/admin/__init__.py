"""The back office of reservations."""

from reservations.admin.reservations import ReservationAdmin
from reservations.admin.service_hours import ClosureAdmin, ServicePeriodAdmin
from reservations.admin.tables import AreaAdmin, CombinationAdmin, TableAdmin

__all__ = [
    "AreaAdmin",
    "ClosureAdmin",
    "CombinationAdmin",
    "ReservationAdmin",
    "ServicePeriodAdmin",
    "TableAdmin",
]
