import { describe, expect, it, onTestFinished } from "vitest";
import { createFileServer } from "../../src/file-server.ts";
import type { Edit } from "../../src/html/edit/edits.ts";
import type { PermissionRule } from "../../src/plugins/permissions/rules.ts";
import { permissions } from "../../src/plugins/permissions.ts";
import type { Right } from "../../src/server/access.ts";
import type { Change } from "../../src/server/change-feed.ts";
import { storageWith } from "../helpers/test-site.ts";

const page =
  "<ul id=u class=mine><li id=a class=mine>A</li><li id=b>B</li></ul><ol id=o class=mine></ol><p id=p>secret</p>";
const allRights: readonly Right[] = ["read", "overwrite", "append", "delete"];

/** Each op about `#a`, which is the user's, and the rights that it needs of elements. */
const table: readonly (readonly [string, Edit, Partial<Record<Right, readonly string[]>>])[] = [
  ["replace", { op: "replace", selector: "#a", html: "<li id=a class=mine>1" }, { overwrite: ["#a"] }],
  ["insert inside", { op: "insert", selector: "#a", position: "beforeend", html: "1" }, { append: ["#a"] }],
  ["insert at its beginning", { op: "insert", selector: "#a", position: "afterbegin", html: "1" }, { append: ["#a"] }],
  ["insert before", { op: "insert", selector: "#a", position: "beforebegin", html: "<li>1" }, { append: ["#u"] }],
  ["insert behind", { op: "insert", selector: "#a", position: "afterend", html: "<li>1" }, { append: ["#u"] }],
  ["remove", { op: "remove", selector: "#a" }, { delete: ["#a"] }],
  ["move into", { op: "move", selector: "#a", to: "#o", position: "beforeend" }, { delete: ["#a"], append: ["#o"] }],
  ["move behind", { op: "move", selector: "#a", to: "#b", position: "afterend" }, { delete: ["#a"], append: ["#u"] }],
  ["setContent", { op: "setContent", selector: "#a", html: "1" }, { overwrite: ["#a"] }],
  ["setText", { op: "setText", selector: "#a", text: "1" }, { overwrite: ["#a"] }],
  ["setAttribute", { op: "setAttribute", selector: "#a", name: "title", value: "1" }, { overwrite: ["#a"] }],
  ["removeAttribute", { op: "removeAttribute", selector: "#a", name: "class" }, { overwrite: ["#a"] }],
  ["addClass", { op: "addClass", selector: "#a", class: "z" }, { overwrite: ["#a"] }],
  ["removeClass", { op: "removeClass", selector: "#a", class: "mine" }, { overwrite: ["#a"] }],
  ["a count", { op: "setText", selector: "#a", text: "1", matches: 1 }, { overwrite: ["#a"], read: ["#a"] }],
];

const somethingElse: PermissionRule = {
  username: "*",
  path: "/page.html",
  selector: "#none",
  rights: [...allRights],
  permission: "allow",
};

async function ask(rules: readonly PermissionRule[], edits: readonly Edit[], more = [somethingElse]) {
  const storage = storageWith({ "/page.html": page });
  const files = createFileServer({
    storage,
    plugins: [permissions({ user: () => ({ name: "ada" }), rules: [...rules, ...more] })],
  });
  onTestFinished(() => files.close());
  const changes: Change[] = [];
  files.changes.subscribe((change) => changes.push(change));
  const init = { method: "PATCH", headers: { "content-type": "application/json" }, body: JSON.stringify(edits) };
  const reply = await files.fetch(new Request("http://localhost/page.html", init));
  const text = await reply.text();
  return { status: reply.status, text, changes, after: (await files.read("/page.html")).content.toString() };
}

function rulesFor(needed: Partial<Record<Right, readonly string[]>>, without?: string): PermissionRule[] {
  return Object.entries(needed).flatMap(([right, selectors]) =>
    selectors
      .filter((selector) => `${right} ${selector}` !== without)
      .map((selector) => ({
        username: "ada",
        path: "/page.html",
        selector,
        rights: [right as Right],
        permission: "allow" as const,
      })),
  );
}

describe.each(table)("%s", (_, edit, needed) => {
  it("is made for who has just the rights that it needs, and for who has them for all of the page", async () => {
    const wide: PermissionRule = { username: "ada", path: "/*", rights: [...allRights], permission: "allow" };
    for (const rules of [rulesFor(needed), [wide], []]) {
      const { status, after, changes } = await ask(rules, [edit]);
      if (rules.length === 0) expect([status, after, changes]).toEqual([403, page, []]);
      else expect([status, after === page, changes.length]).toEqual([200, false, 1]);
    }
  });

  it("is refused where one of them is missing, and the whole list with it, which tells nothing", async () => {
    const others: Edit[] = [{ op: "setText", selector: "#o", text: "x" }];
    const allOf: PermissionRule = { ...somethingElse, username: "ada", selector: "#o" };
    for (const [right, selectors] of Object.entries(needed)) {
      for (const selector of selectors) {
        if (selector === "#o") continue;
        const { status, text, after, changes } = await ask(
          [...rulesFor(needed, `${right} ${selector}`), allOf],
          [...others, edit, ...others],
        );
        expect([status, after, changes]).toEqual([403, page, []]);
        expect(Object.keys(JSON.parse(text)).sort()).toEqual(["code", "details", "error"]);
      }
    }
  });

  it("is refused for elements of others, and where it is denied", async () => {
    const onOthers = { ...edit, selector: "#p" } as Edit;
    expect((await ask(rulesFor(needed), [onOthers])).status).toBe(403);
    const denial: PermissionRule = {
      username: "ada",
      path: "/page.html",
      rights: [...allRights],
      selector: "#a, #u",
      permission: "deny",
    };
    const wide: PermissionRule = { username: "ada", path: "/*", rights: [...allRights], permission: "allow" };
    expect((await ask([wide, denial], [edit])).status).toBe(403);
  });
});

describe("a test", () => {
  const mayWrite: PermissionRule = {
    username: "ada",
    path: "/page.html",
    selector: "#a",
    rights: ["overwrite"],
    permission: "allow",
  };
  const mayRead: PermissionRule = { ...mayWrite, rights: ["read"] };

  it("needs the right to read, and one to change something there", async () => {
    const edit: Edit = { op: "test", selector: "#a", matches: 1 };
    expect((await ask([mayWrite, mayRead], [edit])).status).toBe(200);
    expect((await ask([mayWrite], [edit])).status).toBe(403);
    expect((await ask([mayRead], [edit], [])).status).toBe(403);
  });

  it("does not find out what a user may not read: not how many there are, nor their tag", async () => {
    for (const edit of [
      { op: "test", selector: "#p", matches: 2 },
      { op: "test", selector: "#p", etag: '"x"' },
      { op: "move", selector: "#a", to: "#p", position: "afterend" },
    ] as const) {
      expect((await ask([mayWrite, mayRead], [edit])).status).toBe(403);
    }
  });

  it("and a change tell no numbers to who may not read", async () => {
    const { status, text } = await ask([mayWrite], [{ op: "setText", selector: "#a", text: "1" }]);
    expect([status, JSON.parse(text).edits]).toEqual([200, [{}]]);
  });
});
