// Editing the text of an element where it stands.
import { PageError } from "/.well-known/filement/client.js";
import { askWhose, inWords, isConflict, page, say, updates } from "./live-page.js";

/**
 * @typedef {object} Editing
 * @property {HTMLElement} element the element whose text is edited
 * @property {HTMLElement} place where the field goes
 * @property {"input" | "textarea"} field
 * @property {string} label
 * @property {(text: string) => Promise<unknown>} putBack writes the text again, when the element is gone
 * @property {(text: string) => void} keep shows the text where it can be sent later, when the element is gone
 */

/**
 * Lets somebody edit the text of an element: Enter saves, Escape does not. Settles when that is over.
 * @param {Editing} editing
 */
export async function editInPlace({ element, place, field: kind, label, putBack, keep }) {
  // What is stored is what is edited; from here on, the selection notices whether somebody else changes it.
  const { selection, stored } = await storedOf(element);
  const before = textOf(stored);

  const form = document.createElement("form");
  form.className = "editor";
  form.dataset["local"] = ""; // it is not in the file, so the mirror leaves it alone
  form.innerHTML = `<${kind} required></${kind}> <button class="main">Save</button> <button type="button">Cancel</button>`;
  const field = /** @type {HTMLInputElement | HTMLTextAreaElement} */ (form.elements[0]);
  field.setAttribute("aria-label", label);
  field.value = before;
  place.append(form);
  field.focus();
  field.select();

  return new Promise((resolve) => {
    const over = new AbortController();
    const end = () => {
      over.abort();
      form.remove();
      resolve(undefined);
    };
    form.querySelector("[type=button]")?.addEventListener("click", end);
    form.addEventListener("keydown", (event) => {
      if (event.isComposing) return; // Enter and Escape belong to the input method
      if (event.key === "Escape") end();
      if (event.key !== "Enter" || event.target !== field || event.shiftKey) return;
      event.preventDefault();
      form.requestSubmit();
    });
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const text = field.value.trim();
      if (text === before || (text !== "" && (await save(text)))) end();
      else field.focus();
    });
    // The field goes with its element, when somebody deletes that. What was typed must not.
    const onUpdated = async () => {
      if (form.isConnected) return;
      over.abort();
      await settle(field.value.trim());
      end();
    };
    updates.addEventListener("updated", onUpdated, { signal: over.signal });
  });

  /**
   * Whether that is done with.
   * @param {string} text
   */
  async function save(text) {
    try {
      await selection.replace(withText(stored, text));
      return true;
    } catch (error) {
      if (isConflict(error)) return settle(text);
      say(inWords(error));
      return false;
    }
  }

  /**
   * Somebody else was here: asks what to do.
   * @param {string} text
   */
  async function settle(text) {
    const now = await storedOf(element).catch(() => undefined);
    const theirs = now && textOf(now.stored);
    // If the text is what it was, only something else has changed: a tick, or the place in the list.
    const choice = theirs === before ? "mine" : await askWhose(text, theirs);
    try {
      if (choice === "mine" && now) await now.selection.replace(withText(now.stored, text));
      else if (choice === "mine") await putBack(text);
      else if (choice === undefined && !now) keep(text);
    } catch (error) {
      say(inWords(error));
      return false;
    }
    return choice !== undefined;
  }
}

/**
 * What is stored of an element. Without an id it is found by its place, so it has to say what is shown there.
 * @param {HTMLElement} element
 */
export async function storedOf(element) {
  if (!element.isConnected) throw new PageError(204, "NO_MATCH", "It is gone.");
  const selection = page.select(page.selectorOf(element));
  const [stored] = (await selection.get()).elements;
  if (!stored || (element.id === "" && textOf(stored) !== textOf(element))) {
    throw new PageError(204, "NO_MATCH", "Something else stands there now.");
  }
  return { selection, stored };
}

/**
 * The text of an element, without that of its buttons.
 * @param {Element} element
 */
export function textOf(element) {
  const copy = /** @type {Element} */ (element.cloneNode(true));
  for (const local of copy.querySelectorAll("[data-local]")) local.remove();
  return copy.textContent.trim();
}

/**
 * @param {Element} element
 * @param {string} text
 */
function withText(element, text) {
  const copy = /** @type {Element} */ (element.cloneNode());
  copy.append(text);
  return copy;
}

/**
 * Puts a text into a field, behind what is there already.
 * @param {HTMLInputElement | HTMLTextAreaElement} field
 * @param {string} text
 */
export function keepIn(field, text) {
  field.value = [field.value, text].filter(Boolean).join(" ");
  field.focus();
}

/**
 * Makes a button that is not in the file.
 * @param {string} text
 * @param {() => unknown} press
 */
export function button(text, press) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = text;
  made.addEventListener("click", press);
  return made;
}
