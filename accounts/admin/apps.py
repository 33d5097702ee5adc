"""Apps and what was granted to them, in the back office: read-only, apart from their end."""

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.safestring import SafeString

from accounts.models import OAuthApp, OAuthGrant
from accounts.oauth import registration
from framework.admin.action_confirmation import render_rows_confirmation
from framework.admin.badges import COLOURS, badge
from framework.admin.read_only import ReadOnlyAdmin


@admin.register(OAuthApp)
class OAuthAppAdmin(ReadOnlyAdmin):
    """Apps without their secrets."""

    list_display = ["name", "state", "kind", "account", "client_id", "created_at"]
    list_select_related = ["account"]
    list_filter = ["kind"]
    search_fields = ["name", "document_url", "account__name"]
    ordering = ["-created_at", "id"]
    fields = [
        *("name", "state", "kind", "account", "client_id", "redirect_uris", "own_scopes", "document_read_at"),
        *("created_at", "disabled_at"),
    ]
    actions = ["disable"]

    def state(self, app: OAuthApp) -> SafeString:
        state = "active" if app.disabled_at is None else "disabled"
        return badge(state, COLOURS.get(state, ""))

    @admin.display(description="client id")
    def client_id(self, app: OAuthApp) -> str:
        return app.client_id

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("accounts.revoke_oauthapp")

    @admin.action(description="Disable the selected apps permanently", permissions=["revoke"])
    def disable(self, request: HttpRequest, queryset: QuerySet[OAuthApp]) -> HttpResponse | None:
        """Ask for confirmation, then disable the apps with all that was granted to them."""
        apps = OAuthApp.objects.filter(pk__in=queryset.order_by().values("pk"), disabled_at=None)
        if "confirmed" in request.POST:
            number = sum(registration.disable_app(app, now=timezone.now()) for app in apps)
            self.message_user(request, f"{number} disabled.", messages.SUCCESS)
            return None
        return render_rows_confirmation(
            self,
            request,
            apps.order_by("created_at", "pk"),
            action="disable",
            title="Disable apps?",
            message="All access that was granted to these apps ends immediately. This cannot be undone.",
            confirm_label="Disable apps",
        )


@admin.register(OAuthGrant)
class OAuthGrantAdmin(ReadOnlyAdmin):
    """What members have granted to apps."""

    list_display = ["app", "state", "account", "user", "venue", "resource", "scopes", "last_used_at"]
    list_select_related = ["app", "account", "user", "venue"]
    list_filter = ["resource"]
    search_fields = ["app__name", "account__name", "user__email"]
    ordering = ["-created_at", "id"]
    fields = [
        *("app", "state", "account", "user", "venue", "resource", "scopes", "last_used_at"),
        *("public_id", "created_at", "expires_at", "revoked_at"),
    ]
    actions = ["revoke"]

    def state(self, grant: OAuthGrant) -> SafeString:
        now = timezone.now()
        state = "revoked" if grant.revoked_at else "active" if grant.is_active(now) else "expired"
        return badge(state, COLOURS.get(state, ""))

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("accounts.revoke_oauthgrant")

    @admin.action(description="Revoke the selected grants permanently", permissions=["revoke"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[OAuthGrant]) -> HttpResponse | None:
        """Ask for confirmation, then revoke the grants with their tokens."""
        grants = OAuthGrant.objects.filter(pk__in=queryset.order_by().values("pk"))
        if "confirmed" in request.POST:
            self.message_user(request, f"{grants.revoke(now=timezone.now())} revoked.", messages.SUCCESS)
            return None
        return render_rows_confirmation(
            self,
            request,
            grants.filter(revoked_at=None).select_related("app", "account").order_by("created_at", "pk"),
            action="revoke",
            title="Revoke grants?",
            message="Requests with tokens of these grants will fail. This cannot be undone.",
            confirm_label="Revoke grants",
        )
