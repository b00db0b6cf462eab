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
const number = value => node("td", typeof value === "number" ? whole(value) : value, "number");
function to(text, href) {
  const made = node("a", text);
  made.href = href; // always "#…": within this page
  return made;
}
const toUrl = url => to(url, "#url=" + encodeURIComponent(url));
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

function fill(id, titles, rows, none) {
  const head = node("thead"), body = node("tbody"), top = node("tr");
  for (const title of titles) {
    const cell = node("th", title.replace(/^#/, ""), title.startsWith("#") ? "number" : "");
    cell.scope = "col";
    top.append(cell);
  }
  head.append(top);
  for (const cells of rows) {
    const row = node("tr");
    cells.forEach((cell, at) => {
      const made = cell instanceof HTMLTableCellElement ? cell : node("td", undefined, "text");
      if (made !== cell && cell !== undefined && cell !== null) made.append(cell instanceof Node ? cell : String(cell));
      made.dataset.title = titles[at].replace(/^#/, "");
      row.append(made);
    });
    body.append(row);
  }
  if (!rows.length) {
    const row = node("tr"), cell = node("td", none, "quiet");
    cell.colSpan = titles.length;
    row.append(cell); body.append(row);
  }
  renew(el(id), head, body);
}
function describe(id, pairs) {
  const found = pairs.filter(([, value]) => value !== undefined && value !== null && value !== "" && value !== false);
  el(id).replaceChildren(...found.flatMap(([name, value]) => {
    const said = node("dd");
    said.append(value instanceof Node ? value : String(value));
    return [node("dt", name), said];
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
const moment = at => at ? new Date(typeof at === "number" ? at * 1000 : at).toLocaleString() : "";
const ago = at => seconds(Math.max(0, Date.now() / 1000 - at)) + " ago";
const words = name => name.replaceAll("_", " ");
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
  el("message").textContent = text;
  el("message").className = kind || "";
}
function refused(error) {
  if (error.status === 401) { el("login").hidden = false; el("main").hidden = el("views").hidden = true; }
  if (error.status === 403) el("login").hidden = false;
  say(error.status ? error.message : "The worker does not answer.", "bad");
}

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
  try {
    const answer = await ask(method, path, sent);
    say(said(answer), "good");
    await refresh();
  } catch (error) { refused(error); }
}
