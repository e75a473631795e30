import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { DocumentError, invalidHtml } from "../../src/html/document-error.ts";

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

class HalfBuiltTree {
  readonly error: DocumentError = this.refuse();

  refuse(): DocumentError {
    return new DocumentError("DOCUMENT_TOO_COSTLY", "The tree is too large.");
  }
}

function refuse(): { error: DocumentError; tree: WeakRef<HalfBuiltTree> } {
  const tree = new HalfBuiltTree();
  return { error: tree.error, tree: new WeakRef(tree) };
}

describe("DocumentError", () => {
  it("keeps nothing in memory of what was being built when it was made", async () => {
    const { error, tree } = refuse();
    await new Promise((resolve) => setImmediate(resolve)); // a WeakRef holds its target to the end of the turn
    collectGarbage();
    collectGarbage(); // the first may have begun while the tree was there
    expect(tree.deref()).toBeUndefined();
    expect(error.stack).toContain("HalfBuiltTree");
  });
});

describe("invalidHtml", () => {
  it("says what is wrong, and where", () => {
    expect(invalidHtml("it is blue", 3, 4)).toMatchObject({
      code: "INVALID_HTML",
      message: "The supplied HTML is not valid: it is blue (line 3, column 4).",
    });
  });
});
