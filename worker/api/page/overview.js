// Overview: how fast, how much, and what limits it.

const STATES = { active: "c2", waiting: "c0", backing_off: "c1", robots: "c3", blocked: "c7", idle: "c4" };
const CHARTS = [["pages a second", "pages", n => n.toFixed(1)], ["requests a second", "requests", n => n.toFixed(1)],
  ["bytes a second", "bytes", size], ["visits running", "running", whole], ["URLs in memory", "queued", whole],
  ["hosts backing off", "backing_off", whole]];
let past = [];

function chart(name, field, told) {
  const made = node("figure", undefined, "chart"), values = past.map(point => point[field]);
  const last = values.at(-1) ?? 0, most = Math.max(...values, 0), begun = past.length ? past[0].at : 0;
  const span = past.length > 1 ? past.at(-1).at - begun : 0;
  const head = node("p"), foot = node("p");
  head.append(node("span", name, "quiet"), node("b", told(last)));
  foot.append(node("small", span ? `${seconds(span)} ago` : "just begun"), node("small", `highest ${told(most)}`), node("small", "now"));
  const svg = drawn("svg", { viewBox: "0 0 100 40", preserveAspectRatio: "none", role: "img", "aria-label": `${name}: now ${told(last)}, highest ${told(most)}` });
  if (span) {
    const line = past.map((point, at) => `${(100 * (point.at - begun) / span).toFixed(2)},${(39 - 36 * values[at] / (most || 1)).toFixed(2)}`).join(" ");
    svg.append(drawn("polygon", { points: `0,40 ${line} 100,40` }), drawn("polyline", { points: line }));
  }
  made.append(head, svg, foot);
  return made;
}
function tile(name, value) {
  const made = node("div", undefined, "tile");
  made.append(node("span", name, "quiet"), node("b", value));
  return made;
}
function hostBar(hosts) {
  const bar = node("div", undefined, "bar"), legend = node("ul", undefined, "legend");
  bar.setAttribute("aria-hidden", "true");
  for (const [state, n] of Object.entries(hosts)) {
    const part = node("div", undefined, STATES[state]), item = node("li"), link = to(state === "robots" ? "robots.txt away" : words(state), `#hosts=${state}`);
    part.style.flexGrow = n;
    item.append(node("i", undefined, STATES[state]), link, ` ${whole(n)}`);
    bar.append(part); legend.append(item);
  }
  renew(el("hoststates"), bar, legend);
}
function counted(id, title, values, none) {
  const rows = Object.entries(values).sort((a, b) => b[1] - a[1]);
  fill(id, [title, "#count"], rows.map(([name, n]) => [name, number(n)]), none);
}
let serving = ""; // the process that serves this page
function heading({ now }) {
  serving = now.worker;
  el("state").textContent = now.state;
  el("state").className = "chip " + (now.state === "crawling" ? "good" : "note");
  el("who").textContent = `crawl ${now.crawl}, ${now.worker}, version ${now.version}, for ${seconds(now.seconds)}`;
}

views.overview = {
  every: 2000,
  async load({ now, counts }) {
    const { points } = await latest("history" + query({ after: past.at(-1)?.at ?? 0 }));
    past = [...past, ...points].slice(-720);
    el("limiting").replaceChildren(node("span", "Limited by", "quiet"), node("b", now.limiting), node("span", now.advice && `What helps: ${now.advice}.`));
    el("charts").replaceChildren(...CHARTS.map(one => chart(...one)));
    el("tiles").replaceChildren(
      tile("pages stored", whole(counts.pages)), tile("bytes stored", size(counts.bytes)), tile("requests", whole(counts.requests)),
      tile("visits running", `${whole(now.running)} of ${whole(now.concurrency)}`), tile("URLs in memory", whole(now.back_queues)),
      tile("partitions", whole(now.partitions)), tile("calendar overdue", seconds(now.overdue)),
      tile("open records", whole(Object.values(now.window).reduce((sum, n) => sum + n, 0))));
    hostBar(now.hosts);
    counted("states", "state", counts.states, "none settled yet");
    counted("statuses", "status", counts.statuses, "none yet");
    counted("errors", "cause", counts.errors, "none");
  },
};
