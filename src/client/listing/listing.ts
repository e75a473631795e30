// What a browser adds to the page of a directory, which works without it, too.
import { remove, undoLine } from "./delete.ts";
import { edit, isEditable, newFile } from "./edit.ts";
import { allEntries, button, type Entry, made, noteLine, withControlsShown } from "./entries.ts";
import { filterField, filterLine, moveByKeys, onEntryKey } from "./find.ts";
import { isPreviewable, preview, showReadme } from "./preview.ts";
import { addStyle } from "./style.ts";
import { takeDrops, uploadButton, uploadPanel } from "./upload.ts";

addStyle();
const bar = made("div", { className: "bar" }, filterField());
document.querySelector("header")?.append(bar, filterLine, noteLine, undoLine, uploadPanel);
if (document.body.dataset["mayAdd"] !== undefined) {
  bar.append(uploadButton("Upload files", false), uploadButton("Upload a folder", true), button("New file", newFile));
  takeDrops();
}
const zip = document.querySelector("header > .zip");
if (zip) bar.append(zip);
moveByKeys();
onEntryKey(" ", (entry) => isPreviewable(entry) && preview(entry));
onEntryKey("Delete", (entry) => entry.mayDelete && remove(entry));
document.addEventListener("listing", prepare);
prepare();

/** Gives a listing, the first and each later one, what it has only here. */
function prepare(): void {
  for (const time of document.querySelectorAll("main > table time")) showLocally(time as HTMLTimeElement);
  document.querySelector("main > table th:last-child span")?.remove(); // the times are no longer those of UTC
  const entries = allEntries();
  const buttons = entries.map(buttonsOf);
  if (buttons.some(({ length }) => length > 0)) {
    document.querySelector("main > table")?.classList.add("acting");
    for (const row of document.querySelectorAll("main > table > :is(thead, tfoot) > tr")) {
      row.append(made("td", { className: "acts" }));
    }
    for (const [index, { row }] of entries.entries()) {
      row.append(made("td", { className: "acts" }, made("span", {}, ...(buttons[index] ?? []))));
    }
  }
  showReadme();
}

function buttonsOf(entry: Entry): HTMLButtonElement[] {
  const named = (text: string, press: () => unknown): HTMLButtonElement => {
    const made = button(text, press);
    made.setAttribute("aria-label", withControlsShown(`${text} ${entry.name}`));
    return made;
  };
  return [
    ...(isPreviewable(entry) ? [named("View", () => preview(entry))] : []),
    ...(isEditable(entry) ? [named("Edit", () => edit(entry))] : []),
    ...(entry.mayDelete ? [named("Delete", () => remove(entry))] : []),
  ];
}

/** The time where the reader is; the exact one in UTC is shown on hover. */
function showLocally(time: HTMLTimeElement): void {
  const date = new Date(time.dateTime);
  time.title = date.toUTCString();
  const day = `${date.getFullYear()}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`;
  time.replaceChildren(day, made("span", {}, ` ${twoDigits(date.getHours())}:${twoDigits(date.getMinutes())}`));
}

function twoDigits(number: number): string {
  return String(number).padStart(2, "0");
}
