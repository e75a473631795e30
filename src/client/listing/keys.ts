import { remove } from "./changes.ts";
import { allEntries, entriesShown, rowGroups, say } from "./entries.ts";
import { isPreviewable, preview } from "./preview.ts";

export function filterField(form: HTMLFormElement): HTMLInputElement {
  const field = form.elements.namedItem("find") as HTMLInputElement;
  field.placeholder = "Filter  /";
  field.addEventListener("input", () => {
    filter(field.value);
    const [shown, all] = [entriesShown(), allEntries()].map(({ length }) => length.toLocaleString("en"));
    const where = document.querySelector(".pages") ? " of this page" : "";
    say(field.value.trim() === "" ? "" : `${shown} of ${all} entries${where}`);
  });
  field.addEventListener("keydown", ({ key }) => {
    if (key === "ArrowDown") entriesShown()[0]?.link.focus();
    if (key !== "Escape") return;
    field.value = "";
    field.dispatchEvent(new Event("input"));
  });
  document.addEventListener("listing", () => filter(field.value));
  return field;
}

function filter(text: string): void {
  const wanted = plain(text.trim());
  for (const { row, name } of allEntries()) {
    const isHidden = !plain(name).includes(wanted);
    if (row.hidden !== isHidden) row.hidden = isHidden;
  }
  for (const group of rowGroups()) {
    const count = [...group.rows].filter(({ hidden }) => !hidden).length;
    group.hidden = count === 0;
    // How high a group is that is not laid out: what the style says goes for whole ones.
    group.style.containIntrinsicHeight = count === group.rows.length ? "" : `calc(${count} * var(--row))`;
  }
}

function plain(text: string): string {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}

/** Arrows, Home and End go among entries, Backspace to the folder above; space and Delete act on an entry. */
export function handleKeys(filter: HTMLElement): void {
  document.addEventListener("keydown", (event) => {
    const { target } = event;
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (target instanceof Element && target.closest("input, textarea, dialog")) return;
    const action = actionOf(event.key, filter, target);
    if (!action) return;
    event.preventDefault();
    action();
  });
}

function actionOf(key: string, filter: HTMLElement, target: unknown): (() => unknown) | undefined {
  const entries = entriesShown();
  const at = entries.findIndex(({ link }) => link === target);
  const entry = entries[at];
  const places: Record<string, number> = {
    ArrowDown: at + 1,
    ArrowUp: Math.max(at - 1, 0),
    Home: 0,
    End: entries.length - 1,
  };
  const next = entries[places[key] ?? -1];
  if (next) return () => next.link.focus();
  if (key === "/") return () => filter.focus();
  if (key === "Backspace") return () => [...document.querySelectorAll<HTMLElement>("header nav a")].at(-1)?.click();
  if (key === " " && entry && isPreviewable(entry)) return () => preview(entry);
  if (key === "Delete" && entry?.may.includes("delete")) return () => remove([entry]);
  return undefined;
}
