// Moves cards between lists and within one, with the pointer or the keyboard.
import { connect, PageError } from "/.well-known/filement/client.js";

const page = connect();
const status = document.createElement("p");
status.dataset["local"] = ""; // it is not in the file
status.setAttribute("role", "status");
document.querySelector("main")?.append(status);
page.mirror(() => {
  for (const card of document.querySelectorAll("li")) card.tabIndex = 0; // for the keyboard; cards that come are new
  document.documentElement.classList.add("live");
});

/** @typedef {{ to: Element, position: "beforebegin" | "beforeend" | "afterend" }} Place */

let moves = 0;

/**
 * @param {Element} card
 * @param {Place} place
 */
async function move(card, { to, position }) {
  document.documentElement.ariaBusy = String(++moves > 0);
  try {
    // One edit: the card is here, and then there. If it is gone, or what it was to stand beside, nothing happens.
    await page.edit([{ op: "move", selector: `#${card.id}`, to: `#${to.id}`, position, matches: 1 }]);
    status.textContent = `Moved “${card.textContent}”.`;
  } catch (error) {
    if (!(error instanceof PageError)) throw error;
    status.textContent = `Nothing was moved: ${error.details}`;
  }
  document.documentElement.ariaBusy = String(--moves > 0);
}

/**
 * Where an arrow key leads.
 * @type {Readonly<Record<string, (card: Element) => Place | undefined>>}
 */
const keys = {
  ArrowUp: ({ previousElementSibling: to }) => (to ? { to, position: "beforebegin" } : undefined),
  ArrowDown: ({ nextElementSibling: to }) => (to ? { to, position: "afterend" } : undefined),
  ArrowLeft: (card) => inList(card, -1),
  ArrowRight: (card) => inList(card, 1),
};

/**
 * The end of a list beside that of the card.
 * @param {Element} card
 * @param {number} step
 * @returns {Place | undefined}
 */
function inList(card, step) {
  const lists = [...document.querySelectorAll(".board ul")];
  const to = lists[lists.findIndex((list) => list.contains(card)) + step];
  return to && { to, position: "beforeend" };
}

document.addEventListener("keydown", async (event) => {
  const card = event.target instanceof Element ? event.target.closest("li") : null;
  const place = event.altKey && card ? keys[event.key]?.(card) : undefined;
  if (!card || !place) return;
  event.preventDefault();
  await move(card, place);
  document.getElementById(card.id)?.focus();
});

/** @type {Element | undefined} */
let dragged;
document.addEventListener("dragstart", ({ target }) => {
  dragged = target instanceof Element ? (target.closest("li") ?? undefined) : undefined;
});
document.addEventListener("dragend", () => {
  dragged = undefined;
});
document.addEventListener("dragover", (event) => placeAt(event) && event.preventDefault());
document.addEventListener("drop", (event) => {
  const place = placeAt(event);
  if (!dragged || !place) return;
  event.preventDefault();
  move(dragged, place);
});

/**
 * Where a dragged card would go: above or below the card under the pointer, or to the end of its list.
 * @param {DragEvent} event
 * @returns {Place | undefined}
 */
function placeAt({ target, clientY }) {
  const under = dragged && target instanceof Element ? target : undefined;
  const card = under?.closest("li");
  const list = under?.closest("section")?.querySelector("ul");
  if (!card || card === dragged) return list && !card ? { to: list, position: "beforeend" } : undefined;
  const { top, height } = card.getBoundingClientRect();
  return { to: card, position: clientY < top + height / 2 ? "beforebegin" : "afterend" };
}
