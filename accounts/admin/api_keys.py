"""Where staff issue, change, replace and revoke API keys."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from accounts.admin.venue_scoping import OfVenues
from accounts.models import OVERLAPS, ApiKey, CannotProlong, CannotRotate, Scope
from framework.admin.action_confirmation import MOST_NAMED, ask, ask_about
from framework.forms.optimistic_concurrency import StaleForm, StaleFormAdmin

WORDS_OF_OVERLAPS = ("not at all", "for an hour", "for a day", "for a week")


class KeyForm(StaleForm):
    """A key, with a box to tick for each scope."""

    scopes = forms.TypedMultipleChoiceField(
        choices=[(scope, scope) for scope in Scope.values],
        widget=forms.CheckboxSelectMultiple,
        initial=Scope.values,
        required=False,
        help_text="What the key may do",
    )

    class Meta:
        model = ApiKey
        fields = ["venue", "name", "scopes", "allowance", "expires_at"]

    def clean(self) -> dict[str, Any]:
        """Refuse an end that is over for a key that is to begin, and a later one for a key that was made to end."""
        values = super().clean()
        end = values.get("expires_at")
        is_new = self.instance._state.adding
        if is_new and end is not None and end <= timezone.now():
            self.add_error("expires_at", "This is over.")
        elif not is_new and "expires_at" in self.changed_data and "expires_at" in values:
            try:
                self.instance.must_not_end_later(end)
            except CannotProlong as refusal:
                self.add_error("expires_at", refusal.message)
        return values


class OverlapForm(forms.Form):
    """How long a key that is replaced may still be used."""

    overlap = forms.TypedChoiceField(
        label="The old keys still work",
        choices=[(str(number), words) for number, words in enumerate(WORDS_OF_OVERLAPS)],
        coerce=lambda number: OVERLAPS[int(number)],
        initial="2",
    )


@admin.register(ApiKey)
class ApiKeyAdmin(OfVenues, StaleFormAdmin):
    """API keys, without their secrets. A new one is shown once, after it is saved."""

    form = KeyForm
    list_display = [
        *("name", "venue", "shown", "state", "may", "allowance"),
        *("created_at", "expires_at", "last_used_at", "revoked_at"),
    ]
    list_select_related = ["venue"]
    search_fields = ["name", "start", "end", "venue__name"]
    ordering = ["-created_at", "id"]
    autocomplete_fields = ["venue"]
    fields = [
        *("venue", "name", "shown", "public_id", "family", "scopes", "allowance", "expires_at"),
        *("created_at", "last_used_at", "last_used_ip", "revoked_at"),
    ]
    actions = ["rotate", "revoke", "revoke_families"]

    def get_readonly_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> list[str]:
        """A key stays with its venue; who it was and when it ended is history. What it may use is ours to say."""
        fixed = ["shown", "public_id", "family", "created_at", "last_used_at", "last_used_ip", "revoked_at"]
        fixed = fixed if self.is_ours(request) else ["allowance", *fixed]
        return ["venue", *fixed] if obj else fixed

    def get_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> Any:
        """A key that is not there yet has only what is asked for."""
        asked = [name for name in KeyForm.Meta.fields if name != "allowance" or self.is_ours(request)]
        return super().get_fields(request, obj) if obj else asked

    @admin.display(description="key", ordering="start")
    def shown(self, key: ApiKey) -> str:
        """The letters by which keys are told apart."""
        return key.shown

    @admin.display(description="id")
    def public_id(self, key: ApiKey) -> str:
        """The id that `manage.py apikey` takes."""
        return key.public_id

    @admin.display(description="state")
    def state(self, key: ApiKey) -> str:
        """Whether it lets anybody in."""
        return key.state(timezone.now())

    @admin.display(description="may")
    def may(self, key: ApiKey) -> str:
        """Its scopes."""
        return "everything" if set(key.scopes) == set(Scope.values) else ", ".join(key.scopes) or "nothing"

    def save_model(self, request: HttpRequest, obj: ApiKey, form: KeyForm, change: bool) -> None:
        """Issue a new key, and show its text this once."""
        if change:
            super().save_model(request, obj, form, change)
            return
        issued = ApiKey.issue(
            obj.venue, name=obj.name, allowance=obj.allowance, scopes=obj.scopes, expires_at=obj.expires_at
        )
        # What follows in the admin, its log and its redirect, is about the stored row.
        obj.__dict__.update(issued.row.__dict__)
        self.message_user(request, f"The key, shown only now: {issued.text}", messages.WARNING)

    def has_delete_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        """A key is revoked, not deleted: what it did stays explainable."""
        return False

    @admin.action(description="Revoke the selected keys, at once and for good", permissions=["change"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> HttpResponse | None:
        """Ask; then revoke. Keys that were revoked before keep their moment."""
        chosen = ApiKey.objects.filter(pk__in=queryset.order_by().values("pk"))
        if "confirmed" not in request.POST:
            return self.ask_to_revoke(request, chosen, action="revoke")
        self.message_user(request, f"{chosen.revoke(now=timezone.now())} revoked.", messages.SUCCESS)
        return None

    @admin.action(description="Revoke the selected keys and their families", permissions=["change"])
    def revoke_families(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> HttpResponse | None:
        """Ask; then revoke also the keys that these replaced, and those that replaced them."""
        chosen = ApiKey.objects.filter(family__in=queryset.order_by().values("family"))
        if "confirmed" not in request.POST:
            return self.ask_to_revoke(request, chosen, action="revoke_families")
        self.message_user(request, f"{chosen.revoke(now=timezone.now())} revoked.", messages.SUCCESS)
        return None

    def ask_to_revoke(self, request: HttpRequest, chosen: QuerySet[ApiKey], *, action: str) -> HttpResponse:
        """The page that names the keys which would let nobody in any more."""
        rows = chosen.filter(revoked_at=None).select_related("venue").order_by("created_at", "pk")
        words = "Whoever calls with one of these keys is refused from then on. This cannot be taken back."
        asked: dict[str, Any] = {"title": "Revoke keys?", "words": words, "yes": "Yes, revoke them"}
        return ask_about(self, request, rows, action=action, **asked)

    def has_rotate_permission(self, request: HttpRequest) -> bool:
        """Who rotates changes a key and adds another."""
        return self.has_change_permission(request) and self.has_add_permission(request)

    @admin.action(description="Rotate the selected keys: issue new ones in their place", permissions=["rotate"])
    def rotate(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> HttpResponse | None:
        """Ask for the overlap, then replace each key and show the new ones this once."""
        form = OverlapForm(request.POST if "confirmed" in request.POST else None)
        if form.is_valid():
            for key in queryset.order_by("created_at", "pk"):
                try:
                    issued = key.rotate(overlap=form.cleaned_data["overlap"], now=timezone.now())
                except CannotRotate as refusal:
                    self.message_user(request, refusal.message, messages.ERROR)
                else:
                    self.log_addition(request, issued.row, f"In place of {key.public_id}")
                    words = f"In place of {key}, shown only now: {issued.text}"
                    self.message_user(request, words, messages.WARNING)
            return None
        told = {
            "form": form,
            "unnamed": max(queryset.count() - MOST_NAMED, 0),
            "examples": queryset.order_by("created_at", "pk")[:MOST_NAMED],
        }
        template = "accounts/confirm_rotation.html"
        return ask(self, request, template, title="Rotate keys?", action="rotate", **told)
