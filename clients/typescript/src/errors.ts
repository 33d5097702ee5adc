export interface Problem {
  param: string | null;
  message: string;
}

interface Failure {
  code?: string;
  message?: string;
  detail?: string;
  param?: string | null;
  request_id?: string;
  details?: Problem[];
  alternatives?: string[];
}

/**
 * The API has answered with an error, after all retries.
 *
 * `code` is for programs and `message` for people; `param` names the invalid parameter. Quote `requestId` to the
 * operator. `retryAfterS` is how long to wait, where the answer says so. `body` is the whole answer. An answer that is
 * not the API's, such as a proxy's, has the code `unknown`.
 */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: string;
  readonly param: string | null;
  readonly requestId: string | null;
  readonly details: Problem[];
  readonly alternatives: string[];

  constructor(
    readonly status: number,
    readonly body: Record<string, unknown>,
    readonly retryAfterS: number | null,
  ) {
    // The body of a 402 is that of x402, in which `error` is the code and `detail` the message.
    const failure: Failure =
      typeof body.error === "object" && body.error !== null ? body.error : { ...body, code: body.error as string };
    super(failure.message ?? failure.detail ?? `The server answered ${status}.`);
    this.code = failure.code ?? "unknown";
    this.param = failure.param ?? null;
    this.requestId = failure.request_id ?? null;
    this.details = failure.details ?? [];
    this.alternatives = failure.alternatives ?? [];
  }
}

/** The price is above the payer's limit, or in a currency or network that it cannot pay. Nothing was paid. */
export class PaymentNotMade extends Error {
  override readonly name = "PaymentNotMade";
}
