// Orders that stand: given with a reason, and taken back.

const HOST = "Host or *.domain", ANY = "Host, *.domain, or * for the crawl";
const KINDS = {
  block: { of: HOST, note: "Nothing is asked of it any more.", question: target => `Send ${target} nothing more?` },
  optout: { of: HOST, note: "Its owner wants to be left alone: nothing is asked of it and nothing stored of it, for good.", question: target => `Leave ${target} alone for good?` },
  delay: { of: ANY, amount: "Seconds", note: "The least time between two requests to a host.", question: (target, value) => `Ask ${target} at most every ${value} s?` },
  rate: { of: ANY, amount: "Requests a second", note: "The most requests a second, of all hosts of the target together.", question: (target, value) => `Ask ${target} at most ${value} times a second?` },
  concurrency: { of: "*.domain, or * for the crawl", amount: "Requests at once", note: "The most requests that run at once.", question: (target, value) => `At most ${value} requests at once to ${target}?` },
  priority: { of: HOST, amount: "From 1 (the highest) to 4", note: "For what is found of it from now on.", question: (target, value) => `Give ${target} priority ${value}?` },
  budget: { of: ANY, amount: "Pages", note: "How many pages may be stored.", question: (target, value) => `Store at most ${value} pages of ${target}?` },
  drain: { of: "Name of a worker", note: "It hands over all its partitions and stands by.", question: target => `Have ${target} hand over all its partitions?` },
  pause: { of: "", note: "No new requests are made until it is taken back.", question: () => "Pause the whole crawl?" },
};
const path = (kind, target) => `orders/${kind}` + (target ? "/" + encodeURIComponent(target) : "");
const takeBack = (name, where) => button("Take back", `take back ${name}`, () => change(`Take back: ${name}?`, "DELETE", where));

views.orders = {
  every: 3000,
  async load() {
    const { orders, unread } = await latest("orders");
    fill("ordertable", ["order", "of", "#value", "by", "at", "why", ""], [
      ...orders.map(o => [o.kind, o.target === "*" || !o.target ? "the whole crawl" : o.target, number(o.value ?? ""), o.who, when(o.at), o.why,
        buttons(takeBack(`${o.kind} ${o.target}`.trim(), path(o.kind, o.target)))]),
      ...unread.map(name => ["cannot be read", name, number(""), "", "", "another version wrote it; it is not obeyed",
        buttons(takeBack(name, "orders/unread/" + encodeURIComponent(name)))]),
    ], "none stand");
  },
};
el("kind").append(...Object.keys(KINDS).map(kind => new Option(kind, kind)));
function fields() {
  const { of, amount, note } = KINDS[el("kind").value];
  el("targetfield").hidden = !of; el("valuefield").hidden = !amount;
  el("target").required = Boolean(of); el("value").required = Boolean(amount);
  el("targetname").textContent = of; el("valuename").textContent = amount || "";
  el("kindnote").textContent = note;
}
el("kind").addEventListener("change", fields);
fields();
el("order").addEventListener("submit", event => {
  event.preventDefault();
  const kind = el("kind").value, { of, amount, question } = KINDS[kind];
  const target = of ? el("target").value.trim() : "", value = amount ? el("value").valueAsNumber : undefined;
  change(question(target, value), "PUT", path(kind, target), amount ? { value } : {});
});

// The record of changes.

let oldest = ""; // number of the last change that is shown; empty: from the newest on
views.changes = {
  open() { oldest = ""; },
  async load() {
    const { changes, next } = await latest("changes" + query({ before: oldest }));
    fill("changetable", ["at", "what", "#count", "by", "why", "from"], changes.map(one => [
      when(one.at), one.what, number(one.count || ""), one.who, one.why, one.where]), "nothing was changed");
    pager("changeactions", oldest, next, ["Newest", "Older"], before => { oldest = before; });
  },
};
