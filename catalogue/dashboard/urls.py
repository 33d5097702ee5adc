"""Paths of the catalogue's pages, below /dashboard."""

from django.urls import path

from catalogue.dashboard import exports
from catalogue.dashboard.listing import claim, editing, offers, reviews

urlpatterns = [
    path("<slug:venue>/exports", exports.exports, name="data-exports"),
    path("<slug:venue>/exports/new", exports.new, name="data-export-new"),
    path("<slug:venue>/exports/<slug:export>", exports.export, name="data-export"),
    path("<slug:venue>/exports/<slug:export>/progress", exports.progress, name="data-export-progress"),
    path("<slug:venue>/exports/<slug:export>/state", exports.progress, {"part": "state"}, name="data-export-state"),
    path("<slug:venue>/exports/<slug:export>/pay", exports.pay, name="data-export-pay"),
    path("<slug:venue>/exports/<slug:export>/cancel", exports.cancel, name="data-export-cancel"),
    path("<slug:venue>/exports/<slug:export>/files/<str:name>", exports.file, name="data-export-file"),
    path("<slug:venue>/listing", claim.show, name="listing"),
    path("<slug:venue>/listing/claim/<slug:restaurant>", claim.claim, name="listing-claim"),
    path("<slug:venue>/listing/step/<slug:step>", claim.step, name="listing-step"),
    path("<slug:venue>/listing/save/<slug:part>", editing.save, name="listing-save"),
    path("<slug:venue>/listing/days/<slug:day>/remove", editing.remove_day, name="listing-day-remove"),
    path("<slug:venue>/listing/photos/<slug:photo>/remove", editing.remove_photo, name="listing-photo-remove"),
    path("<slug:venue>/listing/reviews", reviews.list_reviews, name="listing-reviews"),
    path("<slug:venue>/listing/reviews/<slug:review>", reviews.reply, name="listing-reply"),
    path("<slug:venue>/listing/offers", offers.list_offers, name="listing-offers"),
    path("<slug:venue>/listing/offers/active", offers.switch, name="listing-offers-switch"),
    path("<slug:venue>/listing/offers/new", offers.edit, name="listing-offer-new"),
    path("<slug:venue>/listing/offers/<int:offer>", offers.edit, name="listing-offer"),
    path("<slug:venue>/listing/offers/<int:offer>/remove", offers.remove, name="listing-offer-remove"),
]
