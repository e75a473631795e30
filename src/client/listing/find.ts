import {
  allEntries,
  type Entry,
  entriesShown,
  entryAround,
  hideWhere,
  made,
  showEntries,
  statusLine,
} from "./entries.ts";

/** Where the page says how many entries have what is typed in their names. */
export const filterLine: HTMLElement = statusLine();

/** A field in which one types a part of a name; `/` focuses it. */
export function filterField(): HTMLInputElement {
  const field = made("input", { type: "search", placeholder: "Filter  /" });
  field.setAttribute("aria-label", "Filter by name");
  let wanted = "";
  hideWhere(({ name }) => !name.toLowerCase().includes(wanted));
  const tellCount = (): void => {
    const [shown, all] = [entriesShown(), allEntries()].map(({ length }) => length.toLocaleString("en"));
    const where = document.querySelector(".pages") ? "of this page" : "";
    filterLine.textContent = wanted === "" ? "" : `${shown} of ${all} entries ${where}`.trim();
  };
  const apply = (): void => {
    wanted = field.value.trim().toLowerCase();
    showEntries();
    tellCount();
  };
  field.addEventListener("input", apply);
  field.addEventListener("keydown", ({ key }) => {
    if (key === "ArrowDown" || key === "Enter") focusOn(entriesShown()[0]);
    if (key === "Escape") field.value = "";
    if (key === "Escape") apply();
  });
  document.addEventListener("listing", tellCount);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || isTyping(event)) return;
    event.preventDefault();
    field.focus();
  });
  return field;
}

/** Arrows go from entry to entry, Enter opens one, Backspace goes to the folder above. */
export function moveByKeys(): void {
  document.addEventListener("keydown", (event) => {
    if (isTyping(event) || event.altKey || event.ctrlKey || event.metaKey) return;
    const entries = entriesShown();
    const at = entries.findIndex(({ link }) => link === document.activeElement);
    const targets: Record<string, number> = {
      ArrowDown: at + 1,
      ArrowUp: Math.max(at - 1, 0),
      Home: 0,
      End: entries.length - 1,
    };
    const target = targets[event.key];
    if (target !== undefined && entries[target]) {
      event.preventDefault();
      focusOn(entries[target]);
    } else if (event.key === "Backspace") {
      [...document.querySelectorAll<HTMLAnchorElement>("header nav a")].at(-1)?.click();
    }
  });
}

/** Calls a function when a key is pressed on the link of an entry. */
export function onEntryKey(wanted: string, act: (entry: Entry) => void): void {
  document.addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (key !== wanted || !(target instanceof HTMLAnchorElement)) return;
    const entry = entryAround(target);
    if (!entry) return;
    event.preventDefault();
    act(entry);
  });
}

function focusOn(entry: Entry | undefined): void {
  entry?.link.focus();
  entry?.row.scrollIntoView({ block: "nearest" });
}

/** Whether a key belongs to a field or a dialog. */
function isTyping({ target }: Event): boolean {
  return target instanceof Element && target.closest("input, textarea, dialog") !== null;
}
