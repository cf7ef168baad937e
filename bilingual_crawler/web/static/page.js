// Keyboard shortcuts, and live updates of the crawl page. Every page works without this script.
"use strict";

const POLL_MILLISECONDS = 2000;
const MAX_POLL_MILLISECONDS = 30000;

// What the paths of this folder's pages begin with: nothing, if the server has only one folder.
const root = document.body.dataset.root || "";

function isTyping(target) {
  return target.closest("input, select, textarea, [contenteditable]") !== null;
}

// j and k go through the rows of a list; other keys press what has them, first in that row.
function currentRow() {
  return document.querySelector("[data-row].current");
}

function choose(row) {
  const before = currentRow();
  if (before) before.classList.remove("current");
  row.classList.add("current");
  row.focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
}

function go(step) {
  const rows = [...document.querySelectorAll("[data-row]")];
  const at = rows.indexOf(currentRow());
  const next = rows[at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + step))];
  if (next) choose(next);
}

function press(key) {
  const row = currentRow();
  const inRow = row && row.querySelector(`[data-key="${key}"]`);
  const others = [...document.querySelectorAll(`[data-key="${key}"]`)];
  const target = inRow || others.find((each) => !each.closest("[data-row]"));
  if (target) target.click();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  const box = document.getElementById("q");
  if (event.key === "/") {
    event.preventDefault();
    if (box) {
      box.focus();
      box.select();
    } else {
      window.location.assign(`${root}/#q`);
    }
  } else if (event.key === "j" || event.key === "k") {
    go(event.key === "j" ? 1 : -1);
  } else if (event.key === "Enter" && event.target.matches("[data-row]")) {
    const row = event.target;
    const link = row.querySelector("a[data-open]") || row.querySelector("a");
    if (link) link.click();
  } else if (/^[a-z]$/.test(event.key)) {
    press(event.key);
  }
});

const tab = document.querySelector(".top nav [aria-current]");
if (tab) {
  const bar = tab.parentElement;
  const hidden = tab.offsetLeft + tab.offsetWidth - bar.offsetLeft - bar.clientWidth;
  bar.scrollLeft = Math.max(0, hidden);
}

const marked = document.getElementById(window.location.hash.slice(1));
if (marked && marked.matches("[data-row]")) choose(marked);

if (window.location.hash === "#q") {
  const box = document.getElementById("q");
  if (box) box.focus();
}

// The server renders a live part; it is replaced as a whole, keeping focus, scrolling, and what is
// open.
function replaceLive(live, html) {
  const focused = live.contains(document.activeElement) ? document.activeElement.id : "";
  const scroll = live.querySelector(".scroll");
  const left = scroll ? scroll.scrollLeft : 0;
  const unfolded = new Map([...live.querySelectorAll("details[id]")].map((e) => [e.id, e.open]));
  const log = live.querySelector(".log");
  const reads = log && log.scrollTop + log.clientHeight < log.scrollHeight - 4;
  const top = log ? log.scrollTop : 0;
  live.innerHTML = html;
  for (const each of live.querySelectorAll("details[id]")) {
    if (unfolded.has(each.id)) each.open = unfolded.get(each.id);
  }
  const newLog = live.querySelector(".log");
  if (newLog) newLog.scrollTop = reads ? top : newLog.scrollHeight;
  live.dispatchEvent(new Event("replaced"));
  if (focused && document.getElementById(focused)) {
    document.getElementById(focused).focus({ preventScroll: true });
  }
  const fresh = live.querySelector(".scroll");
  if (fresh) fresh.scrollLeft = left;
}

function follow(live) {
  let wait = POLL_MILLISECONDS;
  let shown = "";
  const ask = async () => {
    if (!document.hidden && !live.contains(window.getSelection().anchorNode)) {
      try {
        const url = `${live.dataset.live}${window.location.search}`;
        const answer = await fetch(url, { cache: "no-store" });
        if (answer.ok) {
          const html = await answer.text();
          if (html !== shown) replaceLive(live, html);
          shown = html;
          live.dataset.state = answer.headers.get("X-Crawl-State");
          wait = live.dataset.state === "running" ? POLL_MILLISECONDS : 5 * POLL_MILLISECONDS;
        }
      } catch {
        wait = Math.min(2 * wait, MAX_POLL_MILLISECONDS);
      }
    }
    window.setTimeout(ask, wait);
  };
  window.setTimeout(ask, wait);
}

for (const live of document.querySelectorAll("[data-live]")) {
  const log = live.querySelector(".log");
  if (log) log.scrollTop = log.scrollHeight;
  follow(live);
}
for (const each of document.querySelectorAll("[data-reload]")) {
  window.setTimeout(() => window.location.reload(), Number(each.dataset.reload));
}

// While the index is being built, an idle search page reloads itself.
if (document.getElementById("indexing") && !new URLSearchParams(window.location.search).get("q")) {
  window.setTimeout(() => {
    const box = document.getElementById("q");
    if (box && !box.value) window.location.reload();
  }, 3 * POLL_MILLISECONDS);
}
