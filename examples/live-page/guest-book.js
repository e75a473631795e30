// The guest book, alive: sign it, edit and delete entries, and see what others write.
import { addButtons } from "./curl-lines.js";
import { button, editInPlace, keepIn, storedOf, textOf } from "./edit-in-place.js";
import { goLive, inWords, page, say } from "./live-page.js";

const entries = /** @type {HTMLElement} */ (document.querySelector("#entries"));

/** Buttons for each entry that has none yet. They are not in the file: `data-local` says so. */
function prepare() {
  for (const entry of entries.querySelectorAll("article")) {
    if (!entry.querySelector(".tools")) {
      const tools = document.createElement("span");
      tools.className = "tools";
      tools.dataset["local"] = "";
      tools.append(
        button("Edit", () => edit(entry)),
        button("Delete", () => remove(entry)),
      );
      entry.append(tools);
    }
    for (const each of entry.querySelectorAll(".tools button")) {
      each.setAttribute("aria-label", `${each.textContent} “${textOf(entry.querySelector("p") ?? entry)}”`);
    }
  }
}

/** @param {HTMLElement} entry */
async function edit(entry) {
  const text = entry.querySelector("p");
  if (!text) return;
  const copy = /** @type {HTMLElement} */ (entry.cloneNode(true));
  const putBack = async (/** @type {string} */ mine) => {
    copy.querySelector("p")?.replaceChildren(mine);
    await page.select("#entries").append(copy); // without the buttons: what is `data-local` is not sent
  };
  const keep = (/** @type {string} */ mine) => keepIn(message, mine);
  try {
    await editInPlace({ element: text, place: entry, field: "textarea", label: "Entry", putBack, keep });
  } catch (error) {
    say(inWords(error));
  }
  entry.querySelector("button")?.focus();
}

/** @param {HTMLElement} entry */
async function remove(entry) {
  const neighbour = entry.nextElementSibling ?? entry.previousElementSibling;
  try {
    const { selection } = await storedOf(entry);
    await selection.remove();
  } catch (error) {
    return say(inWords(error));
  }
  // What was focused is gone.
  const next = neighbour?.querySelector(".tools button:last-child") ?? message;
  if (next instanceof HTMLElement) next.focus();
}

const form = document.createElement("form");
form.className = "add sign";
form.dataset["local"] = "";
form.innerHTML = `<label>Your name <input name="name" required autocomplete="name" maxlength="80"></label>
  <label>What you want to say <textarea name="message" required rows="2"></textarea></label>
  <button class="main">Sign</button>`;
const name = /** @type {HTMLInputElement} */ (form.elements.namedItem("name"));
const message = /** @type {HTMLTextAreaElement} */ (form.elements.namedItem("message"));
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const blank = [name, message].find((field) => field.value.trim() === "");
  if (blank) {
    say("Spaces alone are no signature.");
    return blank.focus();
  }
  const now = new Date();
  const entry = document.createElement("article");
  entry.className = "entry";
  entry.innerHTML = "\n        <p></p>\n        <footer>, <time></time></footer>\n      ";
  entry.querySelector("p")?.append(message.value.trim()); // as text, never as HTML
  entry.querySelector("footer")?.prepend(name.value.trim());
  const time = /** @type {HTMLTimeElement} */ (entry.querySelector("time"));
  time.dateTime = now.toISOString().slice(0, 10);
  time.append(now.toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric" }));
  try {
    await page.select("#entries").append(entry, { id: "entry" }); // by which it can be addressed wherever it stands
    message.value = "";
  } catch (error) {
    say(inWords(error)); // and the text stays, to be tried again
  }
});
document.querySelector("#sign")?.after(form);
goLive(() => {
  prepare();
  addButtons();
});
