// Dead letters: what was given up, by cause; visited again, or forgotten.

const treated = verb => ({ said: ({ count: n, more }) => `${count(n, "URL")} ${verb}${more ? "; there are more: do it again" : ""}.` });
const dead = {
  retry: (what, letters) => change(`Visit ${what} again?`, "POST", "deadletters/retry", letters, treated("to be visited again")),
  drop: (what, letters) => change(`Forget that ${what} was given up? It stays given up.`, "POST", "deadletters/drop", letters, treated("forgotten")),
};

views.dead = {
  async load() {
    const { causes, complete } = await latest("deadletters");
    const total = causes.reduce((sum, one) => sum + one.count, 0);
    el("deadnote").textContent = !total ? "Nothing was given up." : `${complete ? "" : "At least "}${count(total, "URL")}, by cause.`;
    el("causes").replaceChildren(...causes.map(cause));
    causes.forEach((one, at) => letters(at, one.examples));
  },
};
function letters(at, some) {
  fill(`letters-${at}`, ["URL", "what happened", "#attempts", "at", ""], some.map(one => {
    const known = /^https?:/.test(one.url);
    return [urlCell(known ? toUrl(one.url) : one.url), one.detail, number(one.attempts), when(one.at), known ? buttons(
      button("Retry", `retry ${one.url}`, () => dead.retry(one.url, { urls: [one.url] })),
      button("Forget", `forget ${one.url}`, () => dead.drop(one.url, { urls: [one.url] }))) : ""];
  }), "none");
}
function cause(one, at) {
  const made = node("section"), head = node("h3", `${one.cause}: ${whole(one.count)}`), table = node("table"), row = node("div", undefined, "actions");
  const all = count(one.count, "URL") + ` of “${one.cause}”`;
  table.id = `letters-${at}`;
  row.append(
    button("Retry all", `retry all of ${one.cause}`, () => dead.retry(all, { cause: one.cause })),
    button("Forget all", `forget all of ${one.cause}`, () => dead.drop(all, { cause: one.cause })));
  if (one.count > one.examples.length) {
    let shown = [], after = "", asking = false;
    const more = button("Show more", `show more of ${one.cause}`, async () => {
      if (asking) return; // disabled, it would lose the focus
      asking = true;
      try {
        const page = await ask("GET", "deadletters/list" + query({ cause: one.cause, after }));
        shown = [...shown, ...page.letters];
        after = page.next;
        more.hidden = !after;
        letters(at, shown);
      } catch (error) { refused(error); } finally { asking = false; }
    });
    row.append(more);
  }
  made.append(head, ...(reason(one.cause) ? [node("p", reason(one.cause), "quiet")] : []), row, table);
  return made;
}
