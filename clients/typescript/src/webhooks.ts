import { Webhook, WebhookVerificationError } from "standardwebhooks";

export { WebhookVerificationError };

/** A verified event. It can arrive twice and after later ones: skip known ids, and records of a lower version. */
export interface Event {
  id: string;
  type: string;
  timestamp: string;
  /** The record at that time, as the API returns it: a `management.OrderRecord` for the types `order.*`. */
  data: Record<string, unknown>;
}

/**
 * The event of a delivery. `body` is what came, byte for byte, and `secret` the endpoint's (`whsec_...`).
 *
 * Throws WebhookVerificationError if the signature is missing, of another secret or body, or five minutes old.
 */
export function verifyWebhook(
  body: string | Uint8Array,
  headers: Headers | Record<string, string | string[] | undefined>,
  secret: string,
): Event {
  const entries = headers instanceof Headers ? [...headers] : Object.entries(headers);
  const named = Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), String(value ?? "")]));
  const text = typeof body === "string" ? body : new TextDecoder().decode(body);
  const content = new Webhook(secret).verify(text, named) as Omit<Event, "id">;
  return { id: named["webhook-id"] ?? "", ...content };
}
