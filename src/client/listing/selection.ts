import { moveAll, remove } from "./changes.ts";
import { button, type Entry, encoded, made, withControlsShown } from "./entries.ts";

const selected = new Set<Entry>();
const count = made("span");

export const selectionBar: HTMLElement = made("div", { className: "selection", hidden: true }, count);
const move = button("Move", () => moveAll([...selected]));
const drop = button("Delete", () => remove([...selected]));
const zip = button("Download as .zip", () => {
  location.assign(`?zip&${[...selected].map(({ name }) => `name=${encoded(name)}`).join("&")}`);
});
selectionBar.append(move, drop, zip);
document.addEventListener("listing", () => {
  selected.clear();
  show();
});

/** Selects an entry, together with others; nothing where nothing can be done with several. */
export function checkboxOf(entry: Entry): HTMLInputElement | "" {
  if (!entry.mayMove && !entry.mayDelete && !hasZip()) return "";
  const checkbox = made("input", { type: "checkbox", ariaLabel: withControlsShown(`Select ${entry.name}`) });
  checkbox.addEventListener("change", () => {
    if (checkbox.checked) selected.add(entry);
    else selected.delete(entry);
    show();
  });
  return checkbox;
}

function show(): void {
  const entries = [...selected];
  selectionBar.hidden = entries.length === 0;
  count.textContent = `${entries.length} selected`;
  move.hidden = !entries.every(({ mayMove }) => mayMove);
  drop.hidden = !entries.every(({ mayDelete }) => mayDelete);
  zip.hidden = !hasZip();
}

function hasZip(): boolean {
  return document.querySelector(".bar > .zip") !== null;
}
