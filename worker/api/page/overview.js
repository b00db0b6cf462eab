// Overview: how fast, how much, and what limits it.

const STATES = { active: "c2", waiting: "c0", backing_off: "c1", robots: "c3", blocked: "c7", idle: "c4" };
const CHARTS = [["pages a second", "pages", n => n.toFixed(1)], ["requests a second", "requests", n => n.toFixed(1)],
  ["bytes a second", "bytes", size], ["visits running", "running", whole], ["URLs waiting", "waiting", whole],
  ["memory used", "memory_used", size], ["time to the end", "left", n => n ? seconds(n) : "not known"]];
let past = [];

// `last`: how it is now, which the remembered points are some seconds behind; `now`: that in words, with what stands small beside it.
function chart(name, field, told, last, [now, beside]) {
  const made = node("figure", undefined, "chart"), values = past.map(point => point[field]);
  const most = Math.max(...values, last, 0), begun = past.length ? past[0].at : 0;
  const span = past.length > 1 ? past.at(-1).at - begun : 0;
  const head = node("p"), foot = node("p"), figure = node("b", now);
  if (beside) figure.append(node("small", ` ${beside}`, field));
  head.append(node("span", name, "quiet"), figure);
  if (meaning(name)) made.title = meaning(name);
  foot.append(node("small", span ? `${seconds(span)} ago` : "just begun"), node("small", `highest ${told(most)}`), node("small", "now"));
  const svg = drawn("svg", { viewBox: "0 0 100 40", preserveAspectRatio: "none", role: "img", "aria-label": `${name}: now ${now}, highest ${told(most)}` });
  if (span) {
    const line = past.map((point, at) => `${(100 * (point.at - begun) / span).toFixed(2)},${(39 - 36 * values[at] / (most || 1)).toFixed(2)}`).join(" ");
    svg.append(drawn("polygon", { points: `0,40 ${line} 100,40` }), drawn("polyline", { points: line }));
  }
  made.append(head, svg, foot);
  return made;
}
// The time to the end, and between which times it is likely to be.
function ending({ left, left_least, left_most }) {
  const between = left >= 1 && left_most > left_least ? `${seconds(left_least)} to ${seconds(left_most)}` : "";
  return [left === null || left === undefined ? "not known" : left < 1 ? "now" : `about ${seconds(left)}`, between];
}
function tile(name, value, of) {
  const made = node("div", undefined, "tile"), figure = node("b", value);
  if (of) figure.append(node("small", ` of ${of}`));
  made.append(node("span", name, "quiet"), figure);
  if (meaning(name)) made.title = meaning(name);
  return made;
}
function hostBar(hosts) {
  const bar = node("div", undefined, "bar"), legend = node("ul", undefined, "legend");
  bar.setAttribute("aria-hidden", "true");
  for (const [state, n] of Object.entries(hosts)) {
    const part = node("div", undefined, STATES[state]), item = node("li"), link = to(HOST_STATE[state] ?? state, `#hosts=${state}`);
    part.style.flexGrow = n;
    item.append(node("i", undefined, STATES[state]), link, ` ${whole(n)}`);
    bar.append(part); legend.append(item);
  }
  renew(el("hoststates"), bar, legend);
}
function counted(id, title, values, none, why = () => "") {
  const rows = Object.entries(values).sort((a, b) => b[1] - a[1]);
  fill(id, [title, "#count"], rows.map(([name, n]) => {
    const first = cell(name, "text");
    if (why(name)) first.title = why(name);
    return [first, number(n)];
  }), none);
}
function tiles(now, counts, outlook, over) {
  el("tiles").replaceChildren(
    tile("pages stored", whole(counts.pages)), tile("bytes stored", size(counts.bytes)),
    ...(counts.requests ? [tile("requests", whole(counts.requests))] : []),
    ...(over ? [tile("URLs waiting", whole(outlook.waiting))] : []),
    ...(outlook.disk_size ? [tile("disk free", size(outlook.disk_free), size(outlook.disk_size))] : []),
    ...(now.overdue >= 1 ? [tile("calendar late by", seconds(now.overdue))] : []));
}
let serving = ""; // the process that serves this page
function heading({ now }) {
  serving = now.worker;
  el("state").textContent = now.state;
  el("state").className = "chip " + (now.state === "crawling" ? "good" : "note");
  el("who").textContent = [now.crawl === "crawl" ? "" : `crawl ${now.crawl}`, now.worker, `version ${now.version}`,
    now.seconds && `for ${seconds(now.seconds)}`].filter(Boolean).join(", ");
}

views.overview = {
  every: 2000,
  async load({ now, rates, counts, outlook }) {
    const over = now.state === "stopped";
    for (const id of ["charts", "hostsnow"]) el(id).hidden = over;
    const ended = over && !outlook.waiting;
    const said = node("span"), advice = ended ? "This console crawls nothing itself: `gregor crawl` with this data folder takes more seeds, `gregor recrawl` visits what is known again."
      : over ? `To go on: ${now.advice.replace("to go on, ", "")}.` : now.advice && `What helps: ${now.advice}.`;
    said.append(...coded(advice));
    el("limiting").replaceChildren(node("span", over ? "A look at what is kept" : "Limited by", "quiet"),
      node("b", ended ? "Every URL that was found is settled." : over ? "This console crawls nothing itself." : now.limiting), said);
    el("drift").hidden = !now.drift.length;
    el("drift").replaceChildren(node("b", "Rules find no more what they found"), ...now.drift.map(away => node("p", away.text)));
    tiles(now, counts, outlook, over);
    counted("states", "state", counts.states, "none settled yet");
    counted("statuses", "status", counts.statuses, "none yet");
    counted("errors", "cause", counts.errors, "none", reason);
    el("statusname").textContent = over ? "Stored pages by status" : "Answers by status";
    const { urls } = await latest("recent");
    fill("recent", ["at", "URL", "state", "#status", "outcome"], urls.map(one => [
      when(one.at), urlCell(toUrl(one.url)), cell(one.state, "word"), number(one.status || ""), more(one)]), "none yet");
    if (over) return;
    hostBar(now.hosts);
    const { points } = await latest("history" + query({ after: past.at(-1)?.at ?? 0 }));
    past = [...past, ...points].slice(-720);
    const last = { ...rates, running: now.running, waiting: outlook.waiting, memory_used: outlook.memory_used, left: outlook.left ?? 0 };
    const of = { running: now.concurrency, memory_used: outlook.memory };
    const words = { left: ending(outlook) };
    el("charts").replaceChildren(...CHARTS.map(([name, field, told]) => chart(
      name, field, told, last[field], words[field] ?? [told(last[field]), of[field] && `of ${told(of[field])}`])));
  },
};
