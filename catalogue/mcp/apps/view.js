// The view of MCP Apps (SEP-1865): shows the result of a tool in the host's chat, and asks before it books or pays.
//
// It speaks JSON-RPC with the host by postMessage and requests nothing else. Texts of others are only ever text nodes,
// and no message to the model holds one: it names restaurants by slug.
"use strict";

const PROTOCOL_VERSION = "2026-01-26";
const main = document.getElementById("view");
const pending = new Map();
let lastRequestId = 0;
let context = {};
let capabilities = {};
// The call that is shown: its tool and arguments.
let call = {tool: "", arguments: {}};
// Names of the restaurants that were shown, by slug.
const names = new Map();

// ---- The host

function send(message) {
  // The origin of a host is not known; only the page that embeds this one receives it.
  window.parent.postMessage({jsonrpc: "2.0", ...message}, "*");
}

function request(method, params) {
  const id = ++lastRequestId;
  send({id, method, params});
  return new Promise((resolve, reject) => pending.set(id, {resolve, reject}));
}

const notify = (method, params = {}) => send({method, params});

const NOTIFICATIONS = {
  "ui/notifications/tool-input": (params) => { call.arguments = params.arguments ?? {}; },
  "ui/notifications/tool-result": (params) => show(params),
  "ui/notifications/tool-cancelled": () => replace(title("Cancelled"), note("The call was cancelled.")),
  "ui/notifications/host-context-changed": (params) => applyContext(params),
};

window.addEventListener("message", (event) => {
  const message = event.data;
  if (event.source !== window.parent || message?.jsonrpc !== "2.0") return;
  if (message.method === undefined) {
    const waiting = pending.get(message.id);
    pending.delete(message.id);
    if (message.error) waiting?.reject(new Error(String(message.error.message ?? "The host refused.")));
    else waiting?.resolve(message.result ?? {});
  } else if (message.id === undefined) {
    NOTIFICATIONS[message.method]?.(message.params ?? {});
  } else if (message.method === "ping" || message.method === "ui/resource-teardown") {
    send({id: message.id, result: {}});
  } else {
    send({id: message.id, error: {code: -32601, message: "Method not found"}});
  }
});

function applyContext(changed) {
  context = {...context, ...changed};
  const root = document.documentElement;
  if (context.theme === "light" || context.theme === "dark") root.style.colorScheme = context.theme;
  for (const [name, value] of Object.entries(changed.styles?.variables ?? {})) {
    if (name.startsWith("--") && typeof value === "string") root.style.setProperty(name, value);
  }
}

// Call a tool through the host, and show its result. A host that calls none gets the wish as a message of the person.
async function callTool(tool, args, sentence) {
  if (!capabilities.serverTools) return say(sentence);
  busy(true);
  try {
    const result = await request("tools/call", {name: tool, arguments: args});
    call = {tool, arguments: args};
    show(result, {isOwnCall: true});
  } catch (error) {
    main.querySelector("[role=alert]")?.remove();
    main.append(element("p", {role: "alert", className: "bad"}, error.message));
  } finally {
    busy(false);
  }
}

// Say something in the chat as the person.
async function say(text) {
  try {
    await request("ui/message", {role: "user", content: [{type: "text", text}]});
    replace(title("Sent"), note("The assistant goes on in the chat."));
  } catch {
    replace(title("Not sent"), note("Write this in the chat:"), element("p", {className: "quote"}, text));
  }
}

// ---- Elements

// Strings among the children become text nodes.
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "onclick") made.addEventListener("click", value);
    else if (name === "className") made.className = value;
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== ""));
  return made;
}

const title = (text) => element("h1", {tabindex: "-1"}, text);
const note = (text) => element("p", {className: "quiet"}, text);
const button = (text, onclick, className = "") => element("button", {type: "button", onclick, className}, text);

function replace(...children) {
  const isMoved = main.contains(document.activeElement);
  main.replaceChildren(...children.filter(Boolean));
  // A person who works by keyboard goes on at the new heading.
  if (isMoved) main.querySelector("h1")?.focus();
}

function busy(is) {
  main.setAttribute("aria-busy", String(is));
  for (const control of main.querySelectorAll("button, input, select")) control.disabled = is;
}

function facts(pairs) {
  const list = element("dl");
  for (const [name, value] of pairs) {
    if (value !== null && value !== undefined && value !== "") {
      list.append(element("dt", {}, name), element("dd", {}, String(value)));
    }
  }
  return list;
}

function field(label, name, attributes = {}) {
  return element("label", {}, label, element("input", {name, ...attributes}));
}

