// Uses the installed TypeScript client: `node contract.js NAME` reads its input and prints its result as JSON.
import { text } from "node:stream/consumers";
import {
  ApiError,
  dataClient,
  managementClient,
  pages,
  PaymentNotMade,
  records,
  result,
  verifyWebhook,
  WebhookVerificationError,
  type management,
  type ManagementClient,
} from "tablewire-client";
import { payer } from "tablewire-client/x402";

interface Given {
  base_url: string;
  key: string;
  date: string;
  address: string;
  private_key: `0x${string}`;
  body: string;
  headers: Record<string, string>;
  secret: string;
}

const orderBody = (quantity = 1): management.NewOrderRequest => ({
  customer_id: "cust_1",
  items: [{ menu_item_id: "margherita", quantity }],
  payment_method: "card",
});

const place = (api: ManagementClient, quantity = 1): Promise<management.OrderRecord> =>
  result(api.POST("/api/v2/orders", { body: orderBody(quantity) }));

const list = (api: ManagementClient, limit: number) => (next: { cursor?: string }) =>
  result(api.GET("/api/v2/orders", { params: { query: { limit, ...next } } }));

const fields = (error: unknown): Record<string, unknown> => {
  if (!(error instanceof ApiError)) throw error;
  const has_request_id = error.requestId?.startsWith("req_") ?? false;
  return { status: error.status, code: error.code, param: error.param, has_request_id };
};

// What a call throws.
const thrown = (call: Promise<unknown>): Promise<unknown> => call.then(() => undefined, (error: unknown) => error);

const functions: Record<string, (api: ManagementClient, given: Given) => Promise<unknown>> = {
  // Place five orders, complete one, and list them over pages.
  async orders(api) {
    const placed: management.OrderRecord[] = [];
    for (const quantity of [1, 2, 3, 4, 5]) placed.push(await place(api, quantity));
    const params = { path: { id: placed[0]!.id }, header: { "If-Match": '"1"' } };
    const completed = await result(
      api.PUT("/api/v2/orders/{id}/status", { params, body: { status: "completed" } }),
    );
    const listed: management.OrderRecord[] = [];
    for await (const order of records(list(api, 2))) listed.push(order);
    const lengths: number[] = [];
    for await (const page of pages(list(api, 2))) lengths.push(page.data.length);
    return {
      placed: placed.map(({ id }) => id),
      listed: listed.map(({ id }) => id),
      listed_async: listed.map(({ id }) => id),
      pages: lengths,
      totals: listed.map(({ total }) => total),
      status: completed.status,
      is_later: completed.completed_at! >= placed[0]!.created_at,
    };
  },

  // Book the first free time of a day, and read the reservation.
  async table(api, { date }) {
    const day = await result(api.GET("/api/v2/availability", { params: { query: { date, party_size: 2 } } }));
    const time = day.days[0]!.slots.find(({ state }) => state === "free")!.time;
    const body = { customer_name: "Ada Lovelace", customer_email: "ada@example.com", date, time, party_size: 2 };
    const { id } = await result(api.POST("/api/v2/reservations", { body }));
    const read = await result(api.GET("/api/v2/reservations/{id}", { params: { path: { id } } }));
    return { status: read.status, date: read.date, time: read.time, free_at: time };
  },

  // How many orders there are, and which is the newest.
  async count(api) {
    const ids: string[] = [];
    for await (const { id } of records(list(api, 100))) ids.push(id);
    return { orders: ids.length, newest: ids[0] ?? null };
  },

  async place(api) {
    return { id: (await place(api)).id };
  },

  // List orders until the allowance is used up.
  async exhaust(_, { base_url, key }) {
    const hasty = managementClient({ baseUrl: base_url, apiKey: key, retries: { maxPauseS: 0 } });
    for (let calls = 0; ; calls++) {
      const error = await thrown(hasty.GET("/api/v2/orders"));
      if (error) return { calls, retry_after_s: (error as ApiError).retryAfterS, ...fields(error) };
    }
  },

  // Mark a dish as sold out, which takes no Idempotency-Key.
  async sell_out(api) {
    const params = { path: { id: "margherita" } };
    return fields(await thrown(api.PATCH("/api/v2/menu/items/{id}", { params, body: { sold_out: "today" } })));
  },

  // An order that the API refuses, and one that it does not have.
  async refused(api) {
    const invalid = await thrown(place(api, 0));
    const missing = await thrown(api.GET("/api/v2/orders/{id}", { params: { path: { id: "ord_none" } } }));
    const details = (invalid as ApiError).details.map(({ param }) => param);
    return { invalid: { ...fields(invalid), details }, missing: fields(missing) };
  },

  // Verify a delivery, and refuse forged ones.
  async webhook(_, { body, headers, secret }) {
    const event = verifyWebhook(body, headers, secret);
    const forged: string[] = [];
    for (const each of [headers, { ...headers, "webhook-signature": "nonsense" }, {}]) {
      try {
        verifyWebhook(`${body} `, each, secret);
      } catch (error) {
        if (error instanceof WebhookVerificationError) forged.push("refused");
      }
    }
    return { id: event.id, type: event.type, order: event.data.id, timestamp: event.timestamp, forged };
  },

  // Find a restaurant, and buy what is around it; then what is above the limit, and without a payer.
  async paid(_, { base_url, address, private_key }) {
    // An address of its own has a rate limit of its own.
    const options = { baseUrl: base_url, headers: { "X-Forwarded-For": address } };
    const buyer = dataClient({ ...options, payer: payer(private_key, { maxPriceUsdc: "0.002" }) });
    const page = await result(buyer.GET("/v1/restaurants", { params: { query: { market: "copenhagen", limit: 2 } } }));
    const slug = page.data[0]!.slug;
    const around = { params: { path: { slug } } };
    const answer = await buyer.GET("/v1/restaurants/{slug}/context", around);
    const photos = { params: { path: { slug }, query: { fields: "core,photos" } } };
    const dear = await thrown(buyer.GET("/v1/restaurants/{slug}", photos));
    const unpaid = await thrown(dataClient(options).GET("/v1/restaurants/{slug}/context", around));
    return {
      hits: page.data.length,
      receipt: answer.response.headers.get("PAYMENT-RESPONSE"),
      entries: answer.data?.entries.length,
      dear: dear instanceof PaymentNotMade ? "not paid" : String(dear),
      unpaid: fields(unpaid),
    };
  },
};

const given = JSON.parse(await text(process.stdin)) as Given;
const api = managementClient({ baseUrl: given.base_url, apiKey: given.key, retries: { firstPauseS: 0.1 } });
console.log(JSON.stringify(await functions[process.argv[2]!]!(api, given)));
