import createClient, { type Client } from "openapi-fetch";
import { ApiError } from "./errors.js";
import type { paths as DataPaths } from "./generated/data.js";
import { KEYED_OPERATIONS } from "./generated/keyed_operations.js";
import type { paths as ManagementPaths } from "./generated/management.js";
import { DEFAULT_RETRIES, retryAfterS, retrying, type Retries } from "./retries.js";

/** A client of the management API, version 2: `client.GET("/api/v2/orders", { params })`. */
export type ManagementClient = Client<ManagementPaths>;
/** A client of the restaurant data API. */
export type DataClient = Client<DataPaths>;
/** Makes a fetch pay for answers; `payer` of `tablewire-client/x402` makes one. */
export type Payer = (fetch: typeof globalThis.fetch) => typeof globalThis.fetch;

export interface ClientOptions {
  baseUrl: string;
  /** Of each try; 30 seconds without it. */
  timeoutS?: number;
  retries?: Partial<Retries>;
  /** Sent with each request. */
  headers?: Record<string, string>;
  /** Instead of the global one. */
  fetch?: typeof globalThis.fetch;
}

/** A client with the key of a venue. */
export function managementClient(options: ClientOptions & { apiKey: string }): ManagementClient {
  return makeClient<ManagementPaths>(options);
}

/**
 * A client of restaurant data. Free calls need neither key nor payer.
 *
 * `apiKey` is the key of an account with linked wallets or a plan, or the token of a wallet session; with it, calls have
 * that tier's prices and limits. Without a payer, a paid call throws an ApiError with the status 402.
 */
export function dataClient(options: ClientOptions & { apiKey?: string; payer?: Payer }): DataClient {
  return makeClient<DataPaths>(options);
}

function makeClient<Paths extends object>(options: ClientOptions & { apiKey?: string; payer?: Payer }): Client<Paths> {
  const { baseUrl, apiKey, payer, timeoutS = 30, retries, headers } = options;
  const repeated = retrying(options.fetch ?? globalThis.fetch, { ...DEFAULT_RETRIES, ...retries }, timeoutS);
  const client = createClient<Paths>({
    baseUrl,
    fetch: payer ? payer(repeated) : repeated,
    headers: { ...headers, ...(apiKey ? { Authorization: `Bearer ${apiKey}` } : {}) },
  });
  client.use({
    onRequest({ request, schemaPath }) {
      if (KEYED_OPERATIONS.has(`${request.method} ${schemaPath}`) && !request.headers.has("Idempotency-Key")) {
        request.headers.set("Idempotency-Key", crypto.randomUUID());
      }
    },
    async onResponse({ response }) {
      if (response.ok) return;
      const body: unknown = await response.json().catch(() => null);
      const fields = typeof body === "object" && body !== null ? (body as Record<string, unknown>) : {};
      throw new ApiError(response.status, fields, retryAfterS(response));
    },
  });
  return client;
}

/** The record of a call, which has thrown if there is none: `const order = await result(client.POST(...))`. */
export async function result<Answer extends { data?: unknown }>(
  call: Promise<Answer>,
): Promise<NonNullable<Answer["data"]>> {
  // Errors are thrown by the client, so that an answer without content is all that has none.
  return (await call).data as NonNullable<Answer["data"]>;
}
