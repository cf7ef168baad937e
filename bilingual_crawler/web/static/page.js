// Keyboard shortcuts, and live updates of the crawl page. Every page works without this script.
"use strict";

const POLL_MILLISECONDS = 2000;
const MAX_POLL_MILLISECONDS = 30000;

// What the paths of this folder's pages begin with: nothing, if the server has only one folder.
const root = document.body.dataset.root || "";

function isTyping(target) {
  return target.closest("input, select, textarea, [contenteditable]") !== null;
}

function press(selector) {
  const target = document.querySelector(selector);
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
  } else if (document.getElementById("marks")) {
    if (event.key === "a") press("#marks .accept");
    if (event.key === "r") press("#marks .reject");
    if (event.key === "n") press("#onward");
  }
});

if (window.location.hash === "#q") {
  const box = document.getElementById("q");
  if (box) box.focus();
}

// The server renders the live part; it is replaced as a whole, keeping focus and scrolling.
function replaceLive(live, html) {
  const focused = live.contains(document.activeElement) ? document.activeElement.id : "";
  const scroll = live.querySelector(".scroll");
  const left = scroll ? scroll.scrollLeft : 0;
  live.innerHTML = html;
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
        const answer = await fetch(`${root}/crawl/live${window.location.search}`, { cache: "no-store" });
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

const live = document.getElementById("live");
if (live) follow(live);

// While the index is being built, an idle search page reloads itself.
if (document.getElementById("indexing") && !new URLSearchParams(window.location.search).get("q")) {
  window.setTimeout(() => {
    const box = document.getElementById("q");
    if (box && !box.value) window.location.reload();
  }, 3 * POLL_MILLISECONDS);
}
