import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createFileServer } from "../../src/file-server.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { projectRoot } from "../helpers/source-files.ts";

const guide = readFileSync(`${projectRoot}/docs/selectors.md`, "utf8");

/** `list.html` and the like: a file name, and a block with its content. */
const files = Object.fromEntries(
  [...guide.matchAll(/^`([\w.]+)`:\n\n```\w+\n([\s\S]*?)```/gm)].map(([, name, content = ""]) => [`/${name}`, content]),
);

/** Each command, and what the guide says that it prints. */
const commands = [...guide.matchAll(/^```console\n([\s\S]*?)^```/gm)].flatMap(([, block = ""]) =>
  [...block.matchAll(/^\$ curl (.*)\n((?:(?!\$ curl ).*\n)*)/gm)].map(([, command = "", printed = ""]) => ({
    command,
    printed: printed.trimEnd(),
  })),
);

function requestOf(command: string, etag: string): Request {
  const [, method = "GET"] = /-X (\w+)/.exec(command) ?? [];
  const [, body] = /-d '([^']*)'/.exec(command) ?? [];
  const [, path = ""] = /\$site(\S+)/.exec(command) ?? [];
  const fields = [...command.matchAll(/-H "([\w-]+): ([^"]+)"/g)];
  const headers = fields.map(([, name = "", value = ""]): [string, string] => [name, value.replace("$etag", etag)]);
  return new Request(`http://localhost${path}`, { method, headers, ...(body !== undefined && { body }) });
}

describe("the guide to selectors", () => {
  it("shows what curl prints", async () => {
    expect(Object.keys(files)).toEqual(["/list.html", "/broken.html", "/plan.svg"]);
    expect(commands.length).toBeGreaterThan(25);
    const server = createFileServer({ storage: memoryStorage(files) });
    let etag = "";
    for (const { command, printed } of commands) {
      const response = await server.fetch(requestOf(command, etag));
      const body = (await response.text()).trimEnd();
      if (!command.startsWith("-i ")) {
        expect([command, printed]).toEqual([command, body]);
        continue;
      }
      etag = response.headers.get("etag") ?? etag; // what a reader sees and copies
      const [head = "", ...content] = printed.split("\n\n");
      const [statusLine = "", ...fields] = head.split("\n");
      expect([command, content.join("\n\n")]).toEqual([command, body]);
      expect(statusLine).toMatch(new RegExp(`^HTTP/1.1 ${response.status} `));
      for (const field of fields) {
        const [, name = "", value] = /^([\w-]+): (.*)$/.exec(field) ?? [];
        expect([command, name, response.headers.get(name)]).toEqual([command, name, value]);
      }
    }
    await server.close();
  });

  it("shows selectors that are valid, and those that are not", async () => {
    const server = createFileServer({ storage: memoryStorage(files) });
    const rows = [...guide.matchAll(/^\| ([^|]+) \| (.*) \|$/gm)].filter(([, , cell = ""]) => cell.startsWith("`"));
    const statuses = async (cell: string): Promise<number[]> => {
      const shown = [...cell.replaceAll("\\|", "|").matchAll(/`([^`]+)`/g)].map(([, selector = ""]) => selector);
      const replies = shown
        .filter((text) => !/^[A-Z_]|^max|^-of-type$|^selector|^document/.test(text))
        .map((selector) =>
          server.fetch(new Request("http://localhost/list.html", { headers: { range: `selector=${selector}` } })),
        );
      return (await Promise.all(replies)).map(({ status }) => status);
    };
    const first = rows.findIndex(([, name]) => name?.startsWith("type, "));
    const last = rows.findIndex(([, name]) => name?.startsWith("not valid"));
    expect(first).not.toBe(-1);
    for (const [, name = "", cell = ""] of rows.slice(first, last)) {
      const found = await statuses(cell);
      expect(found.length, name).toBeGreaterThan(0);
      expect([name, found.filter((status) => status !== 206 && status !== 204)]).toEqual([name, []]);
    }
    const [invalid = ""] = (rows[last]?.[2] ?? "").split(" and other");
    expect([...new Set(await statuses(invalid))]).toEqual([400]);
    await server.close();
  });
});
