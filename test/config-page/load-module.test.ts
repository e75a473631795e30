import { once } from "node:events";
import { utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { loadModule } from "../../src/config-page/load-plugins.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

const load = async (source: string, { timeMs = 100_000, name = "plugin.mjs" } = {}): ReturnType<typeof loadModule> => {
  const path = join(await temporaryDirectory(), name);
  await writeFile(path, source);
  return loadModule(path, { greeting: "hello" }, timeMs);
};

describe("loadModule", () => {
  it("gives the plugin that the default export makes of the parameters", async () => {
    expect(await load("export default ({ greeting }) => ({ name: greeting });")).toEqual({ name: "hello" });
  });

  it("waits for a module and a factory that take their time", async () => {
    const source = "await null; export default async ({ greeting }) => { await null; return { name: greeting }; };";
    expect(await load(source)).toEqual({ name: "hello" });
  });

  it("takes a CommonJS module, whose exports are its default", async () => {
    const source = "module.exports = ({ greeting }) => ({ name: greeting });";
    expect(await load(source, { name: "plugin.cjs" })).toEqual({ name: "hello" });
  });

  it.each([
    ["throws while it loads", "throw new Error('no database');", "no database"],
    ["throws what is no error", "throw 'a text';", "a text"],
    ["has a syntax error", "export default (", /syntax|unexpected/i],
    ["imports what is not there", "import 'not-there'; export default () => ({ name: 'x' });", /not-there/],
    ["exports nothing", "", "expected a default export that is a function"],
    ["has no default", "export const plugin = () => ({ name: 'x' });", "expected a default export that is a function"],
    ["exports the plugin itself", "export default { name: 'x' };", "expected a default export that is a function"],
    ["exports a class", "export default class { name = 'x' };", /without 'new'/],
    ["has a function that throws", "export default () => { throw new Error('no parameter'); };", "no parameter"],
    ["has a function that rejects", "export default async () => { throw new Error('too late'); };", "too late"],
    ["returns nothing", "export default () => {};", "return a plugin: an object with a name"],
    ["returns a plugin without a name", "export default () => ({ handle() {} });", "an object with a name"],
    [
      "returns a handle that cannot be called",
      "export default () => ({ name: 'x', handle: 'no' });",
      "expected its function to return a plugin whose handle is a function",
    ],
  ])("rejects for one that %s", async (_what, source, message) => {
    await expect(load(source)).rejects.toSatisfy((thrown) => {
      const text = thrown instanceof Error ? thrown.message : String(thrown);
      expect(text).toMatch(message);
      return true;
    });
  });

  it("rejects for a file that is not there", async () => {
    const path = join(await temporaryDirectory(), "missing.mjs");
    await expect(loadModule(path, {}, 100_000)).rejects.toThrow("the file does not exist");
  });

  it("rejects for a directory", async () => {
    await expect(loadModule(await temporaryDirectory(), {}, 5000)).rejects.toThrow();
  });

  /** Loads what says that it hangs, and lets five seconds pass then. */
  async function hanging(source: string): Promise<unknown> {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const hangs = once(process, "hanging");
    const loaded = load(source, { timeMs: 5000 });
    loaded.catch(() => {}); // rejects while nobody looks
    await hangs;
    await vi.advanceTimersByTimeAsync(5000);
    return loaded;
  }

  it("does not wait longer than it is told for a module that hangs", async () => {
    const source = "process.emit('hanging'); await new Promise(() => {}); export default () => ({ name: 'x' });";
    await expect(hanging(source)).rejects.toThrow("it took more than 5 s to load");
  });

  it("does not wait longer than it is told for a function that hangs", async () => {
    const source = "export default () => { process.emit('hanging'); return new Promise(() => {}); };";
    await expect(hanging(source)).rejects.toThrow("it took more than 5 s to make its plugin");
  });

  it("loads a file anew that has changed, also after it could not be loaded", async () => {
    const path = join(await temporaryDirectory(), "plugin.mjs");
    const write = async (source: string, seconds: number): Promise<void> => {
      await writeFile(path, source);
      await utimes(path, seconds, seconds);
    };
    await write("throw new Error('unfinished');", 1000);
    await expect(loadModule(path, {}, 100_000)).rejects.toThrow("unfinished");
    await write("export default () => ({ name: 'one' });", 2000);
    expect(await loadModule(path, {}, 100_000)).toEqual({ name: "one" });
    await write("export default () => ({ name: 'two' });", 3000);
    expect(await loadModule(path, {}, 100_000)).toEqual({ name: "two" });
  });

  it("loads a file once that has not changed", async () => {
    const path = join(
      await temporaryDirectory({ "plugin.mjs": "let made = 0; export default () => ({ name: 'number ' + ++made });" }),
      "plugin.mjs",
    );
    await loadModule(path, {}, 100_000);
    expect(await loadModule(path, {}, 100_000)).toEqual({ name: "number 2" });
  });
});
