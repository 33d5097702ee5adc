"""Mail to people who sign in, until it is sent."""

from django.db import models

from framework.public_ids import new_id


class Letter(models.Model):
    """One mail, written in the transaction of what it tells of. A worker claims it through `next_try_at`.

    Its text is encrypted, as it may hold a link that lets somebody in, and the row is deleted once the mail is sent.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    address = models.CharField(max_length=254)
    subject = models.CharField(max_length=300)
    text = models.TextField(editable=False, help_text="Encrypted")
    created_at = models.DateTimeField()
    next_try_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["next_try_at"], name="letter_due")]

    def __str__(self) -> str:
        return f"{self.subject} to {self.address}"
