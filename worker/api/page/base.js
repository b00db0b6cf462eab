"use strict";
// Everything that came from a site is set as text, never as markup or as the target of a link; the policy of this page
// allows no other script than its own.
const el = id => document.getElementById(id);
const views = {};
let token = sessionStorage.getItem("token") || "";

// Elements

function node(name, text, kind) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = String(text);
  if (kind) made.className = kind;
  return made;
}
function drawn(name, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}
// Cells. `key`: what the rows are sorted by, where that is not the text itself.
function cell(text, kind, key) {
  const made = node("td", text, kind);
  made.sortKey = key;
  return made;
}
const number = (value, key) => cell(typeof value === "number" ? whole(value) : value, "number", key ?? (value === "" ? undefined : value));
const when = at => {
  const made = cell(undefined, "when", at ? new Date(typeof at === "number" ? at * 1000 : at).getTime() : undefined);
  if (at) made.append(time(at));
  return made;
};
function time(at) {
  const made = node("time", moment(at)), date = new Date(typeof at === "number" ? at * 1000 : at);
  if (!Number.isNaN(date.getTime())) made.dateTime = date.toISOString();
  return made;
}
function urlCell(made) {
  const long = node("td", undefined, "text long");
  long.append(made);
  return long;
}
// What a visit came to, where that is more than its state and its status say.
const more = one => [one.state, "fetched", `status ${one.status}`, `${one.state} (${one.status})`].includes(one.outcome) ? one.rule || "" : one.outcome;
// Text in which `backticks` mark what is to be typed.
function coded(text) {
  return String(text).split("`").map((part, at) => at % 2 ? node("code", part) : document.createTextNode(part));
}
// What a site said, in the direction that it is read in.
function saidBySite(text) {
  if (!text) return "";
  const made = node("bdi", text);
  made.dir = "auto";
  return made;
}
const LANGUAGES = new Intl.DisplayNames("en", { type: "language", fallback: "none" });
function language(tag) {
  try { const name = LANGUAGES.of(tag); return name ? `${name} (${tag})` : tag; } catch { return tag; } // what a page says may be no tag
}
function to(text, href) {
  const made = node("a", text);
  made.href = href; // always "#…": within this page
  return made;
}
const toUrl = address => to(address, "#url=" + encodeURIComponent(address));
function button(text, label, run) {
  const made = node("button", text);
  made.type = "button";
  if (label) made.setAttribute("aria-label", label);
  made.addEventListener("click", run);
  return made;
}
function buttons(...made) {
  const cell = node("td", undefined, "do");
  cell.append(...made);
  return cell;
}

// What is shown anew must not get in the way: not while a button is being pressed or text in it is marked, and
// whoever is on something in it stays there.
let pressed = false;
addEventListener("pointerdown", () => { pressed = true; });
for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => setTimeout(() => { pressed = false; }));
const label = made => made.getAttribute("aria-label") || made.textContent;
function renew(shown, ...children) {
  const marked = getSelection();
  if (pressed || (!marked.isCollapsed && shown.contains(marked.anchorNode))) return;
  const on = shown.contains(document.activeElement) ? document.activeElement : undefined;
  shown.replaceChildren(...children);
  if (on) [...shown.querySelectorAll(on.localName)].find(made => label(made) === label(on))?.focus({ preventScroll: true });
}

// The ways through a list that comes in pages: `at` is what the one shown begins behind, empty for the first one.
function pager(id, at, next, [first, further, of], go) {
  const turn = (text, to) => button(text, of ? `${text} ${of}` : text, () => { go(to); refresh(); });
  renew(el(id), ...(at ? [turn(first, "")] : []), ...(next ? [turn(further, next)] : []));
}

