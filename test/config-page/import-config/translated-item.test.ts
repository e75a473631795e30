import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  type Difference,
  TranslatedItem,
  textOf,
  valuesOf,
} from "../../../src/config-page/import-config/translated-item.ts";
import { itemOf } from "../../helpers/microdata.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";

const item = (...properties: readonly [string, string][]) =>
  itemOf(
    `<p itemscope itemtype="x/Old">\n${properties.map(([name, value]) => `<b itemprop="${name}">${value}</b>`).join("\n")}`,
  );

describe("an item that is put into our words", () => {
  it("is another item in the same place, whose original stays as it was", async () => {
    const original = await item(["a_b", "1"], ["c", "2"]);
    const translated = new TranslatedItem(original);
    translated.rename({ aB: { now: "d", differs: "it is larger" }, c: { now: undefined, because: "nobody needs it" } });
    translated.set("e", "3");
    const differences: Difference[] = [];
    const made = translated.finish("New", differences);
    expect(made).toMatchObject({ types: ["/New"], line: 1 });
    expect([...made.properties]).toEqual([
      ["d", [{ value: "1", line: 2 }]],
      ["e", [{ value: "3", line: 1 }]],
    ]);
    expect([...original.properties.keys()]).toEqual(["a_b", "c"]);
    expect(differences).toEqual([
      { line: 2, text: "the property a_b is called d here; it is larger", item: made },
      { line: 3, text: "the property c is left out: nobody needs it", item: made },
    ]);
  });

  it("has a property of items only where there are some", async () => {
    const translated = new TranslatedItem(await item(["plugin", "x"]));
    translated.setItems("plugin", []);
    expect(translated.properties.size).toBe(0);
    translated.setItems("plugin", [translated.original]);
    expect(translated.properties.get("plugin")).toEqual([{ value: translated.original, line: 1 }]);
  });

  it("keeps locations that lead somewhere from the page only, and those that lead nowhere", async () => {
    const directory = await temporaryDirectory();
    await mkdir(join(directory, "site"));
    const translated = new TranslatedItem(
      await item(["hostRoot", "site"], ["serverRoot", "missing"], ["realm", "src"]),
    );
    await translated.place(directory);
    const differences: Difference[] = [];
    translated.finish("HostConfig", differences);
    expect(differences).toEqual([]);
    expect(translated.properties).toEqual(translated.original.properties);
  });

  it("is asked for properties in any spelling", async () => {
    const original = await item(["key_strategy", " ip\n "], ["realm", "x"]);
    expect(textOf(original, "keyStrategy")).toEqual({ text: "ip", line: 2 });
    expect(valuesOf(original, "keystrategy")).toBe(undefined);
    const translated = new TranslatedItem(original);
    translated.delete("keyStrategy");
    expect([...translated.properties.keys()]).toEqual(["realm"]);
  });
});
