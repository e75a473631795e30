import { describe, expect, it } from "vitest";
import { parseLimits } from "../../src/elements/document-limits.ts";
import { send, serveOne } from "./editing.ts";

describe("parseLimits", () => {
  it("takes the depth from the options", () => {
    expect(parseLimits({ maxDocumentDepth: 7, maxParseSteps: 8 })).toEqual({ maxDepth: 7, maxParseSteps: 8 });
  });

  it.each(["GET", "PUT"])("bounds what %s parses", async (method) => {
    const files = serveOne("<b><b><b>", { maxDocumentDepth: 4 });
    const { status } = await send(files, method, "b", method === "PUT" ? "x" : undefined);
    expect(status).toBe(422);
    await files.close();
  });

  it("bounds what an edit makes of a page", async () => {
    const files = serveOne("<p>a</p>", { maxDocumentDepth: 4 });
    expect((await send(files, "POST", "p", "<b>x</b>")).status).toBe(206);
    expect((await send(files, "POST", "p", "<b><i>x</i></b>")).status).toBe(422);
    await files.close();
  });
});
