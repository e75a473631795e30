import { strongTag } from "../selection.ts";
import { fetchOk, PageError } from "../send.ts";
import { addressOf, button, type Entry, made, openDialog, reasonOf, refresh, say } from "./entries.ts";

const largestText = 1_000_000;

let isUnsaved = (): boolean => false;
addEventListener("beforeunload", (event) => isUnsaved() && event.preventDefault());

export function isEditable({ kind, name, size, may }: Entry): boolean {
  const isText = ["text", "page"].includes(kind) || /^[^.]+$|\.(?:md|svg|log|conf|ini)$/i.test(name);
  return isText && size <= largestText && may.includes("write");
}

export function newFile(): void {
  const name = prompt("Name of the new file")?.trim();
  if (name) openEditor(name, addressOf(name), "", { "if-none-match": "*" });
}

export async function edit({ name, link }: Entry): Promise<void> {
  const found = await read(link.href).catch((error) => say(reasonOf(error)));
  if (!found || document.querySelector("dialog")) return; // there is one: it was a double click
  if (found.isText) openEditor(name, link.href, found.text, { "if-match": found.tag });
  else say(found.text);
}

/** What a file has in it, or that this is not text in UTF-8. */
async function read(
  address: string,
): Promise<{ readonly text: string; readonly isText: boolean; readonly tag: string }> {
  const response = await fetchOk(address, { cache: "no-store" });
  const tag = strongTag(response) ?? "*";
  const bytes = await response.arrayBuffer();
  try {
    return { text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes), isText: true, tag };
  } catch {
    return { text: "This is not text in UTF-8.", isText: false, tag };
  }
}

/** Edits a text in a dialog, which asks before it throws away what was typed. `condition` is that of the first save. */
function openEditor(name: string, address: string, before: string, condition: Record<string, string>): void {
  const area = made("textarea", { defaultValue: before, spellcheck: false, ariaLabel: "Content" });
  const shown = area.value;
  const theirs = made("textarea", { readOnly: true });
  const sides = made("div", { className: "sides" }, area);
  const problem = made("p", { className: "note", role: "alert" });
  const dialog = openDialog(name, sides, problem);
  isUnsaved = () => area.value !== shown;
  dialog.addEventListener("close", () => {
    isUnsaved = () => false;
  });

  let expected = condition;
  const save = async (): Promise<void> => {
    if (area.readOnly) return;
    area.readOnly = true; // what was typed now would not be in the file
    // A field has only line feeds, whatever the file has.
    const text = before.includes("\r\n") ? area.value.replace(/\n/g, "\r\n") : area.value;
    try {
      await fetchOk(address, { method: "PUT", headers: expected, body: new Blob([text]) });
      dialog.close();
      await refresh();
      say(`${name} is saved.`); // later than the dialog: nothing behind it is read aloud
    } catch (error) {
      const reason = isAbout(412, error) ? await showTheirs() : reasonOf(error);
      problem.textContent = `${reason} Your text is still here.`;
      area.readOnly = false;
    }
  };

  const showTheirs = async (): Promise<string> => {
    try {
      const { text, tag } = await read(address);
      theirs.value = text;
      sides.append(made("label", {}, "Theirs", theirs));
      expected = { "if-match": tag };
      return "The file was changed meanwhile, as shown here. Save replaces it by your text.";
    } catch (error) {
      if (!isAbout(404, error)) return reasonOf(error);
      expected = { "if-none-match": "*" };
      return "The file was deleted meanwhile. Save makes it again.";
    }
  };

  const leave = (event: Event): void => {
    event.preventDefault();
    if (!isUnsaved() || confirm("Close without saving?")) dialog.close();
  };
  dialog.addEventListener("cancel", leave);
  dialog.addEventListener("keydown", (event) => {
    // A second Escape closes a dialog whatever its event "cancel" is answered with.
    if (event.key === "Escape") leave(event);
    if (event.key !== "s" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    save();
  });
  dialog.append(made("menu", {}, button("Save", save, "main"), button("Cancel", leave)));
  area.focus();
}

function isAbout(status: number, error: unknown): boolean {
  return error instanceof PageError && error.status === status;
}
