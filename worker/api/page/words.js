// What the words mean that are not everyday ones: on the heads of tables, and in a list below each view, which needs
// neither a mouse nor a guess.

const WORDS = {
  "URLs waiting": "Found and not yet visited: in the memory of workers, and in the log behind it. Some turn out to be known already.",
  "time to the end": "At the speed of now: until the first budget is spent, or until what waits is done, with what will still be found, as it looks. In four of five crawls it is between the two times beside it. The curve shows how the estimate moved: it falls as fast as time passes where it was right.",
  "visits running": "Visits that run at this moment, and how many may.",
  "memory used": "Of the process that crawls, and what it may use. Of several workers, the one that is nearest to its limit.",
  "disk free": "Where the data folder lies. Of several workers, the one with the least room.",
  "calendar late by": "Visits that are put off (another try, a revisit) wait in a calendar; this is how late the oldest one is.",
  "host's state": "active: it is being asked now; waiting: for its turn, so that it is not asked too often; backing off: it failed, and is left in peace for a while; robots.txt away: its rules cannot be read, so that nothing may be asked; blocked: by an order; idle: nothing of it waits.",
  "next turn": "When the host may be asked again at the earliest.",
  "delay": "The least time between two requests to the host.",
  "waiting URLs": "URLs of the host in the memory of a worker.",
  "failures": "Failed connections in a row.",
  "state": "fetched: stored; duplicate: stored, with the same content as another; redirected: it leads elsewhere; denied: robots.txt or the scope forbids it; gone: the site says that it does not exist; dead: given up after several tries; refused: it is not stored, for its kind, size or content; waiting: not done yet.",
  "outcome": "What the last visit came to, in detail.",
  "dead": "Given up after several tries.",
  "depth": "How many links lie between a seed and this URL.",
  "seed": "A URL that the crawl was given to start from.",
  "scope": "Which URLs belong to the crawl.",
  "sha256": "A number that is the same only for the same content.",
  "in common": "How much of both texts together is common to both, as far as their sketches tell.",
  "partition": "One of the parts that the hosts of a crawl are split into; each is one worker's at a time.",
  "partitions": "How many of the parts of the crawl are this worker's.",
  "hand-over": "How often the partition was taken over. Only the worker that took it last may write.",
  "limited by": "What keeps it from being faster.",
  "heard of": "When the worker told of itself last.",
  "drain": "An order: the worker hands over its partitions and stands by.",
  "in memory": "URLs that the worker holds, to be visited next.",
  "running": "Visits that run at this moment.",
};
// Why a visit failed, or a URL was given up.
const CAUSES = {
  status: "The server answered with an error.",
  robots: "The host's robots.txt cannot be read, so that nothing may be asked.",
  host: "Every try at the host failed, so that all its URLs were given up together.",
  dns: "The host's name leads to no address.",
  connect: "Nobody took the connection.",
  timeout: "No answer came in time.",
  cut: "The connection ended before the answer was whole.",
  tls: "The encrypted connection failed: its certificate, or its beginning.",
  legacy_tls: "The server's encryption is one of old that is unsafe; the setting legacy_tls allows it.",
  protocol: "The answer was not HTTP.",
  too_large_headers: "The answer's headers were too long.",
  decode: "The answer was packed in a way that cannot be unpacked.",
  request: "The URL, or a header, cannot be sent.",
  url: "The URL cannot be asked for.",
  redirect: "It redirects to nowhere, or to itself.",
  processor: "What reads this kind of document failed.",
  credentials: "The server wants a name and a password, or a token.",
  refused_address: "The host is in a private network; the setting allow_networks can allow it.",
  refused_port: "The port is not one of the Web's, or one that other services own.",
  proxy: "The proxy cannot be reached, or refused.",
  local: "This machine lacked memory, disk, ports or open files.",
  elsewhere: "The connection led elsewhere than it may.",
  downgrade: "The server wants an older version of HTTP.",
  lease: "The worker lost its permission before it asked.",
  lost: "What stood in the queue cannot be read.",
  unreadable: "What was kept of it cannot be read.",
};
const reason = cause => CAUSES[String(cause).split(" ")[0]] ?? "";
const LISTS = {
  overview: ["URLs waiting", "time to the end", "visits running", "memory used", "disk free", "calendar late by", "host's state", "state"],
  hosts: ["host's state", "waiting URLs", "next turn", "delay", "failures"],
  pages: ["state", "outcome", "seed"],
  url: ["state", "outcome", "seed", "depth", "scope", "sha256", "in common"],
  workers: ["partition", "hand-over", "in memory", "running", "limited by", "heard of", "drain"],
};
function meaning(name) { return Object.hasOwn(WORDS, name) ? WORDS[name] : ""; }
for (const shown of document.querySelectorAll("[data-words]")) {
  const list = node("dl");
  list.append(...LISTS[shown.dataset.words].flatMap(name => [node("dt", name), node("dd", WORDS[name])]));
  if (shown.dataset.words === "overview") list.append(...Object.entries(CAUSES).flatMap(([name, why]) => [node("dt", `cause: ${name}`), node("dd", why)]));
  shown.append(list);
}
