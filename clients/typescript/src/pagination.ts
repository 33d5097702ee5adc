/** The position in a list: the parameters of its next page. */
export interface Next {
  cursor?: string;
  since?: number;
}

/** What a list operation returns. A list without `pagination` is one page. */
export interface Page<Item> {
  data: Item[];
  // The feed of changes goes on from a number.
  pagination?: { has_more: boolean; next_cursor?: string | null; next_since?: number };
}

/**
 * The pages of a list, each requested when it is needed:
 * `pages((next) => result(client.GET("/api/v2/orders", { params: { query: { limit: 100, ...next } } })))`.
 */
export async function* pages<P extends Page<unknown>>(list: (next: Next) => Promise<P>): AsyncGenerator<P, void> {
  let next: Next | undefined = {};
  while (next) {
    const page: P = await list(next);
    yield page;
    next = following(page);
  }
}

/** The records of all pages. */
export async function* records<P extends Page<unknown>>(
  list: (next: Next) => Promise<P>,
): AsyncGenerator<P["data"][number], void, void> {
  for await (const page of pages(list)) {
    for (const item of page.data) yield item as P["data"][number];
  }
}

function following({ pagination }: Page<unknown>): Next | undefined {
  if (!pagination?.has_more) return undefined;
  if (pagination.next_since !== undefined) return { since: pagination.next_since };
  return pagination.next_cursor ? { cursor: pagination.next_cursor } : undefined;
}
