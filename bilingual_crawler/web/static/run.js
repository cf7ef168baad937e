// The form for a crawl shows its command while one types, and commands can be copied.
// Every page works without this script.
"use strict";

const TYPING_MILLISECONDS = 400;

function addCopyButtons(part) {
  if (!navigator.clipboard) return;
  for (const block of part.querySelectorAll("pre[data-copy]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(block.textContent.trim());
      button.textContent = "Copied";
    });
    block.after(button);
  }
}

async function showCommand(order) {
  const form = new URLSearchParams(new FormData(order));
  form.set("action", "check");
  const answer = await fetch(order.getAttribute("action"), { method: "POST", body: form, cache: "no-store" });
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.getElementById("command");
  const shown = document.getElementById("command");
  if (!fresh || fresh.textContent === shown.textContent) return;
  shown.replaceChildren(...fresh.childNodes);
  addCopyButtons(shown);
}

const order = document.getElementById("order");
if (order) {
  let waiting = 0;
  order.addEventListener("input", () => {
    window.clearTimeout(waiting);
    waiting = window.setTimeout(() => showCommand(order).catch(() => {}), TYPING_MILLISECONDS);
  });
}
for (const live of document.querySelectorAll("[data-live]")) {
  live.addEventListener("replaced", () => addCopyButtons(live));
}
addCopyButtons(document);
