import { type Entry, reasonOf, refresh, say, send, withControlsShown } from "./entries.ts";

/** Deletes an entry, as it was listed, if the user says so. */
export async function remove({ name, link, tag }: Entry): Promise<void> {
  if (!confirm(withControlsShown(`Delete ${name}?`))) return;
  const response = await send(link.href, { method: "DELETE", headers: tag ? { "if-match": tag } : {} });
  await refresh();
  say(response?.ok ? `Deleted: ${name}.` : `${name} was not deleted: ${await reasonOf(response)}`);
}
