// Workers, the map of partitions with owner and epoch, and the hand-overs that are remembered.

const COLOURS = 8, LAST = 30;
let before = ""; // the hand-over behind which the list begins; empty: from the newest on

function named(name, colours) {
  const made = node("span");
  made.append(...(colours.has(name) ? [node("i", undefined, "dot " + colours.get(name))] : []), name || "nobody");
  return made;
}

const drain = name => change(`Have ${name} hand over all its partitions and stand by? Take the order back to let it work again.`, "PUT", "orders/drain/" + encodeURIComponent(name));

const stop = name => change(`End ${name}? Nothing is lost.`, "POST", "stop");

views.workers = {
  every: 3000,
  open() { before = ""; },
  async load() {
    const { workers, partitions } = await latest("workers");
    const names = [...new Set([...workers.map(one => one.name), ...partitions.map(one => one.owner).filter(Boolean)])];
    const colours = new Map(names.map((name, at) => [name, `c${at % COLOURS}`]));
    fill("workertable", ["worker", "#partitions", "#in memory", "#running", "#pages a second", "#requests a second", "limited by", "heard of", ""], workers.map(one => [
      named(one.name, colours), number(one.partitions), number(one.queued), number(one.running), number(one.pages.toFixed(1)),
      number(one.requests.toFixed(1)), one.limiting, cell(ago(one.at), "word", -one.at),
      buttons(...(one.name === serving ? [button("Stop", `stop ${one.name}`, () => stop(one.name))] : []), button("Drain", `drain ${one.name}`, () => drain(one.name)))]), "no worker is there");
    el("owners").hidden = !workers.length;
    el("map").replaceChildren(...partitions.map(one => {
      const item = node("li", one.partition, one.owner ? colours.get(one.owner) : "nobody");
      item.append(node("small", one.owner ? `e${one.epoch}` : "nobody"));
      item.title = one.owner ? `partition ${one.partition}: ${one.owner}, hand-over ${one.epoch}, ${count(one.queued, "URL")} in memory, since ${moment(one.since)}` : `partition ${one.partition}: nobody`;
      return item;
    }));
    const { handovers, next } = await latest("handovers" + query({ limit: LAST, after: before }));
    fill("handovers", ["when", "#partition", "#hand-over", "from", "to"], handovers.map(one => [
      when(one.at), number(one.partition), number(one.epoch), one.giver ? named(one.giver, colours) : "", named(one.taker, colours)]), "none");
    pager("handoveractions", before, next, ["Newest", "Older", "hand-overs"], after => { before = after; });
  },
};
