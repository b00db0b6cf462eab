// Pages: what was visited, why, and what is kept of it; always as text.

const KEPT = ["fetched", "duplicate"];
const rule = judged => judged && `${judged.allows ? "allows" : "denies"} it: ${judged.rule}`;

let behind = ""; // the URL behind which the list begins; empty: from the first on
views.pages = {
  open(host) { behind = ""; if (host !== undefined) { el("pagehost").value = host; el("pagestate").value = ""; } },
  async load() {
    const { urls, complete, next } = await latest("pages" + query({ state: el("pagestate").value, host: el("pagehost").value.trim(), after: behind }));
    fill("pagetable", ["URL", "state", "#status", "outcome", "last visit"],
      urls.map(one => [urlCell(toUrl(one.url)), cell(one.state, "word"), number(one.status || ""), more(one), when(one.at)]), "none");
    el("pagenote").textContent = count(urls.length, "URL") + (behind ? " further on" : "") + (complete ? "" : next ? "; there are more." : ", found in the time there was; there may be more.");
    pager("pageactions", behind, next, ["First page", "Next page"], after => { behind = after; });
  },
};
el("pagefilter").addEventListener("submit", event => { event.preventDefault(); behind = ""; refresh(); });
el("urlform").addEventListener("submit", event => {
  event.preventDefault();
  location.hash = "url=" + encodeURIComponent(el("url").value.trim());
});

const LINKS = { a: "a link", area: "a part of a map", link: "a link of the head" };
let shown = "";
views.url = {
  async open(url) {
    shown = url;
    el("h-url").textContent = url;
    el("stored").hidden = true;
    el("explanation").replaceChildren(); el("attempts").replaceChildren(); el("urlactions").replaceChildren();
  },
  async load() {
    const url = shown, found = await latest("explain" + query({ url }));
    if (url !== shown) return;
    el("h-url").textContent = found.url;
    explained(found);
    if (KEPT.includes(found.state) || found.attempts.length > 1) await stored(url).catch(error => { if (error.status !== 404) throw error; });
  },
};
function brought(found) {
  if (found.worth_of_link === null || found.worth_of_link === undefined) return "";
  return `: ${found.worth_of_link.toPrecision(4)} by the link that it was found by, the rest by further links and by waiting`;
}
function explained(found) {
  const link = address => address && toUrl(address);
  describe("explanation", [
    ["state", found.state || "never met"], ["outcome", [found.outcome, found.status].filter(Boolean).join(", ")], ["decided by", found.rule],
    ["known as", found.key !== found.url && found.key],
    ["discovered", found.discovered_as && (found.discovered_via ? `as ${LINKS[found.discovered_as] ?? found.discovered_as}, depth ${found.depth}` : "given as a seed")],
    ["worth", found.worth === null || found.worth === undefined ? "" : `${found.worth.toPrecision(4)}, as ${found.worth_by} reckons${brought(found)}`],
    ["from", link(found.discovered_via)], ["label", found.label], ["first visited", moment(found.first_seen)],
    ["redirected to", link(found.redirected_to)], ["same as", link(found.duplicate_of)],
    ["nearly the same as", link(found.near_duplicate_of)], ["owner", found.owner],
    ...found.waiting.map(one => ["waits", `in the ${one.where} (${one.kind})${one.due ? ", due " + moment(one.due) : ""}`]),
    ["next due", moment(found.next_due)], ["its host", to(found.host, "#pages=" + encodeURIComponent(found.host))],
    ["host rests until", moment(found.host_not_before)], ["host's failures", found.host_failures || ""],
    ["host's last failure", found.host_cause],
    ["scope", rule(found.scope)], ["robots.txt", rule(found.robots)]]);
  fill("attempts", ["at", "outcome", "#status", "#took", "by"], found.attempts.map(one => [
    when(one.at), one.outcome, number(one.status ?? ""), number(`${one.elapsed.toFixed(3)} s`, one.elapsed), one.owner]), "none yet");
  el("urlactions").replaceChildren(
    found.attempts.length ? button("Visit again", `visit ${found.url} again`, () => again(found.url))
      : button("Add as a seed", `add ${found.url} as a seed`, () => seed([{ url: found.url }])),
    button("Block its host", `block ${found.host}`, () => block(found.host)));
}
async function stored(url, visit = "") {
  const page = await ask("GET", "page" + query({ url, visit })), record = page.record;
  if (url !== shown) return;
  const others = record.duplicate_of || record.near_duplicate_of;
  describe("record", [
    ["title", saidBySite(record.title)], ["status", record.status], ["fetched", moment(record.fetched_at)], ["type", record.mime], ["charset", record.charset],
    ["language", language(page.language)], ["size", size(record.size ?? 0)], ["sha256", record.sha256], ["cut short", record.truncated && "yes"],
    [record.duplicate_of ? "same as" : "nearly the same as", others && toUrl(others)], ["canonical", record.canonical && toUrl(record.canonical)],
    ["directives", record.directives.join(", ")], ["server", page.address && `${page.address}, ${page.elapsed.toFixed(3)} s`], ["certificate", page.tls_fault],
    ["stored body", page.damage && `damaged: ${page.damage}`]]);
  el("versions").hidden = page.visits < 2;
  el("visit").replaceChildren(...Array.from({ length: page.visits }, (_, at) => new Option(at + 1, at + 1, false, at + 1 === page.visit)));
  el("text").textContent = page.text + (page.text_cut ? "\n… (cut here)" : "");
  el("answer").textContent = page.response_head.join("\n");
  el("request").textContent = page.request_head.join("\n");
  el("linkcount").textContent = page.links.length < page.links_total ? `Links: the first ${whole(page.links.length)} of ${whole(page.links_total)}` : `Links (${whole(page.links_total)})`;
  fill("links", ["URL", "kind", "text", "what became of it"], page.links.map(one => [
    urlCell(toUrl(one.url)), one.kind + (one.nofollow ? ", nofollow" : ""), saidBySite(one.text), one.fate]), "none");
  el("stored").hidden = false;
  const near = await ask("GET", "similar" + query({ url }));
  if (url !== shown) return;
  el("simhash").textContent = near.simhash ? "Pages that have at least half of their text in common with this one." : "It has too little text to be compared.";
  fill("similar", ["URL", "title", "state", "#in common"], near.pages.map(one => [urlCell(toUrl(one.url)), saidBySite(one.title), cell(one.state, "word"), number(`${Math.round(100 * one.share)} %`, one.share)]), "none");
}
const seed = seeds => change(`Add ${count(seeds.length, "seed")}?`, "POST", "seeds", { seeds }, { said: answer => `${count(answer.count, "seed")} published.` });
const again = url => change(`Visit ${url} again now?`, "POST", "recrawl", { urls: [url] }, { said: answer => answer.count ? "It is visited again at its host's next turn." : "The crawl does not know this URL." });
el("seedform").addEventListener("submit", event => {
  event.preventDefault();
  const label = el("label").value.trim(), seeds = el("seeds").value.split("\n").map(line => line.trim()).filter(Boolean).map(url => ({ url, label }));
  seed(seeds);
});
el("visit").addEventListener("change", () => stored(shown, el("visit").value).catch(refused));
