"""Paths of the catalogue's pages, below /dashboard."""

from django.urls import path

from catalogue.dashboard import exports

urlpatterns = [
    path("<slug:venue>/exports", exports.exports, name="data-exports"),
    path("<slug:venue>/exports/new", exports.new, name="data-export-new"),
    path("<slug:venue>/exports/<slug:export>", exports.export, name="data-export"),
    path("<slug:venue>/exports/<slug:export>/progress", exports.progress, name="data-export-progress"),
    path("<slug:venue>/exports/<slug:export>/state", exports.progress, {"part": "state"}, name="data-export-state"),
    path("<slug:venue>/exports/<slug:export>/pay", exports.pay, name="data-export-pay"),
    path("<slug:venue>/exports/<slug:export>/cancel", exports.cancel, name="data-export-cancel"),
    path("<slug:venue>/exports/<slug:export>/files/<str:name>", exports.file, name="data-export-file"),
]
