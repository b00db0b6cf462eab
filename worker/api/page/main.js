// Which view is shown is in the address of the page: "#hosts", "#url=https%3A%2F%2F…".

let current = "", failed = false, timer, asked = 0;

function plain(text) {
  try { return decodeURIComponent(text); } catch { return text; }
}
function route() {
  const [name, value] = location.hash.slice(1).split("=", 2), moved = current !== "";
  if (name === "main" && moved) return; // the link to the content
  current = Object.hasOwn(views, name) ? name : "overview";
  for (const view of Object.keys(views)) el("view-" + view).hidden = view !== current;
  const tab = current === "url" ? "pages" : current;
  for (const link of el("views").children) {
    if (link.hash === "#" + tab) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  views[current].open?.(value === undefined ? undefined : plain(value));
  const title = el("h-" + current);
  document.title = `${title.textContent || "Gregor"} – Gregor`;
  if (moved) { title.tabIndex = -1; title.focus(); window.scrollTo(0, 0); }
  refresh();
}
// What a view shows. An answer that comes after a view, or a search in it, was asked for anew is dropped.
const LATE = new Error("asked for anew meanwhile");
async function latest(path) {
  const mine = asked, found = await ask("GET", path);
  if (mine !== asked) throw LATE;
  return found;
}
async function refresh() {
  const mine = ++asked, view = views[current];
  clearTimeout(timer);
  try {
    const status = await latest("status");
    heading(status);
    el("main").hidden = el("views").hidden = false;
    await view.load(status);
    if (failed && mine === asked) { failed = false; say(""); }
  } catch (error) {
    if (error === LATE) return;
    refused(error);
    failed = true;
    if (!error.status) el("state").textContent = "no answer";
  }
  if (mine === asked) timer = setTimeout(keep, view.every ?? 5000);
}
// Views without a rhythm of their own show what was asked for until it is asked for again; only the heading goes on.
async function keep() {
  if (document.hidden || !el("login").hidden && el("main").hidden) timer = setTimeout(keep, 1000);
  else if (views[current].every || failed) await refresh();
  else {
    try { heading(await ask("GET", "status")); } catch (error) { refused(error); failed = true; }
    timer = setTimeout(keep, 5000);
  }
}
el("login").addEventListener("submit", event => {
  event.preventDefault();
  token = el("token").value.trim();
  sessionStorage.setItem("token", token);
  el("token").value = "";
  el("login").hidden = true;
  say("");
  carryOn();
});
// The address that the command printed opens the console with a token, which is not kept in the address.
if (location.hash.startsWith("#token=")) {
  token = plain(location.hash.slice(7));
  sessionStorage.setItem("token", token);
  history.replaceState(null, "", location.pathname);
}
addEventListener("hashchange", route);
route();
