"""What was booked on the guests' page, and by which rules it is counted."""

from django.db import models

from framework.public_ids import new_id
from reservations.models.reservations import Reservation


class OnlineBooking(models.Model):
    """One form that was sent on the guests' page, and what it has booked. That a form books once is its key's doing.

    Of who sent it only keyed hashes are kept, by which bookings are counted.
    """

    form = models.UUIDField(primary_key=True, default=new_id, editable=False)
    reservation = models.OneToOneField(Reservation, on_delete=models.CASCADE, related_name="online_booking")
    content = models.CharField(max_length=64, help_text="Hash of what the form said")
    contact = models.CharField(max_length=64, help_text="Hash of the guest's mail address or number")
    address = models.CharField(max_length=64, help_text="Hash of the address that the form came from")
    created_at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["contact"], name="online_booking_of_contact"),
            models.Index(fields=["address", "created_at"], name="online_booking_of_address"),
        ]

    def __str__(self) -> str:
        return str(self.reservation)