// The values of the fields that are filled in; null if one of them is invalid, which the browser then says.
function read(form) {
  const inputs = [...form.querySelectorAll("input, select")];
  if (!inputs.every((input) => input.reportValidity())) return null;
  return Object.fromEntries(inputs.map((input) => [input.name, input.value.trim()]).filter(([, value]) => value));
}

function dayName(day) {
  const options = {weekday: "long", day: "numeric", month: "long", year: "numeric", timeZone: "UTC"};
  try {
    return new Intl.DateTimeFormat(context.locale ?? "en-GB", options).format(new Date(`${day}T00:00Z`));
  } catch {
    return day;
  }
}

const guests = (count) => (count === 1 ? "1 guest" : `${count} guests`);
const tomorrow = () => new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
const nameOf = (slug) => names.get(slug) ?? slug;

// ---- Restaurants

function showRestaurants(page) {
  const cards = page.data.map((hit) => {
    names.set(hit.slug, hit.name);
    return element("article", {},
      element("h2", {}, hit.name),
      element("p", {}, [hit.cuisine, hit.neighborhood, hit.city].filter(Boolean).join(" · ")),
      element("p", {className: "quiet"}, [
        hit.rating && `★ ${hit.rating} (${hit.review_count})`,
        hit.price_level && `price level ${hit.price_level} of 4`,
        hit.walking_minutes !== null && hit.walking_minutes !== undefined && `${hit.walking_minutes} min on foot`,
      ].filter(Boolean).join(" · ")),
      hit.address ? element("p", {className: "quiet"}, hit.address) : null,
      element("p", {className: "badges"},
        typeof hit.open_now === "boolean" ? element("span", {}, hit.open_now ? "Open now" : "Closed now") : null,
        hit.flow_offer ? element("span", {className: "good"},
          `−${hit.flow_offer.percent} % · ${dayName(hit.flow_offer.date)}, ${hit.flow_offer.time}`) : null),
      element("p", {className: "actions"},
        button("Find a table", () => askForTable(hit.slug, call.arguments)),
        button("More about it", () => say(`Tell me more about the restaurant with the slug ${hit.slug}.`), "plain")),
    );
  });
  replace(
    title(cards.length ? "Restaurants" : "No restaurants found"),
    element("div", {className: "cards"}, ...cards),
    attribution(page),
  );
}

function attribution(page) {
  return note((page.attribution ?? []).map((line) => line.text).join(" · "));
}

// ---- Free tables

function askForTable(slug, args) {
  const day = String(args.bookable_at ?? args.date ?? "").slice(0, 10);
  replace(title(nameOf(slug)), tableForm(slug, {date: /^\d{4}-\d\d-\d\d$/.test(day) ? day : tomorrow(), ...pick(args)}));
}

const pick = (args) => (Number(args.party_size) ? {party_size: Number(args.party_size)} : {});

function tableForm(slug, {date, party_size = 2, area}, areas = []) {
  const form = element("div", {className: "form"},
    field("Day", "date", {type: "date", required: true, value: date}),
    field("Guests", "party_size", {type: "number", required: true, min: 1, max: 500, value: party_size}),
    areas.length ? element("label", {}, "Area", element("select", {name: "area"},
      element("option", {value: ""}, "Any"),
      ...areas.map((each) => element("option", {value: each, selected: each === area}, each)))) : null,
    button("See free tables", () => {
      const values = read(form);
      if (!values) return;
      const args = {slug, ...values, party_size: Number(values.party_size)};
      callTool("check_availability", args,
        `Show me the free tables of ${slug} on ${args.date} for ${guests(args.party_size)}.`);
    }),
  );
  return form;
}

function showTables(page) {
  const slug = page.restaurant;
  const {party_size} = page;
  const days = page.days.map((day) => {
    const free = day.slots.filter((slot) => slot.state === "free");
    const periods = [...new Set(free.map((slot) => slot.period))];
    return element("section", {},
      element("h2", {}, dayName(day.date)),
      day.message ? element("p", {}, day.message) : null,
      free.length ? null : note("No table is free on this day for this party."),
      ...periods.flatMap((period) => [
        element("h3", {}, period),
        element("p", {className: "slots"}, ...free.filter((slot) => slot.period === period).map((slot) =>
          button(slot.time, () => consentToBook({
            slug, date: day.date, time: slot.time, party_size, ...(page.area ? {area: page.area} : {}),
          }, {terms: slot.terms?.text, deposit: slot.terms?.deposit})))),
      ]),
    );
  });
  replace(
    title(`Tables at ${nameOf(slug)} for ${guests(party_size)}`),
    ...days,
    tableForm(slug, {date: page.days[0]?.date ?? tomorrow(), party_size, area: page.area}, page.areas ?? []),
  );
}

