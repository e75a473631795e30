import { allEntries, entriesShown, rowGroups, say } from "./entries.ts";

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
  const shown = new Map(rowGroups().map((group) => [group, 0]));
  for (const { row, name } of allEntries()) {
    const isHidden = !plain(name).includes(wanted);
    if (row.hidden !== isHidden) row.hidden = isHidden;
    const group = row.parentElement as HTMLTableSectionElement;
    if (!isHidden) shown.set(group, (shown.get(group) ?? 0) + 1);
  }
  for (const [group, count] of shown) {
    if (group.hidden !== (count === 0)) group.hidden = count === 0;
    // How high a group is that is not laid out: what the style says goes for whole ones.
    group.style.containIntrinsicHeight = count === group.rows.length ? "" : `calc(${count} * var(--row))`;
  }
}

function plain(text: string): string {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}
