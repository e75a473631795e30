import { describe, expect, it } from "vitest";
import { basicAuth } from "../../src/plugins/basic-auth.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import type { Storage, StoredEntry } from "../../src/storage/storage.ts";
import { deferred } from "../helpers/deferred.ts";
import { open } from "../helpers/send.ts";
import { storages, type TestSite, testSite } from "../helpers/test-site.ts";

const json = { headers: { accept: "application/json" } };

interface Page {
  readonly entries: readonly { readonly name: string }[];
  readonly next?: string;
}

async function pageAt(site: TestSite, target: string): Promise<Page> {
  return JSON.parse((await site.send("GET", target, json)).text);
}

describe.each(storages)("the pages of a listing $where", ({ make }) => {
  const names = Array.from({ length: 25 }, (_, n) => `n${n}.txt`);
  const files = Object.fromEntries(names.map((name) => [`/d/${name}`, name]));

  it("have every entry once, by following next", async () => {
    const site = await testSite(await make({ ...files, "/d/b/x": "", "/d/a & b/x": "" }));
    const seen: string[] = [];
    for (let next: string | undefined = "?limit=4"; next !== undefined; ) {
      const page: Page = await pageAt(site, `/d/${next}`);
      seen.push(...page.entries.map(({ name }) => name));
      next = page.next;
    }
    expect(seen).toEqual(["a & b", "b", ...names]);
  });

  it("have every entry that stays once, also while others come and go", async () => {
    const site = await testSite(await make(files));
    const seen: string[] = [];
    let next: string | undefined = "?limit=5";
    for (let turn = 0; next !== undefined; turn += 1) {
      const page: Page = await pageAt(site, `/d/${next}`);
      const shown = page.entries.map(({ name }) => name);
      seen.push(...shown);
      next = page.next;
      await site.send("DELETE", `/d/${shown.at(-1)}`); // the very entry that the next page begins after
      await site.send("PUT", `/d/a${turn}.txt`, { body: "before all that is to come" });
    }
    expect(seen).toEqual(names);
  });

  it("are linked to one another in HTML, in the order that was chosen", async () => {
    const site = await testSite(await make(files), { title: "Our <files>" });
    const { text } = await site.send("GET", "/d/?limit=10&after=n9.txt&sort=size");
    expect(text).toContain("<title>d \u2013 Our &lt;files&gt;</title>");
    expect(text).toContain("25 files; this page shows 11 to 20 and sorts only these");
    expect(text).toContain(
      '<a href="?limit=10&amp;after=n19.txt&amp;sort=size&amp;order=asc" rel="next">Next page</a>',
    );
  });

  it("have what a search finds below, by its path, in any case and without accents", async () => {
    const site = await testSite(
      await make({ "/d/Caf\u00e9.txt": "", "/d/in/cafe\u0301/x": "", "/d/in/tea.txt": "", "/cafe": "" }),
    );
    const found = ["in/cafe\u0301", "Caf\u00e9.txt"];
    expect((await pageAt(site, "/d/?find=CAFE")).entries.map(({ name }) => name)).toEqual(found);
    const first = await pageAt(site, "/d/?find=caf%C3%A9&limit=1");
    expect(first.entries.map(({ name }) => name)).toEqual(found.slice(0, 1));
    expect((await pageAt(site, `/d/${first.next}`)).entries.map(({ name }) => name)).toEqual(found.slice(1));
    const { text } = await site.send("GET", "/d/?find=cafe");
    expect(text).toContain('href="./in/cafe%CC%81/"');
    expect((await site.send("GET", "/d/?find=none")).text).toContain("No name here or below has “none” in it.");
  });

  it.each(["/d/?limit=0", "/d/?limit=x", "/d/?after=", "/d/?after=a%2Fb", "/d/?limit=1&limit=2"])(
    "are refused for %s",
    async (target) => {
      const site = await testSite(await make(files));
      const { status, text } = await site.send("GET", target, json);
      expect({ status, code: JSON.parse(text).code }).toEqual({ status: 400, code: "INVALID_QUERY" });
      expect((await site.send("HEAD", target)).status).toBe(400);
    },
  );
});

describe("listings", () => {
  it("offer to sign in where that is possible, and say who has", async () => {
    const users = (username: string, password: string): boolean => password === `${username}!`;
    const rules = [{ username: "*", path: "/*", permission: "allow" }] as const;
    const made = { storage: memoryStorage({ "/a.txt": "" }), everything: async () => [] };
    const site = await testSite(made, { plugins: [basicAuth({ users, rules })] });
    expect((await site.send("GET", "/")).text).toContain('<a href="?signin">Sign in</a>');
    expect(await site.send("GET", "/?signin")).toMatchObject({
      status: 401,
      headers: { "www-authenticate": expect.stringMatching(/^Basic /) },
    });
    const headers = { authorization: `Basic ${btoa("ada:ada!")}` };
    expect(await site.send("GET", "/?signin", { headers })).toMatchObject({ status: 302, headers: { location: "/" } });
    expect((await site.send("GET", "/", { headers })).text).toContain("Signed in as <bdi>ada</bdi>");
    const open = await testSite(made);
    expect((await open.send("GET", "/")).text).not.toContain("signin");
    expect((await open.send("GET", "/?signin")).status).toBe(302);
  });

  it("are refused beyond 250 at once of one address, each counted as 1,000 names, and make room when one ends", async () => {
    const reading = Array.from({ length: 250 }, () => deferred());
    const goesOn = reading.map(() => deferred());
    let count = 0;
    async function* list(): AsyncGenerator<StoredEntry> {
      const nth = count;
      count += 1;
      reading[nth]?.resolve();
      await goesOn[nth]?.promise;
      yield* []; // nothing is there
    }
    const site = await testSite({ storage: { ...memoryStorage(), list }, everything: async () => [] });
    const held = reading.map(() => site.send("GET", "/", json));
    await Promise.all(reading.map(({ promise }) => promise));
    const refused = await site.send("GET", "/", json);
    expect(refused).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
    expect(JSON.parse(refused.text).code).toBe("OVERLOADED");

    goesOn[0]?.resolve();
    await Promise.race(held); // has ended
    expect((await site.send("GET", "/", json)).status).toBe(200);
    for (const each of goesOn) each.resolve();
    const statuses = await Promise.all(held.map(async (answer) => (await answer).status));
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  it("stop reading the directory when their clients leave", async () => {
    const stopped = deferred();
    const reading = deferred();
    async function* list(): AsyncGenerator<StoredEntry> {
      try {
        for (let n = 0; ; n += 1) {
          yield { name: `n${n}`, type: "file" };
          reading.resolve();
        }
      } finally {
        stopped.resolve();
      }
    }
    const storage: Storage = { ...memoryStorage(), list };
    const site = await testSite({ storage, everything: async () => [] });
    const outgoing = open(site.url, "GET", "/", json).on("error", () => {});
    outgoing.end();
    await reading.promise;
    outgoing.destroy();
    await stopped.promise;
    await site.ended(1);
    expect(site.outcomes[0]).toMatchObject({ aborted: true });
  });
});
