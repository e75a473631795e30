import { describe, expect, it } from "vitest";
import { ConfigError } from "../../src/config.ts";
import { Problems, shown } from "../../src/config-page/problems.ts";

function thrownBy(action: () => unknown): unknown {
  try {
    action();
    return undefined;
  } catch (error) {
    return error;
  }
}

describe("Problems", () => {
  it("throws nothing while there are none", () => {
    expect(() => new Problems("config.html").throwAny()).not.toThrow();
  });

  it("throws all of them in one ConfigError, in the order of their lines, what is about the file first", () => {
    const problems = new Problems("config.html");
    problems.add(12, "the last");
    problems.add(0, "about the file");
    problems.add(3, "the first of line 3");
    problems.add(3, "the second of line 3");
    const error = thrownBy(() => problems.throwAny());
    expect(error).toBeInstanceOf(ConfigError);
    expect((error as ConfigError).problems).toEqual([
      "config.html: about the file",
      "config.html:3: the first of line 3",
      "config.html:3: the second of line 3",
      "config.html:12: the last",
    ]);
  });

  it("says what a problem is about", () => {
    const problems = new Problems("config.html");
    problems.about("rate-limit").add(7, "is wrong");
    expect(thrownBy(() => problems.throwAny())).toMatchObject({ problems: ["config.html:7: rate-limit: is wrong"] });
  });

  it("knows which of them are its own", () => {
    const problems = new Problems("config.html");
    const [one, other] = [problems.about("one"), problems.about("other")];
    one.add(1, "is wrong");
    expect([problems.hasOwn, one.hasOwn, other.hasOwn]).toEqual([false, true, false]);
  });

  it("says the same thing once", () => {
    const problems = new Problems("config.html");
    problems.add(1, "is wrong");
    problems.add(1, "is wrong");
    expect(thrownBy(() => problems.throwAny())).toMatchObject({ problems: ["config.html:1: is wrong"] });
  });

  it("throws at once what makes it pointless to go on, with what was found before", () => {
    const problems = new Problems("config.html");
    problems.add(5, "is wrong");
    expect(thrownBy(() => problems.fail(1, "is no configuration"))).toMatchObject({
      problems: ["config.html:1: is no configuration", "config.html:5: is wrong"],
    });
  });
});

describe("shown", () => {
  it("has no line break, and not more of a text than helps", () => {
    expect(shown('a "b"\n')).toBe('"a \\"b\\"\\n"');
    expect(shown("x".repeat(1000))).toBe(`"${"x".repeat(80)}..."`);
  });
});
