import type { Edit } from "../html/edit/edits.ts";
import { PageError, refusal } from "./page-error.ts";
import { type Requesting, send } from "./send.ts";

/** Options of {@link Page.edit}. */
export interface EditOptions {
  /** The entity tag that the file has to have, such as that of a {@link MadeEdits}. @default any */
  readonly ifMatch?: string;
}

/** A list of edits that was made. */
export interface MadeEdits {
  /** Entity tag of the file now. */
  readonly etag: string;
  /** For each edit, how many elements it was about; no number where one may not read them. */
  readonly edits: readonly { readonly matches?: number }[];
}

/** Makes a list of edits (PATCH): all of them, or none. */
export function editPage(page: Requesting, edits: readonly Edit[], { ifMatch }: EditOptions = {}): Promise<MadeEdits> {
  const headers = {
    "content-type": "application/vnd.filement.edits+json",
    ...(ifMatch !== undefined && { "if-match": ifMatch }),
  };
  return send(page, "PATCH", { headers, body: JSON.stringify(edits) }, async (response) => {
    if (!response.ok) throw await refusal(response);
    const result: Partial<MadeEdits> = await response.json();
    const { etag, edits: made } = result;
    if (etag === undefined || !made) {
      throw new PageError(response.status, "HTTP_ERROR", "The reply is not about edits.");
    }
    return { result: { etag, edits: made }, isWritten: made.some(({ matches }) => matches !== 0), fileTag: etag };
  });
}
