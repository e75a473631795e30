// What a browser adds to the page of a directory, which works without it, too.
import { checkboxOf, move, newFolder, remove, selectionBar } from "./changes.ts";
import { edit, isEditable, newFile } from "./edit.ts";
import {
  allEntries,
  button,
  type Entry,
  encoded,
  made,
  noteLine,
  refresh,
  rowGroups,
  withControlsShown,
} from "./entries.ts";
import { followChanges } from "./follow.ts";
import { filterField, handleKeys } from "./keys.ts";
import { isPreviewable, preview, showReadme } from "./preview.ts";
import { addStyle } from "./style.ts";
import { takeDrops, uploadControls, uploadPanel } from "./upload.ts";

addStyle();
const field = filterField(document.querySelector(".find") as HTMLFormElement);
const bar = document.querySelector(".bar") as HTMLElement;
bar.after(selectionBar, noteLine, uploadPanel);
if (document.body.dataset["mayAdd"] !== undefined) {
  const uploads = [...uploadControls("Upload files", false), ...uploadControls("Upload a folder", true)];
  bar.querySelector(".find")?.after(...uploads, button("New file", newFile), button("New folder", newFolder));
  takeDrops();
}
handleKeys(field);
followChanges();
/** Only rows that were near the view have buttons: those of thousands would be most of what is on the page. */
const nearView = new IntersectionObserver(
  (groups) => {
    for (const { target, isIntersecting } of groups) if (isIntersecting) addButtons(target);
  },
  { rootMargin: "100% 0px" },
);
document.addEventListener("listing", prepare);
prepare();
// On the way back, a browser shows the page as it was.
addEventListener("pageshow", ({ persisted }) => {
  const [navigation] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  if (persisted || navigation?.type === "back_forward") refresh();
});

function prepare(): void {
  for (const time of document.querySelectorAll<HTMLTimeElement>("main > table time")) showLocally(time);
  document.querySelector("main > table > thead th:last-child span")?.remove(); // the times are no longer those of UTC
  nearView.disconnect();
  if (allEntries().some((entry) => buttonsOf(entry).length > 0)) {
    document.querySelector("main > table")?.classList.add("acting");
    for (const row of document.querySelectorAll("main > table > :is(thead, tfoot) > tr")) {
      row.append(made("td", { className: "acts" }));
    }
    for (const group of rowGroups()) nearView.observe(group);
  }
  showReadme();
}

function addButtons(group: Element): void {
  nearView.unobserve(group);
  for (const entry of allEntries()) {
    if (entry.row.parentElement !== group) continue;
    entry.row.append(made("td", { className: "acts" }, made("span", {}, ...buttonsOf(entry), checkboxOf(entry))));
  }
}

function buttonsOf(entry: Entry): HTMLButtonElement[] {
  const { name, may } = entry;
  const buttons: HTMLButtonElement[] = [];
  const offer = (text: string, isOffered: boolean, act: () => unknown): void => {
    if (!isOffered) return;
    const ariaLabel = withControlsShown(`${text} ${name}`);
    buttons.push(Object.assign(button(text, act), { ariaLabel }));
  };
  offer("View", isPreviewable(entry), () => preview(entry));
  offer("Edit", isEditable(entry), () => edit(entry));
  const history = document.body.dataset["history"] + encoded(name);
  offer("History", may.includes("history"), () => location.assign(history));
  offer("Move", may.includes("move"), () => move([entry]));
  offer("Delete", may.includes("delete"), () => remove([entry]));
  return buttons;
}

/** The time where the reader is; the exact one in UTC is shown on hover. */
function showLocally(time: HTMLTimeElement): void {
  const date = new Date(time.dateTime);
  time.title = date.toUTCString();
  time.textContent = date.toLocaleString("sv").slice(0, "2026-01-31 12:00".length); // ISO 8601, as in Sweden
}
