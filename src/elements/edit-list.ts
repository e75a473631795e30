import { checkEdits, documentBytes, type SourceElement } from "../html/engine.ts";
import { HttpError } from "../http/http-error.ts";
import { hasMoreValues, valuesOfEdit } from "../http/json-values.ts";
import { patchTypes } from "../http/methods.ts";
import { parseRange } from "../http/selector-range.ts";
import { clientOf } from "../server/admission.ts";
import { emptyReply, jsonReply, type Reply } from "../server/reply.ts";
import { editElements } from "./edit-elements.ts";
import { elementBytes, elementHeaders, elementTag } from "./element-reply.ts";
import type { EditRequest } from "./element-request.ts";
import { ChosenElements, finderOf } from "./selection.ts";

/** What a client wants to be answered (RFC 7240 §4.2). */
type Preference = "representation" | "minimal" | undefined;

/** PATCH (RFC 5789): all edits of a list or none. 200 with what each was about, or as the client prefers 204 or 206. */
export async function editPage(request: EditRequest): Promise<Reply> {
  const { exchange, options, path, contentTypeOf } = request;
  const { access, headers: sent } = exchange;
  const client = clientOf(exchange);
  const preference = preferenceOf(exchange.header("prefer"));
  const range = parseRange(sent.range, exchange.count("range"));
  if (range.unit !== "none" && !(range.unit === "selector" && preference === "representation")) {
    const details = "Edits name their elements; a selector says what to answer, with `Prefer: return=representation`.";
    throw new HttpError(400, "INVALID_RANGE", details);
  }
  requireType(sent["content-type"]);
  let shown: readonly SourceElement[] | undefined;
  return editElements(request, {
    kind: "elements-edited",
    edits: (json) => checkEdits(parsed(json, options.maxEdits), options.maxEdits),
    async content({ document }) {
      if (preference !== "representation") return undefined;
      if (range.unit === "none") return access.permitsPath("read", path) ? documentBytes(document) : undefined;
      const matches = await finderOf(options, client)(document, range.selector);
      const chosen = new ChosenElements(document, matches, options.maxSelectionSteps);
      if (!(await chosen.isGiven(access, "read", path, client))) return undefined;
      shown = matches;
      return elementBytes(document, matches, options, exchange);
    },
    async reply({ edits, etag, headers }, content) {
      const fields = { ...headers, ...(preference && { "preference-applied": `return=${preference}` }) };
      if (preference === "minimal") return emptyReply(204, { ...fields, etag });
      if (!content) {
        const told = edits.map(({ isReadable, matches }) => (isReadable ? { matches } : {}));
        return jsonReply(200, { etag, edits: told }, { ...headers, etag });
      }
      if (!shown)
        return { status: 200, headers: { ...fields, "content-type": contentTypeOf(path), etag }, body: content };
      if (shown.length === 0) return emptyReply(204, { ...fields, "x-selector-matches": "0" });
      const ofElements = elementHeaders(request, shown.length);
      return { status: 206, headers: { ...fields, ...ofElements, etag: elementTag(content) }, body: content };
    },
  });
}

function preferenceOf(prefer = ""): Preference {
  const [, wanted] = /(?:^|[,;\s])return="?(representation|minimal)"?(?:$|[,;\s])/i.exec(prefer) ?? [];
  return wanted?.toLowerCase() as Preference;
}

function requireType(contentType = ""): void {
  const [type = ""] = contentType.split(";");
  if (patchTypes.includes(type.trim().toLowerCase())) return;
  const headers = { "accept-patch": patchTypes.join(", ") };
  throw new HttpError(415, "UNSUPPORTED_TYPE", `Send a list of edits as ${patchTypes[0]}.`, { headers });
}

function parsed(json: string, maxEdits: number): unknown {
  if (hasMoreValues(json, valuesOfEdit * (maxEdits + 1)))
    throw new HttpError(400, "TOO_MANY_EDITS", `The list has more than ${maxEdits} edits, or fields that no edit has.`);
  try {
    return JSON.parse(json);
  } catch (cause) {
    throw new HttpError(400, "INVALID_EDIT", "The content is not JSON.", { cause });
  }
}
