/**
 * Client of the Tablewire APIs: orders and reservations of a venue, and restaurant data.
 *
 * `management` and `data` are the types of the records and operations, generated from the two OpenAPI documents.
 */
export type * as data from "./generated/data.js";
export type * as management from "./generated/management.js";
export { dataClient, managementClient, result } from "./clients.js";
export type { ClientOptions, DataClient, ManagementClient, Payer } from "./clients.js";
export { ApiError, PaymentNotMade } from "./errors.js";
export { pages, records } from "./pagination.js";
export type { Next, Page } from "./pagination.js";
export type { Retries } from "./retries.js";
export { verifyWebhook, WebhookVerificationError } from "./webhooks.js";
export type { Event } from "./webhooks.js";
