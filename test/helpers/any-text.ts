import fc from "fast-check";

const codePoint = fc.integer({ min: 0, max: 0x10_ffff }).map((number) => String.fromCodePoint(number));

/** Strings of any code points, lone surrogates too; `unit: "binary"` first takes 0.7 s for a table. */
export const anyText: fc.Arbitrary<string> = fc.string({ unit: codePoint });
