"""Users, accounts, venues, API keys, apps, the request log, and the events, webhooks and alerts of a venue."""

from accounts.models.alerts import Alert, AlertKind, AlertSubscription, PushDevice
from accounts.models.api_keys import ApiKey, Scope
from accounts.models.back_office import Assignment, SavedFilter
from accounts.models.counters import RecordCount
from accounts.models.demo_data import DemoData
from accounts.models.idempotency import IdempotentCall
from accounts.models.oauth import OAuthApp, OAuthCode, OAuthGrant, OAuthToken, Resource
from accounts.models.outgoing_mail import OutgoingMail
from accounts.models.request_log import ApiCall, ApiCallCount
from accounts.models.staff_access import StaffAccess
from accounts.models.users import Account, Invitation, Membership, Role, User
from accounts.models.venues import SandboxClock, Venue, on_clock_of
from accounts.models.webhooks import Event, EventType, WebhookDelivery, WebhookEndpoint
