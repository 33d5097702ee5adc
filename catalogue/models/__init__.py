from catalogue.models.claims import RestaurantClaim
from catalogue.models.exports import Export, ExportPart, Removal
from catalogue.models.insights import Insight, InsightCall, InsightDemand
from catalogue.models.landmarks import Landmark, LandmarkName, NeighborhoodChange
from catalogue.models.offers import Deposit, FlowBooking, FlowRule, FlowSlot, Listing
from catalogue.models.photos import Photo, PhotoImport
from catalogue.models.read_model import Kitchen, Record, SearchRow
from catalogue.models.reference_data import Attribute, Cuisine, Holiday, ImportRun, Market, Source
from catalogue.models.restaurants import Restaurant, SourceRecord
from catalogue.models.review_queues import MatchCandidate, Report
from catalogue.models.reviews import Review
from catalogue.models.versions import FormerSlug, Version
