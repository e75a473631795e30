import { remove } from "./changes.ts";
import { type Entry, entriesShown } from "./entries.ts";
import { isPreviewable, preview } from "./preview.ts";

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
  if (next) return () => focusOn(next);
  if (key === "/") return () => filter.focus();
  if (key === "Backspace") return () => [...document.querySelectorAll<HTMLElement>("header nav a")].at(-1)?.click();
  if (key === " " && entry && isPreviewable(entry)) return () => preview(entry);
  if (key === "Delete" && entry?.mayDelete) return () => remove([entry]);
  return undefined;
}

function focusOn({ link, row }: Entry): void {
  link.focus();
  row.scrollIntoView({ block: "nearest" });
}
