// The to-do list, alive: tick, edit, delete and add, and see what others do.
import { addButtons } from "./curl-lines.js";
import { button, editInPlace, keepIn, storedOf, textOf } from "./edit-in-place.js";
import { goLive, inWords, isConflict, page, say } from "./live-page.js";

const list = /** @type {HTMLElement} */ (document.querySelector("#todo"));

/** A box, and buttons for each item that has none yet. They are not in the file: `data-local` says so. */
function prepare() {
  for (const item of list.querySelectorAll("li")) {
    let box = item.querySelector("input");
    if (!box) {
      box = document.createElement("input");
      box.type = "checkbox";
      box.dataset["local"] = "";
      box.addEventListener("change", () => tick(item));
      const tools = document.createElement("span");
      tools.className = "tools";
      tools.dataset["local"] = "";
      tools.append(
        button("Edit", () => edit(item)),
        button("Delete", () => remove(item)),
      );
      item.prepend(box);
      item.append(tools);
    }
    box.checked = item.classList.contains("done");
    box.setAttribute("aria-label", textOf(item));
    for (const each of item.querySelectorAll(".tools button")) {
      each.setAttribute("aria-label", `${each.textContent} “${textOf(item)}”`);
    }
  }
}

/**
 * @param {HTMLElement} item
 * @param {number} attempts
 */
async function tick(item, attempts = 3) {
  const isDone = item.querySelector("input")?.checked;
  try {
    const { selection, stored } = await storedOf(item);
    stored.classList.toggle("done", isDone);
    if (stored.className === "") stored.removeAttribute("class");
    await selection.replace(stored);
  } catch (error) {
    // Whoever changes the text at the same moment does not mean the tick: both can be had.
    if (isConflict(error) && attempts > 1) return tick(item, attempts - 1);
    say(inWords(error));
    prepare();
  }
}

/** @param {HTMLElement} item */
async function edit(item) {
  const putBack = (/** @type {string} */ text) => add(text);
  const keep = (/** @type {string} */ text) => keepIn(field, text);
  try {
    await editInPlace({ element: item, place: item, field: "input", label: "What is to be done", putBack, keep });
  } catch (error) {
    say(inWords(error));
  }
  item.querySelector("button")?.focus();
}

/** @param {HTMLElement} item */
async function remove(item) {
  const neighbour = item.nextElementSibling ?? item.previousElementSibling;
  try {
    const { selection } = await storedOf(item);
    await selection.remove();
  } catch (error) {
    return say(inWords(error));
  }
  // What was focused is gone.
  const next = neighbour?.querySelector(".tools button:last-child") ?? field;
  if (next instanceof HTMLElement) next.focus();
}

/** @param {string} text */
async function add(text) {
  const item = document.createElement("li");
  item.append(text);
  await page.select("#todo").append(item, { id: "item" }); // by which it can be addressed wherever it stands
}

const form = document.createElement("form");
form.className = "add";
form.dataset["local"] = "";
form.innerHTML = `<input required aria-label="New item" placeholder="Think of something"> <button class="main">Add</button>`;
const field = /** @type {HTMLInputElement} */ (form.elements[0]);
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const text = field.value.trim();
  if (text === "") return;
  try {
    await add(text);
    field.value = "";
  } catch (error) {
    say(inWords(error)); // and the text stays, to be tried again
  }
});
(list.nextElementSibling ?? list).after(form); // behind the sentence for an empty list
goLive(() => {
  prepare();
  addButtons();
});
