// What a browser adds to the page of a directory, which works without it, too.
import { remove, undoLine } from "./delete.ts";
import { edit, isEditable, newFile } from "./edit.ts";
import { allEntries, button, type Entry, made, noteLine, rowGroups, withControlsShown } from "./entries.ts";
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
/** Only the rows near the view have buttons: those of thousands would be most of what is on the page. */
const nearView = new IntersectionObserver(
  (groups) => {
    for (const { target, isIntersecting } of groups) setButtons(target, isIntersecting);
  },
  { rootMargin: "100% 0px" },
);
document.addEventListener("listing", prepare);
prepare();

/** Gives a listing, the first and each later one, what it has only here. */
function prepare(): void {
  for (const time of document.querySelectorAll("main > table time")) showLocally(time as HTMLTimeElement);
  document.querySelector("main > table > thead th:last-child span")?.remove(); // the times are no longer those of UTC
  nearView.disconnect();
  if (allEntries().some((entry) => actionsOf(entry).length > 0)) {
    document.querySelector("main > table")?.classList.add("acting");
    for (const row of document.querySelectorAll("main > table > :is(thead, tfoot) > tr")) {
      row.append(made("td", { className: "acts" }));
    }
    for (const group of rowGroups()) nearView.observe(group);
  }
  showReadme();
}

/** Gives buttons to a group of rows, or takes them away. */
function setButtons(group: Element, isNear: boolean): void {
  if (!isNear && group.contains(document.activeElement)) return; // the focus would be lost
  for (const cell of group.querySelectorAll(".acts")) cell.remove();
  if (!isNear) return;
  for (const entry of allEntries()) {
    if (entry.row.parentElement !== group) continue;
    entry.row.append(made("td", { className: "acts" }, made("span", {}, ...buttonsOf(entry))));
  }
}

/** What can be done with an entry, by the text of its button. */
function actionsOf(entry: Entry): Array<readonly [text: string, act: (entry: Entry) => unknown]> {
  const actions: ReturnType<typeof actionsOf> = [];
  if (isPreviewable(entry)) actions.push(["View", preview]);
  if (isEditable(entry)) actions.push(["Edit", edit]);
  if (entry.mayDelete) actions.push(["Delete", remove]);
  return actions;
}

function buttonsOf(entry: Entry): HTMLButtonElement[] {
  return actionsOf(entry).map(([text, act]) => {
    const made = button(text, () => act(entry));
    made.setAttribute("aria-label", withControlsShown(`${text} ${entry.name}`));
    return made;
  });
}

/** The time where the reader is; the exact one in UTC is shown on hover. */
function showLocally(time: HTMLTimeElement): void {
  const date = new Date(time.dateTime);
  time.title = date.toUTCString();
  const day = `${date.getFullYear()}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`;
  time.textContent = `${day} ${twoDigits(date.getHours())}:${twoDigits(date.getMinutes())}`;
}

function twoDigits(number: number): string {
  return String(number).padStart(2, "0");
}
