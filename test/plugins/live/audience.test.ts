import { describe, expect, it } from "vitest";
import { atOnce } from "../../../src/event-loop/sliced-work.ts";
import { type Audience, mayReceive } from "../../../src/plugins/live/audience.ts";
import type { ChangedElements, JudgedElements, Right, SelectedElements } from "../../../src/server/access.ts";
import type { Change } from "../../../src/server/change-feed.ts";
import { accessOf } from "../../helpers/file-request.ts";

const file: Change = { id: 1, kind: "replaced", method: "PUT", host: "h", path: "/a/b.html", requestId: "r", time: "" };
const edit: Change = { ...file, kind: "elements-replaced", selector: "p" };

/** Elements that are among what some selectors select. */
function among(...selectors: readonly string[]): JudgedElements {
  const elements: JudgedElements = {
    areAmong: (selector) => selectors.includes(selector),
    touch: () => false,
    *areGiven(access, right, path) {
      yield;
      return access.permitsElements(right, path, elements);
    },
  };
  return elements;
}

const [mine, others] = [among(".mine"), among()];

/** What a client may receive of a change on the host "s". */
function verdict(of: Audience, change: Change, ...elements: ChangedElements[]): string {
  return atOnce(mayReceive(of, change, { site: "s", elements: elements.length > 0 ? elements : undefined }));
}

function audience(more: Partial<Audience> = {}): Audience {
  return {
    site: "s",
    path: undefined,
    connectedTo: "/ws",
    exchange: {} as never,
    access: accessOf(() => true),
    isProven: () => true,
    ...more,
  };
}

describe("who may receive a change", () => {
  it("is a client that may read the file", () => {
    const asked: unknown[] = [];
    const access = accessOf((right, path) => {
      asked.push([right, path]);
      return path === "/a/b.html";
    });
    expect(verdict(audience({ access }), file)).toBe("yes");
    expect(verdict(audience({ access }), { ...file, path: "/a/c.html" })).toBe("no");
    expect(asked).toEqual([
      ["read", "/a/b.html"],
      ["read", "/a/c.html"],
    ]);
  });

  it("is no client whose rights there are unknown", () => {
    expect(verdict(audience({ isProven: (path) => path !== "/a/b.html" }), file)).toBe("no");
  });

  describe("of elements", () => {
    const onlyMine = accessOf((_right: Right, _path: string, which?: SelectedElements | "any") =>
      which === "any" ? true : (which?.areAmong(".mine") ?? false),
    );

    it("is a client that may read these elements, as they were and as they are", () => {
      const client = audience({ access: onlyMine });
      expect(verdict(client, edit, { before: mine, after: mine })).toBe("yes");
      expect(verdict(client, edit, { before: others, after: others })).toBe("no");
    });

    it("is not a client that may read them only as they were, or only as they are", () => {
      const client = audience({ access: onlyMine });
      expect(verdict(client, edit, { before: mine, after: others })).toBe("no");
      expect(verdict(client, edit, { before: others, after: mine })).toBe("no");
    });

    it("is a client that may read some elements, without content, where it is not known which were changed", () => {
      expect(verdict(audience({ access: onlyMine }), edit)).toBe("without-content");
      expect(verdict(audience({ access: accessOf(() => false) }), edit)).toBe("no");
    });

    it("is no client that may read only elements, where the whole file changed", () => {
      expect(verdict(audience({ access: onlyMine }), file, { before: mine, after: mine })).toBe("no");
    });
  });
});
