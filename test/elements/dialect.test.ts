import { describe, expect, it } from "vitest";
import { dialects } from "../../src/elements/dialect.ts";
import { parseFragment } from "../../src/html/edit/well-formed.ts";
import { type Edit, send, serveOne, wholePage } from "./editing.ts";

const page = "<ul id=l>\n<li id=a>1</li>\n<li>2</li>\n</ul>\n";

async function draft(...request: Edit) {
  const files = serveOne(page, { dialect: "draft-00" });
  const { status, headers, ...reply } = await send(files, ...request).then(async (response) => ({
    status: response.status,
    headers: response.headers,
    body: await response.text(),
  }));
  const after = (await wholePage(files)).toString();
  await files.close();
  return { status, range: headers.get("content-range"), matches: headers.get("x-selector-matches"), ...reply, after };
}

describe("the dialects", () => {
  it("are the documented one and the Internet-Draft's", () => {
    expect(Object.keys(dialects)).toEqual(["spec", "draft-00"]);
  });
});

describe('the dialect "draft-00"', () => {
  it("reads the first match only", async () => {
    expect(await draft("GET", "li")).toMatchObject({
      status: 206,
      range: "selector=li",
      matches: "1",
      body: "<li id=a>1</li>",
    });
  });

  it.each(["GET", "HEAD", "PUT", "POST", "DELETE"])("answers 416 where nothing matches: %s", async (method) => {
    const body = method === "PUT" || method === "POST" ? "x" : undefined;
    expect(await draft(method, "h1", body)).toMatchObject({
      status: 416,
      range: "selector */",
      matches: "0",
      after: page,
    });
  });

  it("answers POST with what was appended, byte for byte", async () => {
    expect(await draft("POST", "ul", " <li>3")).toMatchObject({
      status: 206,
      body: " <li>3",
      after: page.replace("</ul>", " <li>3</li></ul>"),
    });
  });

  it("changes the first match only", async () => {
    expect((await draft("DELETE", "li")).after).toBe(page.replace("<li id=a>1</li>", ""));
    expect((await draft("PUT", "li", "<li id=a>x</li>")).after).toBe(
      page.replace("<li id=a>1</li>", "<li id=a>x</li>"),
    );
  });

  it.each(["<li id=b>x</li>", "<li>x</li>", "x"])(
    "does not let %s take the place of an element with an id",
    async (html) => {
      const { status, body, after } = await draft("PUT", "#a", html);
      expect([status, JSON.parse(body).code, after]).toEqual([409, "ID_CHANGED", page]);
    },
  );

  it("lets an element without an id get one", async () => {
    expect((await draft("PUT", "li:last-child", "<li id=b>x</li>")).status).toBe(206);
  });
});

describe('the dialect "spec"', () => {
  it("lets an id change", async () => {
    const fragment = await parseFragment("<p id=b>");
    expect(() => dialects.spec.checkReplacement({ attribs: { id: "a" } } as never, fragment)).not.toThrow();
  });
});
