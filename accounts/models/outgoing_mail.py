"""The outbox of mail to users."""

from django.db import models

from framework.public_ids import new_id


class OutgoingMail(models.Model):
    """A mail that is not sent yet (accounts.mail_outbox). A worker leases it by moving `next_attempt_at`.

    The text is encrypted, because it may hold a link that signs a user in. The row is deleted when the mail is sent.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    address = models.CharField(max_length=254)
    subject = models.CharField(max_length=300)
    text = models.TextField(editable=False, help_text="Encrypted")
    topic = models.CharField(max_length=40, blank=True, default="", help_text="Public id of what the mail is about")
    created_at = models.DateTimeField()
    next_attempt_at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["next_attempt_at"], name="outgoing_mail_due"),
            models.Index(fields=["topic"], name="outgoing_mail_by_topic", condition=~models.Q(topic="")),
        ]

    def __str__(self) -> str:
        return f"{self.subject} to {self.address}"
