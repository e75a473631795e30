import { describe, expect, it, test } from "vitest";
import { sha256Crypt, shaCrypt } from "../../../../src/plugins/basic-auth/password/sha-crypt.ts";
import { stepClock, turnsUntil } from "../../../helpers/counted-work.ts";

const longText = "a very much longer text to encrypt.  This one even stretches over morethan one line.";

/** The test vectors at the end of Drepper's specification, as `crypt` stores them. */
const vectors = [
  ["sha256", "Hello world!", "saltstring", 5000, "5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5"],
  ["sha256", "Hello world!", "saltstringsaltst", 10_000, "3xv.VbSHBb41AL9AvLeujZkZRBAwqFMz2.opqey6IcA"],
  ["sha256", "This is just a test", "toolongsaltstrin", 5000, "Un/5jzAHMgOGZ5.mWJpuVolil07guHPvOW8mGRcvxa5"],
  ["sha256", longText, "anotherlongsalts", 1400, "Rx.j8H.h8HjEDGomFU8bDkXm3XIUnzyxf12oP84Bnq1"],
  [
    "sha256",
    "we have a short salt string but not a short password",
    "short",
    77_777,
    "JiO1O3ZpDAxGJeaDIuqCoEFysAe1mZNJRs3pw0KQRd/",
  ],
  ["sha256", "a short string", "asaltof16chars..", 123_456, "gP3VQ/6X7UUEW3HkBn2w1/Ptq2jxPyzV/cZKmF/wJvD"],
  [
    "sha256",
    "the minimum number is still observed",
    "roundstoolow",
    1000,
    "yfvwcWrQ8l/K0DAWyuPMDNHpIVlTQebY9l/gL972bIC",
  ],
  [
    "sha512",
    "Hello world!",
    "saltstring",
    5000,
    "svn8UoSVapNtMuq1ukKS4tPQd8iKwSMHWjl/O817G3uBnIFNjnQJuesI68u4OTLiBFdcbYEdFCoEOfaS35inz1",
  ],
  [
    "sha512",
    "Hello world!",
    "saltstringsaltst",
    10_000,
    "OW1/O6BYHV6BcXZu8QVeXbDWra3Oeqh0sbHbbMCVNSnCM/UrjmM0Dp8vOuZeHBy/YTBmSK6H9qs/y3RnOaw5v.",
  ],
  [
    "sha512",
    "This is just a test",
    "toolongsaltstrin",
    5000,
    "lQ8jolhgVRVhY4b5pZKaysCLi0QBxGoNeKQzQ3glMhwllF7oGDZxUhx1yxdYcz/e1JSbq3y6JMxxl8audkUEm0",
  ],
  [
    "sha512",
    longText,
    "anotherlongsalts",
    1400,
    "POfYwTEok97VWcjxIiSOjiykti.o/pQs.wPvMxQ6Fm7I6IoYN3CmLs66x9t0oSwbtEW7o7UmJEiDwGqd8p4ur1",
  ],
  [
    "sha512",
    "we have a short salt string but not a short password",
    "short",
    77_777,
    "WuQyW2YR.hBNpjjRhpYD/ifIw05xdfeEyQoMxIXbkvr0gge1a1x3yRULJ5CCaUeOxFmtlcGZelFl5CxtgfiAc0",
  ],
  [
    "sha512",
    "the minimum number is still observed",
    "roundstoolow",
    1000,
    "kUMsbe306n21p9R.FRkW3IGn.S9NPN0x50YhH1xhLsPuWGsUSklZt58jaTfF4ZEQpyUNGc0dqbpBYYBaHHrsX.",
  ],
] as const;

describe("shaCrypt", () => {
  test.each(vectors)("makes of %s, %j, salt %s and %d rounds %s", async (algorithm, password, salt, rounds, digest) => {
    expect(await shaCrypt(algorithm, Buffer.from(password), salt, rounds)).toBe(digest);
  });

  it("lets the event loop turn while it counts rounds", async () => {
    stepClock();
    expect(await turnsUntil(shaCrypt("sha512", Buffer.from("secret"), "salt", 10_000))).toBeGreaterThan(5);
  });
});

describe("the SHA-crypt formats", () => {
  it("compute one hash at a time, so that two do not hold the event loop for two slices", async () => {
    const hashOf = (rounds: number) => {
      const read = sha256Crypt.read(`$5$rounds=${rounds}$salt$${"a".repeat(43)}`);
      if ("problem" in read) throw new Error(read.problem);
      return read;
    };
    const ended: string[] = [];
    const password = Buffer.from("secret");
    await Promise.all([
      hashOf(50_000)
        .matches(password)
        .then(() => ended.push("long")),
      hashOf(1000)
        .matches(password)
        .then(() => ended.push("short")),
    ]);
    expect(ended).toEqual(["long", "short"]);
  });
});
