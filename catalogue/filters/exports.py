"""Parameters of download links."""

from catalogue.filters.param_types import integer
from framework.api.fields import TextField
from framework.api.query_params.declarations import QueryParams


class DownloadParams(QueryParams):
    """The signature of a download link. Without it the request needs a session."""

    until = integer(0, 10**12, "When the link expires, in Unix seconds.")
    signature = TextField(required=False, max_length=100, help_text="The signature in the link of the record.")
