// Search: what the index of the crawl finds; all that pages say is text. "#search=words" asks for them.

const sought = { q: "", like: "", page: 1, at: "", all: "" };
function seek(wanted) {
  Object.assign(sought, { q: "", like: "", page: 1, at: "", all: "" }, wanted);
  refresh();
}
views.search = {
  open(q) {
    if (q === undefined || q === sought.q) return;
    el("q").value = q;
    Object.assign(sought, { q, like: "", page: 1, at: "", all: "" });
  },
  async load() {
    el("q").labels[0].firstChild.textContent = el("place").value ? "Words, host: type: label: before: after: " : "Words, \"phrases\", -without, site: lang: type: before: after: ";
    if (!sought.q && !sought.like) { el("hits").replaceChildren(); el("searchnotes").replaceChildren(); el("searchactions").replaceChildren(); return; }
    try {
      found(await latest("search" + el("place").value + query({ ...sought, order: el("place").value && "newest" })));
    } catch (error) {
      if (error.status !== 404) throw error;
      el("hits").replaceChildren();
      el("searchnotes").replaceChildren(noted(error.message));
    }
  },
};
function noted(...said) {
  const made = node("p", undefined, "quiet");
  made.append(...said.flatMap(part => typeof part === "string" ? coded(part) : [part]));
  return made;
}
function narrowed(facet) {
  const name = { host: "Host", lang: "Language", type: "Type", label: "Label", item: "Items" }[facet.name];
  return noted(`${facet.field || name}: `, ...facet.values.slice(0, 5).flatMap((value, place) => [place ? " · " : "",
    to(`${value.chosen ? "✕ " : ""}${value.value}${value.count === null ? "" : ` (${whole(value.count)})`}`,
      "#search=" + encodeURIComponent(value.query))]));
}
function found(answer) {
  sought.at = answer.position;
  const notes = answer.hints.map(hint => noted(hint));
  if (answer.like) notes.push(noted("Pages like ", toUrl(answer.like.url)));
  if (answer.suggestion) notes.push(noted("Did you mean ", to(answer.suggestion, "#search=" + encodeURIComponent(answer.suggestion)), "?"));
  if (answer.partial) notes.push(noted("To look through all would have taken too long: these are what was found so far."));
  if (answer.any_word && answer.hits.length) notes.push(noted("No document has all of these words: these have some of them."));
  el("searchnotes").replaceChildren(...notes, noted(count(answer.total, "document")), ...answer.facets.map(narrowed));
  el("hits").start = (answer.page - 1) * 10 + 1;
  renew(el("hits"), ...answer.hits.map(hit));
  const turn = (text, page) => button(text, "", () => { sought.page = page; refresh(); });
  renew(el("searchactions"), ...(answer.page > 1 ? [turn("Previous hits", answer.page - 1)] : []),
    ...(answer.more ? [turn("Next hits", answer.page + 1)] : []),
    ...(!answer.more && !sought.all && answer.total > answer.hits.length && answer.page === 1
      ? [button("All of every host", "", () => seek({ q: sought.q, like: sought.like, all: 1 }))] : []),
    ...(!el("place").value ? [button("Open as a page of its own", "", () => openPage(query({ q: sought.q, like: sought.like })))] : []));
}
// The page that needs no script knows no token of this one's: its form is sent first, which leaves a cookie for it.
async function openPage(asked) {
  const body = new URLSearchParams({ token });
  try {
    if (token) await fetch("/search/login", { method: "POST", body, redirect: "manual" });
    location.assign("/search/" + asked);
  } catch (error) { refused(error); }
}
function record(one) {
  const made = node("li"), said = node("p", one.title);
  said.dir = "auto";
  made.append(node("p", one.at ? moment(one.at) : "", "quiet"), ...(/^https?:/.test(one.url) ? [toUrl(one.url)] : []), said);
  return made;
}
function hit(one) {
  if (el("place").value) return record(one);
  const made = node("li"), head = node("h3"), said = node("p"), why = node("table"), name = one.title || one.url;
  head.dir = said.dir = "auto";
  head.append(to(name, "#url=" + encodeURIComponent(one.url)));
  said.append(...one.snippet.map(part => part.marked ? node("mark", part.text) : document.createTextNode(part.text)));
  const facts = [one.at ? moment(one.at) : "", language(one.language), one.urls.length > 1 ? `${whole(one.urls.length)} addresses` : "",
    one.nearly_the_same ? `${whole(one.nearly_the_same)} more say nearly the same` : ""].filter(Boolean);
  const row = node("div", undefined, "actions"), query_now = sought.q;
  why.hidden = true;
  why.id = `why-${one.id}`;
  if (query_now) row.append(button("Why here", `why ${name} is here`, () => reasons(one, query_now, why)));
  row.append(button("Pages like this", `pages like ${name}`, () => seek({ like: one.id })));
  if (one.more_of_host) row.append(to(`${whole(one.more_of_host)} more of ${one.host}`, "#search=" + encodeURIComponent(`${sought.q} host:${one.host}`)));
  made.append(head, node("p", one.url, "quiet long"), said, node("p", facts.join(" · "), "quiet"), row, why);
  return made;
}
async function reasons(one, q, shown) {
  try {
    const found = await ask("GET", "search/why" + query({ id: one.id, q }));
    shown.hidden = false;
    fill(shown.id, ["where", "words", "#worth"], found.parts.map(part => [part.what, part.words, number(part.score.toFixed(3), part.score)]), "none");
  } catch (error) { refused(error); }
}
el("place").addEventListener("change", () => seek({ q: el("q").value.trim() }));
el("searchform").addEventListener("submit", event => {
  event.preventDefault();
  const q = el("q").value.trim(), hash = "#search=" + encodeURIComponent(q);
  if (location.hash === hash) seek({ q }); else location.hash = hash;
});
