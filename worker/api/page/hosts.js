// Hosts in memory: search, order, and what can be done to one.

const MOST_HOSTS = 200;
const HOST_STATE = { backing_off: "backing off", robots: "robots.txt away" };
const COLUMNS = { host: "host", "host's state": "state", "waiting URLs": "queued", "next turn": "turn", delay: "delay", failures: "failures", "last failure": "cause" };
const LEAST_FIRST = ["host", "state", "turn", "cause"]; // the others begin with the most, here and in the API
let hostSort = { now: "turn", down: false };

const block = host => change(`Send ${host} nothing more?`, "PUT", "orders/block/" + encodeURIComponent(host));
const delay = host => change(`Ask ${host} less often?`, "PUT", "orders/delay/" + encodeURIComponent(host), {}, { amount: "Least delay, seconds" });
const turn = h => h.state === "active" ? "now" : h.state === "blocked" || !h.queued ? "none" : h.due >= 0.05 ? `in ${seconds(h.due)}` : "due";

function sortHosts(now, again) {
  hostSort = { now, down: again ? !hostSort.down : !LEAST_FIRST.includes(now) };
  refresh();
}
const OF_TURNS = ["#next turn", "#delay", ""]; // what only a worker's hosts have
views.hosts = {
  every: 2000,
  open(state) { if (state !== undefined) el("hoststate").value = state; },
  async load({ now }) {
    const over = now.state === "stopped";
    const asked = { limit: MOST_HOSTS, search: el("hostsearch").value.trim(), state: el("hoststate").value, sort: hostSort.now };
    if (hostSort.down === LEAST_FIRST.includes(hostSort.now)) asked.order = "last";
    const { hosts } = await latest("hosts" + query(asked));
    fill("hosttable", ["host", "host's state", "#waiting URLs", "#next turn", "#delay", "#failures", "last failure", ""].filter(name => !over || !OF_TURNS.includes(name)), hosts.map(h => over ? [
      urlCell(to(h.host, "#pages=" + encodeURIComponent(h.host))), cell(HOST_STATE[h.state] ?? h.state, "word"), number(h.queued), number(h.failures), h.cause,
    ] : [
      urlCell(to(h.host, "#pages=" + encodeURIComponent(h.host))), cell(HOST_STATE[h.state] ?? h.state, "word"), number(h.queued), number(turn(h)),
      number(seconds(h.delay)), number(h.failures), h.cause,
      buttons(button("Delay", `delay ${h.host}`, () => delay(h.host)), button("Block", `block ${h.host}`, () => block(h.host))),
    ]), "no host is like that", { by: COLUMNS, ...hostSort, to: now => sortHosts(now, now === hostSort.now) });
    el("hostnote").textContent = hosts.length === MOST_HOSTS ? `The first ${MOST_HOSTS}; search for others.` : count(hosts.length, "host");
  },
};
el("hostfilter").addEventListener("submit", event => { event.preventDefault(); refresh(); });
el("hostfilter").addEventListener("input", () => refresh());