// ---- Discounts

function showOffers(page) {
  const places = new Map(page.restaurants.map((place) => [place.slug, place]));
  const cards = page.data.map((offer) => {
    const place = places.get(offer.restaurant) ?? {};
    names.set(offer.restaurant, place.name ?? offer.restaurant);
    const {min, max} = offer.party_size;
    const party_size = Math.min(Math.max(Number(call.arguments.party_size) || 2, min), max);
    return element("article", {},
      element("h2", {}, nameOf(offer.restaurant)),
      element("p", {}, [place.cuisine, place.neighborhood, place.city].filter(Boolean).join(" · ")),
      element("p", {className: "badges"}, element("span", {className: "good"}, discount(offer))),
      element("p", {}, `${dayName(offer.date)}, ${offer.time}`),
      element("p", {className: "quiet"}, `For ${min} to ${guests(max)}; ${offer.seats_left} seats left`),
      offer.terms ? element("p", {className: "quiet"}, offer.terms) : null,
      element("p", {className: "actions"}, button("Book", () => consentToBook(
        {offer_id: offer.id, party_size},
        {slug: offer.restaurant, date: offer.date, time: offer.time, discount: discount(offer), terms: offer.terms, min, max},
      ))),
    );
  });
  replace(
    title(cards.length ? "Discounts" : "No discounts found"),
    element("div", {className: "cards"}, ...cards),
    attribution(page),
  );
}

const discount = (offer) => `−${offer.percent} % ${offer.applies_to === "food" ? "on food" : "on the bill"}`;

// ---- Consent to book

// Names all that is booked, asks who is coming, and books only when the person presses the button.
function consentToBook(args, about = {}, problem = "") {
  const slug = args.slug ?? about.slug;
  const date = args.date ?? about.date;
  const key = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const deposit = about.deposit ? `${about.deposit.amount} ${about.deposit.currency}` : "";
  const form = element("div", {className: "form"},
    args.offer_id ? field("Guests", "party_size",
      {type: "number", required: true, min: about.min ?? 1, max: about.max ?? 500, value: args.party_size}) : null,
    field("Name", "customer_name", {required: true, maxlength: 200, autocomplete: "name", value: args.customer_name}),
    field("Email", "customer_email", {type: "email", maxlength: 254, autocomplete: "email", value: args.customer_email}),
    field("Or phone, with country code", "customer_phone",
      {type: "tel", maxlength: 40, autocomplete: "tel", placeholder: "+45 20 12 34 56", value: args.customer_phone}),
    field("Wishes", "special_requests", {maxlength: 2000, value: args.special_requests}),
  );
  const book = () => {
    const email = form.querySelector("[name=customer_email]");
    const isReachable = email.value.trim() || form.querySelector("[name=customer_phone]").value.trim();
    email.setCustomValidity(isReachable ? "" : "Enter an email address or a phone number.");
    const values = read(form);
    if (!values) return;
    const wanted = {idempotency_key: key, ...args, ...values};
    wanted.party_size = Number(wanted.party_size);
    const what = args.offer_id ? `at the offer ${args.offer_id}` : `at ${slug} on ${date} at ${args.time}`;
    callTool("book_table", wanted, `Book a table ${what} for ${guests(wanted.party_size)}. I want it.`);
  };
  form.addEventListener("keydown", (event) => { if (event.key === "Enter" && event.target.tagName === "INPUT") book(); });
  form.addEventListener("input", () => form.querySelector("[name=customer_email]").setCustomValidity(""));
  replace(
    title("Book this table?"),
    problem ? element("p", {role: "alert", className: "bad"}, problem) : null,
    facts([
      ["Restaurant", slug && nameOf(slug)],
      ["Offer", slug ? "" : args.offer_id],
      ["Day", date && dayName(date)],
      ["Time", args.time ?? about.time],
      ["Party", args.offer_id ? "" : guests(args.party_size)],
      ["Area", args.area],
      ["Discount", about.discount],
      ["Terms", about.terms],
      ["Deposit", deposit],
    ]),
    form,
    element("p", {className: "actions"},
      button("Book this table", book),
      button("Do not book", () => say("Do not book this table."), "plain")),
  );
}

