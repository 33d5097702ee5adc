const SAFE_TO_REPEAT = ["GET", "HEAD", "OPTIONS", "PUT", "DELETE"];
const REPEATED_STATUSES = [429, 500, 502, 503, 504];

/**
 * Requests are sent up to `maxTries` times, if they are safe to repeat or have an Idempotency-Key.
 *
 * The pause is the Retry-After of the answer, or up to `firstPauseS` doubled with each try, and random so that clients
 * spread. A Retry-After above `maxPauseS` is not waited for: the error is thrown, with `retryAfterS`.
 */
export interface Retries {
  maxTries: number;
  firstPauseS: number;
  maxPauseS: number;
}

export const DEFAULT_RETRIES: Retries = { maxTries: 4, firstPauseS: 0.5, maxPauseS: 60 };

/** The Retry-After of an answer in seconds; null without a valid one. */
export function retryAfterS(response: Response): number | null {
  const value = response.headers.get("Retry-After");
  if (value === null) return null;
  if (/^\d+$/.test(value)) return Number(value);
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : Math.max(0, (at - Date.now()) / 1000);
}

/** A fetch that sends a request as often as the rules allow; `timeoutS` is for each try. */
export function retrying(fetch: typeof globalThis.fetch, retries: Retries, timeoutS: number): typeof globalThis.fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    for (let tries = 1; ; tries++) {
      const signal = AbortSignal.any([request.signal, AbortSignal.timeout(timeoutS * 1000)]);
      let outcome: Response | undefined;
      let failure: unknown;
      try {
        outcome = await fetch(request.clone(), { signal });
      } catch (error) {
        failure = error;
      }
      const pause = request.signal.aborted ? null : pauseS(retries, request, outcome, tries);
      if (pause === null) {
        if (outcome) return outcome;
        throw failure;
      }
      await outcome?.body?.cancel();
      await new Promise((resolve) => setTimeout(resolve, pause * 1000));
    }
  };
}

/** How long to wait before the next try; null if there is none. No outcome: the connection failed. */
function pauseS(retries: Retries, request: Request, outcome: Response | undefined, tries: number): number | null {
  const isRepeatable = SAFE_TO_REPEAT.includes(request.method) || request.headers.has("Idempotency-Key");
  if (tries >= retries.maxTries || !isRepeatable || outcome?.ok) return null;
  const jitter = Math.random() * Math.min(retries.firstPauseS * 2 ** (tries - 1), retries.maxPauseS);
  const asked = outcome ? retryAfterS(outcome) : null;
  // Not only 429 and 503: a call whose first try is in progress, or a transfer not yet seen on the chain.
  if (asked !== null) return asked <= retries.maxPauseS ? asked + Math.min(jitter, retries.firstPauseS) : null;
  return !outcome || REPEATED_STATUSES.includes(outcome.status) ? jitter : null;
}
