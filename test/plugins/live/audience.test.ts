import { describe, expect, it } from "vitest";
import { type Audience, hears } from "../../../src/plugins/live/audience.ts";
import type { Right, SelectedElements } from "../../../src/server/access.ts";
import type { Change } from "../../../src/server/change-feed.ts";
import { accessOf } from "../../helpers/file-request.ts";

const file: Change = { id: 1, kind: "replaced", method: "PUT", host: "h", path: "/a/b.html", requestId: "r", time: "" };
const edit: Change = { ...file, kind: "elements-replaced", selector: "p" };
const elements: SelectedElements = { areAmong: (selector) => selector === ".mine", touch: () => false };

function audience(more: Partial<Audience> = {}): Audience {
  return { site: "s", path: undefined, access: accessOf(() => true), isProven: () => true, ...more };
}

describe("who hears of a change", () => {
  it("is whoever may read the file", () => {
    const asked: unknown[] = [];
    const access = accessOf((right, path) => {
      asked.push([right, path]);
      return path === "/a/b.html";
    });
    expect(hears(audience({ access }), file, "s")).toBe("yes");
    expect(hears(audience({ access }), { ...file, path: "/a/c.html" }, "s")).toBe("no");
    expect(asked).toEqual([
      ["read", "/a/b.html"],
      ["read", "/a/c.html"],
    ]);
  });

  it("is nobody of another host", () => {
    expect(hears(audience(), file, "t")).toBe("no");
  });

  it.each([
    [undefined, "yes"],
    ["", "yes"],
    ["/a", "yes"],
    ["/a/b.html", "yes"],
    ["/a/b", "no"],
    ["/", "no"],
    ["/b", "no"],
    ["/a/b.html/c", "no"],
  ])("depends on the part that was asked for: %s", (path, verdict) => {
    expect(hears(audience({ path }), file, "s")).toBe(verdict);
  });

  it("is nobody of whom it is not known what they may read there", () => {
    expect(hears(audience({ isProven: (path) => path !== "/a/b.html" }), file, "s")).toBe("no");
  });

  describe("of elements", () => {
    const onlyMine = accessOf((_right: Right, _path: string, which?: SelectedElements | "any") =>
      which === "any" ? true : (which?.areAmong(".mine") ?? false),
    );

    it("is whoever may read all of the file", () => {
      expect(hears(audience(), edit, "s")).toBe("yes");
    });

    it("is whoever may read these elements", () => {
      expect(hears(audience({ access: onlyMine }), edit, "s", elements)).toBe("yes");
      expect(hears(audience({ access: onlyMine }), edit, "s", { ...elements, areAmong: () => false })).toBe("no");
    });

    it("is unknown where the elements are, of those who may read some", () => {
      expect(hears(audience({ access: onlyMine }), edit, "s")).toBe("unknown");
      expect(hears(audience({ access: accessOf(() => false) }), edit, "s")).toBe("no");
    });

    it("is nobody who may read only elements, where the whole file changed", () => {
      expect(hears(audience({ access: onlyMine }), file, "s", elements)).toBe("no");
    });
  });
});
