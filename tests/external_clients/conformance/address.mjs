// Gives the requests of a run an address of their own: each address has a rate of its own.
const send = globalThis.fetch;
globalThis.fetch = (input, init) => {
  const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined));
  headers.set("X-Forwarded-For", process.env.ADDRESS);
  return send(input, { ...init, headers });
};