// A table. A title with "#" is one of numbers; an empty one, of buttons. Its heads sort the rows that are shown, or, with
// `sort`, ask for others: `by` names what each title sorts by, `now` and `down` what is in force, `to` changes it.
const order = {}, drawnLast = {};
function part(name, role, kind) {
  const made = node(name, undefined, kind);
  made.setAttribute("role", role); // as cards, on a small screen, it is a table all the same
  return made;
}
function fill(id, titles, rows, none, sort) {
  drawnLast[id] = [titles, rows, none, sort];
  const names = titles.map(title => title.replace(/^#/, "")), body = part("tbody", "rowgroup");
  const by = sort ?? sorting(id, names, rows);
  for (const cells of sort ? rows : by.sorted) {
    const row = part("tr", "row");
    cells.forEach((given, at) => {
      const made = given instanceof HTMLTableCellElement ? given : node("td", undefined, "text");
      if (made !== given && given !== undefined && given !== null) made.append(given instanceof Node ? given : String(given));
      made.setAttribute("role", "cell");
      made.dataset.title = names[at];
      row.append(made);
    });
    body.append(row);
  }
  if (!rows.length) {
    const row = part("tr", "row"), made = part("td", "cell", "quiet");
    made.textContent = none;
    made.colSpan = titles.length;
    row.append(made); body.append(row);
  }
  el(id).setAttribute("role", "table");
  renew(el(id), heads(titles, names, rows, by), body);
}
function heads(titles, names, rows, by) {
  const head = part("thead", "rowgroup"), top = part("tr", "row");
  titles.forEach((title, at) => {
    const name = names[at], made = part("th", "columnheader", title.startsWith("#") ? "number" : "");
    made.scope = "col";
    if (meaning(name)) made.title = meaning(name);
    if (!by.by[name] || !rows.length) made.append(name);
    else {
      const now = by.now === by.by[name];
      made.setAttribute("aria-sort", !now ? "none" : by.down ? "descending" : "ascending");
      made.append(button(name, "", () => by.to(by.by[name], now && !by.down)));
    }
    top.append(made);
  });
  head.append(top);
  return head;
}
const keyOf = given => given?.sortKey ?? (given instanceof Node ? given.textContent : given ?? "");
function compare(a, b) {
  if (a === "" || b === "") return a === b ? 0 : a === "" ? 1 : -1; // what is not known comes last
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
}
function sorting(id, names, rows) {
  const at = order[id] ? names.indexOf(order[id].now) : -1;
  let sorted = rows;
  if (at >= 0) {
    const way = order[id].down ? -1 : 1;
    const keyed = rows.map(cells => [keyOf(cells[at]), cells]);
    sorted = keyed.sort(([a], [b]) => (a === "" || b === "" ? 1 : way) * compare(a, b)).map(([, cells]) => cells);
  }
  return { by: Object.fromEntries(names.filter(Boolean).map(name => [name, name])), ...order[id], sorted,
    to: (now, down) => { order[id] = { now, down }; setTimeout(() => fill(id, ...drawnLast[id])); } };
}
function describe(id, pairs) {
  const found = pairs.filter(([, value]) => value !== undefined && value !== null && value !== "" && value !== false);
  el(id).replaceChildren(...found.flatMap(([name, value]) => {
    const said = node("dd");
    said.append(...(value instanceof Node ? [value] : coded(value)));
    const term = node("dt", name);
    if (meaning(name)) term.title = meaning(name);
    return [term, said];
  }));
}

// Words

const whole = n => n.toLocaleString("en");
const size = n => {
  let unit = 0;
  while (n >= 1024 && unit < 4) { n /= 1024; unit++; }
  return n.toFixed(unit ? 1 : 0) + " " + ["B", "KiB", "MiB", "GiB", "TiB"][unit];
};
const seconds = s => s < 90 ? s.toFixed(1) + " s" : s < 5400 ? Math.round(s / 60) + " min" : s < 172800 ? (s / 3600).toFixed(1) + " h" : Math.round(s / 86400) + " days";
const DATE = { dateStyle: "medium", timeStyle: "medium" }; // a month by its name: 11/10 is read in two ways
const moment = at => at ? new Date(typeof at === "number" ? at * 1000 : at).toLocaleString(undefined, DATE) : "";
const ago = at => seconds(Math.max(0, Date.now() / 1000 - at)) + " ago";
const count = (n, what) => `${whole(n)} ${what}${n === 1 ? "" : "s"}`;

// The API

async function ask(method, path, body) {
  const headers = token ? { Authorization: "Bearer " + token } : {};
  if (body) headers["Content-Type"] = "application/json";
  const answer = await fetch("/api/v1/" + path, { method, headers, body: body && JSON.stringify(body) });
  if (answer.ok) return answer.status === 204 ? null : answer.json();
  const problem = await answer.json().catch(() => ({ detail: "The answer cannot be read." }));
  const error = new Error(problem.detail);
  error.status = answer.status;
  throw error;
}
const query = fields => "?" + new URLSearchParams(Object.entries(fields).filter(([, value]) => value !== ""));

function say(text, kind) {
  el("message").replaceChildren(...(text ? coded(text) : []));
  el("message").className = kind || "";
}
const SILENT = "The worker does not answer. When its crawl is over, `gregor console` with the data folder shows what is kept.";
function refused(error) {
  if (error.status === 401) { el("main").hidden = el("views").hidden = true; }
  if (error.status === 401 || error.status === 403) { el("login").hidden = false; el("token").focus(); }
  say(error.status ? error.message : SILENT, "bad");
}
// What was refused for want of a token is done once one is given: whoever asked for it has said yes already.
let refusedChange;
function remember(what, run) {
  refusedChange = run;
  el("pending").hidden = !run;
  el("pendingwhat").textContent = run ? `With it, this is done: ${what}` : "";
}
function carryOn() {
  const run = refusedChange;
  remember();
  return run ? run() : refresh();
}
el("forget").addEventListener("click", () => { remember(); say(""); el("login").hidden = !el("main").hidden; });

// A change, once whoever asks for it has said yes and why. `amount` asks for a number as well.
function sure(question, { amount, why = true } = {}) {
  el("question").textContent = question;
  el("amountfield").hidden = !amount; el("whyfield").hidden = !why;
  el("amountname").textContent = amount || "";
  el("amount").required = Boolean(amount);
  el("amount").value = el("why").value = "";
  el("ask").returnValue = "no";
  el("ask").showModal();
  return new Promise(done => el("ask").addEventListener("close", () => done(el("ask").returnValue === "yes"), { once: true }));
}
el("no").addEventListener("click", () => el("ask").close("no")); // not the button that Enter presses
async function change(question, method, path, body = {}, { amount, why, said = () => "Done." } = {}) {
  if (!await sure(question, { amount, why })) return;
  const sent = { who: "console", why: el("why").value, ...body };
  if (amount) sent.value = el("amount").valueAsNumber;
  await make(question, method, path, sent, said);
}
async function make(question, method, path, sent, said) {
  try {
    const answer = await ask(method, path, sent);
    await refresh();
    say(said(answer), "good");
  } catch (error) {
    if (error.status === 401 || error.status === 403) remember(question, () => make(question, method, path, sent, said));
    refused(error);
  }
}
