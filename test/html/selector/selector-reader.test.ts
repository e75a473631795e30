import { describe, expect, it } from "vitest";
import { SelectorReader } from "../../../src/html/selector/selector-reader.ts";

describe("SelectorReader", () => {
  it("takes only what stands there", () => {
    const reader = new SelectorReader("a, b");
    expect(reader.take(",")).toBe(false);
    expect(reader.name()).toBe("a");
    expect(reader.string()).toBeUndefined();
    expect(reader.take(",")).toBe(true);
    expect(reader.skipSpace()).toBe(true);
    expect(reader.skipSpace()).toBe(false);
    expect(reader.name()).toBe("b");
    expect(reader.token.kind).toBe("end");
  });

  it("skips an item of a list with all brackets and strings in it", () => {
    const reader = new SelectorReader("x([,], ',)', {,}, y(,)), b");
    reader.skipListItem(0);
    expect(reader.token.start).toBe(23);
  });

  it("stops at the bracket that closes the list", () => {
    const reader = new SelectorReader("[a) b) c");
    reader.skipListItem(0);
    expect(reader.token.kind).toBe("end");
    reader.skipListItem(4);
    expect(reader.token.start).toBe(5);
  });

  it("takes the end of the text for every bracket", () => {
    expect(() => new SelectorReader("").close(")", 0)).not.toThrow();
    expect(() => new SelectorReader("a").close("]", 0)).toThrow('"]" is expected before "a"');
  });

  it("gives the text up to the closing bracket", () => {
    const reader = new SelectorReader("  a (b) c  ) d");
    expect(reader.textToClose()).toBe("a (b) c");
    expect(reader.isDelim(")")).toBe(true);
  });

  it("names the part that is wrong, and its offset in characters", () => {
    expect(new SelectorReader("😀 li").invalid("why", 3).message).toContain('offset 3, "li": why');
    expect(new SelectorReader("a").unexpected().message).toContain('offset 0, "a": this is not expected here');
    expect(new SelectorReader("").unexpected().message).toContain('offset 0, "": it ends too early');
  });
});
