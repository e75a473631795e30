import { fetchOk, PageError, type Requesting } from "./send.ts";

/** A version of a page, as its history tells of it. */
export interface PageVersion {
  /** Names the version. */
  readonly commit: string;
  /** When it was made, in ISO 8601. */
  readonly time: string;
  /** Name of the user; missing for an anonymous one. */
  readonly user?: string;
  /** What was done. */
  readonly summary: string;
  /** In bytes; missing where the page was deleted. */
  readonly size?: number;
}

/** Asks where the page's versions are (RFC 7089 §2.2): GET lists them, POST undoes this user's last change. */
export async function askHistory({ url, credentials }: Requesting, method: "GET" | "POST"): Promise<Response> {
  const request = { credentials, cache: "no-store" } as const;
  const { headers } = await fetchOk(url, { ...request, method: "HEAD" });
  const [, timeMap] = /<([^>]*)>; rel="timemap/.exec(headers.get("link") ?? "") ?? [];
  if (timeMap === undefined) throw new PageError(404, "NOT_FOUND", "The page has no history.");
  const condition = method === "POST" && { "if-match": headers.get("etag") ?? "*" };
  const fields = { accept: "application/json", ...condition };
  return fetchOk(new URL(timeMap, url), { ...request, method, headers: fields });
}
