import { fetchOk } from "../page-error.ts";
import { type Entry, reasonOf, refresh, say, withControlsShown } from "./entries.ts";

/** Deletes an entry, as it was listed, if the user says so. */
export async function remove({ name, link, tag }: Entry): Promise<void> {
  if (!confirm(withControlsShown(`Delete ${name}?`))) return;
  const request = { method: "DELETE", headers: tag ? { "if-match": tag } : {} };
  const text = await fetchOk(link.href, request).then(
    () => `Deleted: ${name}.`,
    (error) => `${name} was not deleted: ${reasonOf(error)}`,
  );
  await refresh();
  say(text);
}
