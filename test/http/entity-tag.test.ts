import fc from "fast-check";
import { expect, test } from "vitest";
import { entityTag, matchesStrongly, matchesWeakly, tagsOfVersions, variantTag } from "../../src/http/entity-tag.ts";
import { endless } from "../helpers/counted-work.ts";
import { checks } from "../helpers/effort.ts";

test("quotes a version", () => {
  expect(entityTag("a-1_Z")).toBe('"a-1_Z"');
});

test.each([
  // list, strongly, weakly
  ['"a"', true, true],
  ['W/"a"', false, true],
  ['"b", "a"', true, true],
  ['"b",W/"a"', false, true],
  ['W/"a", "a"', true, true],
  [' , "b" ,, "a" , ', true, true],
  ['"b,", "a"', true, true],
  ['garbage, "a"', true, true],
  ["garbage", false, false],
  ["", false, false],
  [",", false, false],
  ["a", false, false],
  ["*", false, false],
  ['"b"', false, false],
  ['"A"', false, false],
  ['"b, "a""', false, false],
  ['"b,"a', false, false],
  ['w/"a"', false, false],
  ['W/ "a"', false, false],
  ['x"a"', false, false],
  ['"a"x', false, false],
  ['"a" "a"', false, false],
  ['"a', false, false],
])("looks for the tag in %j", (list, strongly, weakly) => {
  expect(matchesStrongly(list, '"a"')).toBe(strongly);
  expect(matchesWeakly(list, '"a"')).toBe(weakly);
});

test("compares weak tags of its own weakly only", () => {
  expect(matchesStrongly('W/"a"', 'W/"a"')).toBe(false);
  expect(matchesWeakly('"a"', 'W/"a"')).toBe(true);
});

test("finds a tag with commas among others", () => {
  expect(matchesStrongly('"x", "a,b", "y"', '"a,b"')).toBe(true);
  expect(matchesStrongly('"x", "a,b", "y"', '"b"')).toBe(false);
});

test("reads every list that the grammar allows", () => {
  const opaque = fc.string({ unit: fc.constantFrom("a", "b", ",", " ", "W", "/", "\xe9", "*"), maxLength: 3 });
  const tag = fc.tuple(fc.boolean(), opaque).map(([isWeak, text]) => ({ isWeak, quoted: `"${text}"` }));
  const separator = fc.constantFrom(",", ", ", " ,\t", ",,");
  fc.assert(
    fc.property(fc.array(tag, { maxLength: 6 }), separator, tag, (tags, between, { quoted }) => {
      const list = tags.map((each) => (each.isWeak ? `W/${each.quoted}` : each.quoted)).join(between);
      const equal = tags.filter((each) => each.quoted === quoted);
      expect(matchesWeakly(list, quoted)).toBe(equal.length > 0);
      expect(matchesStrongly(list, quoted)).toBe(equal.some((each) => !each.isWeak));
    }),
    checks({ seed: 5, numRuns: 1000 }),
  );
});

test.each(['"', '"a"', '"a,', "W/", "x,", '",', '" ', '"a" ', ", "])(
  "takes no longer for %j repeated than for its length",
  (piece) => {
    expect(matchesWeakly(endless(piece), '"wanted"')).toBe(false);
  },
);

test("names the version of content in a coding", () => {
  expect(variantTag("v-1", "br", "v-2")).toBe('"v-1.br.v-2"');
  const list = `${variantTag("a", "br", "x_")}, "b", W/${variantTag("c", "gzip", "y")}, "d.e.f"`;
  expect(tagsOfVersions(list)).toBe('"a", "b", W/"c", "d.e.f"');
});