function showBooking(booking, isNew) {
  const isCancelled = booking.status === "cancelled";
  replace(
    title(isCancelled ? "Booking cancelled" : "Table booked"),
    facts([
      ["Restaurant", nameOf(booking.restaurant)],
      ["Day", dayName(booking.date)],
      ["Time", booking.time],
      ["Party", guests(booking.party_size)],
      ["Area", booking.area],
      ["Discount", booking.percent && discount(booking)],
      ["Name", booking.customer_name],
      ["Code for the restaurant", booking.reservation_code],
      ["Terms", booking.terms],
      ["Cancellation", booking.cancellation?.text],
      ["Deposit", booking.deposit && `${booking.deposit.amount} ${booking.deposit.currency} (${booking.deposit.status})`],
    ]),
    element("p", {className: "actions"}, isCancelled || !capabilities.openLinks ? null
      : button("Change or cancel", () => request("ui/open-link", {url: booking.manage_url}), "plain")),
  );
  // What the view did itself, the model does not know yet.
  if (isNew) {
    const {id, manage_token, restaurant, date, time, party_size} = booking;
    const text = "The person has booked a table in the view; keep `manage_token` to change or cancel it.";
    const structuredContent = {id, manage_token, restaurant, date, time, party_size};
    request("ui/update-model-context", {
      content: [{type: "text", text: `${text} ${JSON.stringify(structuredContent)}`}], structuredContent,
    }).catch(() => {});
  }
}

// ---- Consent to pay

// The wallet is the host's: the view names the price, and says what the person decides.
function consentToPay(price, error) {
  const terms = price.accepts[0];
  const tool = call.tool || String(price.resource?.url ?? "").replace("mcp://tool/", "");
  const amount = `${fromUnits(terms.amount)} ${terms.extra?.name ?? "tokens"}`;
  // Which tier the wallet needs, or why an earlier payment was refused.
  const reason = error?.tier_required || error?.reason ? String(error.message) : "";
  replace(
    title(`Pay ${amount}?`),
    facts([
      ["For", price.resource?.description],
      ["Tool", tool],
      ["Amount", amount],
      ["Network", terms.network],
      ["Receiver", terms.payTo],
    ]),
    reason ? note(reason) : null,
    element("p", {className: "actions"},
      button(`Pay ${amount}`, () => say(
        `I agree to pay ${amount} on ${terms.network} to ${terms.payTo}, once, for this call of ${tool}: repeat it with`
        + ` the payment. Its arguments: ${JSON.stringify(call.arguments)}`)),
      button("Do not pay", () => say(`I do not agree to pay ${amount} for ${tool}. Go on without it.`), "plain")),
  );
}

// Units of six decimals, as USDC has: 2000 is 0.002.
function fromUnits(units) {
  const digits = String(units).padStart(7, "0");
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`.replace(/\.?0+$/, "");
}

function showDelivery(meta) {
  const receipt = meta["x402/payment-response"];
  replace(title(receipt?.success ? "Paid" : "Ready"), receipt?.success ? facts([
    ["Amount", receipt.amount && `${fromUnits(receipt.amount)} USDC`],
    ["Transaction", receipt.transaction],
    ["Network", receipt.network],
  ]) : note("Nothing was charged. The assistant has the result."));
}

// ---- Results

function show(result, {isOwnCall = false} = {}) {
  const content = result.structuredContent ?? {};
  const meta = result._meta ?? {};
  const error = meta["tablewire/error"];
  const text = (result.content ?? []).filter((part) => part.type === "text").map((part) => part.text).join("\n");
  if (content.x402Version && content.accepts?.length) return consentToPay(content, error);
  if (result.isError) {
    const isGuestMissing = ["customer_name", "customer_email", "customer_phone"].includes(error?.param);
    if (isGuestMissing && call.arguments.party_size) {
      return consentToBook(call.arguments, {}, call.arguments.customer_name ? error.message : "");
    }
    return replace(title("This did not work"), element("p", {role: "alert"}, text));
  }
  if (content.manage_token) return showBooking(content, isOwnCall);
  if (Array.isArray(content.days) && content.restaurant) return showTables(content);
  if (Array.isArray(content.restaurants) && Array.isArray(content.data)) return showOffers(content);
  if (Array.isArray(content.data) && content.query?.distance_method) return showRestaurants(content);
  return showDelivery(meta);
}

function reportSize() {
  const {width, height} = document.documentElement.getBoundingClientRect();
  notify("ui/notifications/size-changed", {width: Math.ceil(width), height: Math.ceil(height)});
}

request("ui/initialize", {
  protocolVersion: PROTOCOL_VERSION,
  appInfo: {name: "tablewire", title: "Tablewire", version: "1"},
  appCapabilities: {availableDisplayModes: ["inline"]},
}).then((result) => {
  capabilities = result.hostCapabilities ?? {};
  applyContext(result.hostContext ?? {});
  call.tool = result.hostContext?.toolInfo?.tool?.name ?? "";
  notify("ui/notifications/initialized");
  new ResizeObserver(reportSize).observe(document.documentElement);
});
