"""The admin of the catalogue. Importing these modules registers their model admins."""

from catalogue.admin import exports, insights, offers, photos, reference_data, reviews  # noqa: F401
from catalogue.admin.queues import duplicates, reports  # noqa: F401
from catalogue.admin.restaurants import restaurants, versions  # noqa: F401
