"""The admin of the catalogue. Importing these modules registers their model admins."""

from catalogue.admin import exports, insights, offers, photos, reference_data, reviews
from catalogue.admin.queues import claims, duplicates, reports
from catalogue.admin.restaurants import restaurants, versions
