// Hosts in memory: search, order, and what can be done to one.

const MOST_HOSTS = 200;

const block = host => change(`Send ${host} nothing more?`, "PUT", "orders/block/" + encodeURIComponent(host));
const delay = host => change(`Ask ${host} less often?`, "PUT", "orders/delay/" + encodeURIComponent(host), {}, { amount: "Least delay, seconds" });

views.hosts = {
  every: 2000,
  open(state) { if (state !== undefined) el("hoststate").value = state; },
  async load() {
    const asked = { limit: MOST_HOSTS, search: el("hostsearch").value.trim(), state: el("hoststate").value, sort: el("hostsort").value };
    const { hosts } = await latest("hosts" + query(asked));
    fill("hosttable", ["host", "state", "#queued", "#next turn", "#delay", "#failures", "last failure", ""], hosts.map(h => [
      to(h.host, "#pages=" + encodeURIComponent(h.host)), words(h.state), number(h.queued), number(seconds(h.due)), number(seconds(h.delay)),
      number(h.failures), h.cause,
      buttons(button("Delay", `delay ${h.host}`, () => delay(h.host)), button("Block", `block ${h.host}`, () => block(h.host))),
    ]), "no host is like that");
    el("hostnote").textContent = hosts.length === MOST_HOSTS ? `The first ${MOST_HOSTS}; search for others.` : count(hosts.length, "host");
  },
};
el("hostfilter").addEventListener("submit", event => { event.preventDefault(); refresh(); });
el("hostfilter").addEventListener("input", () => refresh());
