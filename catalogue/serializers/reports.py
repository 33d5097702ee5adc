"""Reports of what is wrong."""

from typing import Any

from rest_framework import serializers

from catalogue.models import Report
from catalogue.serializers.shared import SLUG
from framework.api.fields import EmailField, StrictChoiceField, StrictSerializer, TextField
from framework.api.pagination.schema import DateTimeField
from framework.public_ids import encode


class NewReport(StrictSerializer):
    """What is wrong with a restaurant's record."""

    kind = StrictChoiceField(choices=Report.Kind.choices)
    text = TextField(required=False, max_length=1000, lines=True, help_text="What you have seen.")
    same_as = TextField(
        required=False, max_length=120, pattern=SLUG, help_text="With `duplicate`: the slug of the other restaurant."
    )
    contact = EmailField(required=False, help_text="An address for questions. Visible to our staff only.")


class ReportRecord(serializers.Serializer[Any]):
    """A report, and what has become of it."""

    id = serializers.SerializerMethodField(help_text="It begins with `rep_`.")
    kind = serializers.ChoiceField(choices=Report.Kind.values)
    state = serializers.ChoiceField(choices=Report.State.values)
    created_at = DateTimeField()

    def get_id(self, report: Report) -> str:
        return encode("rep", report.pk)
