import { describe, expect, it, test } from "vitest";
import { formatOf, isPossiblePassword, parseHash } from "../../../src/plugins/basic-auth/password.ts";
import type { Encryption } from "../../../src/plugins/basic-auth/users.ts";
import { sample } from "../../helpers/effort.ts";

const bcryptTail = "$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW";
const argon2Tail = "$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc";
const scryptTail = "$6MFy2ynsD3eZcp8FCZcunw$zrdE1fOrCIZYFO0xHGopxBUnody4AZ4LQ640LkRXU9A";
const sha256Tail = "$saltstring$5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5";

/** Published hashes: crypt_blowfish, the documentation of Apache, RFC 7914, libpasta, passlib, Dovecot, RustCrypto, Drepper. */
const published: readonly (readonly [format: Encryption, password: string, hash: string])[] = [
  ["bcrypt", "U*U", `$2a$05${bcryptTail}`],
  ["bcrypt", "U*U", `$2b$05${bcryptTail}`],
  ["bcrypt", "U*U*", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.VGOzA784oUp/Z0DY336zx7pLYAy0lwK"],
  ["bcrypt", "U*U*U", "$2a$05$XXXXXXXXXXXXXXXXXXXXXOAcXxm9kjPGEMsLznoKqmqw7tc8WCx4a"],
  ["bcrypt", "", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.7uG0VCzI2bS7j6ymqJi9CdcdxiRTWNy"],
  ["bcrypt", "myPassword", "$2y$05$c4WoMPo3SXsafkva.HHa6uXQZWr7oboPiC2bT/r7q1BB8I2s0BRqC"],
  ["argon2", "password", `$argon2id$v=19$m=65536,t=2,p=1${argon2Tail}`],
  [
    "argon2",
    "password",
    "$argon2i$v=19$m=65536,t=1,p=1$c29tZXNhbHQAAAAAAAAAAA$+r0d29hqEB0yasKr55ZgICsQGSkl0v0kgwhd+U3wyRo",
  ],
  [
    "argon2",
    "password",
    "$argon2d$v=19$m=65536,t=2,p=1$YzI5dFpYTmhiSFFBQUFBQUFBQUFBQQ$Jxy74cswY2mq9y+u+iJcJy8EqOp4t/C7DWDzGwGB3IM",
  ],
  ["scrypt", "hunter2", `$scrypt$ln=14,r=8,p=1${scryptTail}`],
  ["scrypt", "password", "$scrypt$ln=16,r=8,p=1$aM15713r3Xsvxbi31lqr1Q$nFNh2CVHVjNldFVKDHDlm4CbdRSCdEBsjjJxD+iCs5E"],
  [
    "scrypt",
    "password",
    "$scrypt$ln=10,r=8,p=16$TmFDbA$/bq+HJ00cgB4VucZDQHp/nxq18vII3gw53N2Y0s3MWIurzDZLiKjiG/xCSedmDDaxyevuUqD7m2DYMvfoswGQA",
  ],
  [
    "scrypt",
    "pleaseletmein",
    "$scrypt$ln=14,r=8,p=1$U29kaXVtQ2hsb3JpZGU=$cCO9yzr9c0hGHAbNgf046/2o+7qQT44+qbVD9lRdofLVQylVYT8Pz2LUlwUkKpr55h6F3A1lHkDfzwF7RVdYhw==",
  ],
  ["apr1", "myPassword", "$apr1$r31.....$HqJZimcKQFAMYayBlzkrA/"],
  ["apr1", "myPassword", "$apr1$qHDFfhPC$nITSVHgYbDAK1Y0acGRnY0"],
  ["apr1", "Test", "$apr1$$zccNMO7jOau6cLaAIpdIp1"],
  ["sha1", "myPassword", "{SHA}VBPuJHI7uixaa6LQGWx4s+5GKNE="],
  ["sha1", "password", "{SSHA}pKqkNr1tq3wtQqk+UcPyA3HnA2NsU5NJ"],
  ["sha1", "testing123", "{ssha}0c0blFTXXNuAMHECS4uxrj3ZieMoWImr"],
];

/** Those of great cost, of which `npm test` asks one. */
const costly = published.filter(([, , hash]) => /ln=16|m=65536/.test(hash));

describe("parseHash", () => {
  const asked = published.filter((each) => !costly.includes(each)).concat(sample(costly, costly.length));

  test.each(asked)("knows the published %s hash of %j: %s", async (format, password, hash) => {
    const stored = parseHash({ password: hash });
    expect(formatOf(hash)).toBe(format);
    expect(stored.problem).toBeUndefined();
    expect(await stored.matches(password)).toBe(true);
    expect(await stored.matches(`x${password}`)).toBe(false);
    const inOtherCase = password === password.toLowerCase() ? password.toUpperCase() : password.toLowerCase();
    expect(await stored.matches(inOtherCase || "x")).toBe(false);
  });

  test.each(published)("takes the encryption %s beside a hash of that format (%j, %s)", (format, _password, hash) => {
    expect(parseHash({ password: hash, encryption: format }).problem).toBeUndefined();
  });

  it("compares plain text where the record says that it is some", async () => {
    const stored = parseHash({ password: "pä:ss word", encryption: "plaintext" });
    expect(await stored.matches("pä:ss word")).toBe(true);
    for (const wrong of ["", "pä:ss", "pä:ss word ", "PÄ:SS WORD", "pa:ss word"]) {
      expect(await stored.matches(wrong), wrong).toBe(false);
    }
  });

  test.each([
    "secret",
    "*",
    "!",
    "*0",
    "x",
    "$1$saltstri$YMyguxXMBpd2TEZ.vS/3q1",
    "$2x$05$/OK.fbVrR/bpIqNJ5ianF.CE5elHaaO4EbggVDjb8P19RukzXSM3e",
    "$y$j9T$salt$hash",
    "{SSHA256}AAAA",
    "rqXexS6ZhobKA", // DES crypt, of `htpasswd -d`
    "rqXexS6ZhobKA=",
  ])("never matches what is in no known format, and warns: %s", async (password) => {
    const stored = parseHash({ password });
    expect(formatOf(password)).toBeUndefined();
    expect(stored.problem).toBeUndefined();
    expect(stored.warning).toContain("no known format");
    expect(await stored.matches(password)).toBe(false);
    expect(await stored.matches("")).toBe(false);
  });

  test.each([
    ["bcrypt", `$2b$05${bcryptTail.slice(0, -1)}`],
    ["bcrypt", `$2b$05${bcryptTail}x`],
    ["bcrypt", `$2b$03${bcryptTail}`],
    ["bcrypt", `$2b$05${bcryptTail.slice(0, -1)}X`],
    ["argon2", `$argon2id$v=18$m=65536,t=2,p=1${argon2Tail}`],
    ["argon2", `$argon2id$v=19$m=4,t=2,p=1${argon2Tail}`],
    ["argon2", `$argon2id$v=19$m=65536,t=0,p=1${argon2Tail}`],
    ["argon2", `$argon2id$v=19$m=65536,t=2,p=1,data=AAAA${argon2Tail}`],
    ["argon2", `$argon2id$v=19$m=65536,m=8,t=2,p=1${argon2Tail}`],
    ["argon2", `$argon2id$v=19$m=65536,t=2,p=1${argon2Tail.slice(0, 13)}`],
    ["scrypt", `$scrypt$ln=0,r=8,p=1${scryptTail}`],
    ["scrypt", `$scrypt$ln=14,r=0,p=1${scryptTail}`],
    ["scrypt", `$scrypt$ln=16,r=1,p=1${scryptTail}`],
    ["scrypt", `$scrypt$ln=14,r=8,p=1${scryptTail.slice(0, 30)}`],
    ["apr1", "$apr1$r31.....$HqJZimcKQFAMYayBlzkrA"],
    ["apr1", "$apr1$r31......$HqJZimcKQFAMYayBlzkrA/"],
    ["sha1", "{SHA}VBPuJHI7uixaa6LQGWx4s+5GKN=="],
    ["sha1", "{SHA}pKqkNr1tq3wtQqk+UcPyA3HnA2NsU5NJ"],
    ["sha1", "{SSHA}VBPuJHI7uixaa6LQGWx4s+5GKNE="],
  ])("calls a broken %s hash malformed: %s", async (format, password) => {
    const stored = parseHash({ password });
    expect(formatOf(password)).toBe(format);
    expect(stored.problem).toContain("malformed");
    expect(await stored.matches("U*U")).toBe(false);
  });

  test.each([
    [`$2b$15${bcryptTail}`, "cost 15: expected at most 14"],
    [`$argon2id$v=19$m=262145,t=2,p=1${argon2Tail}`, "memory in MiB 257: expected at most 256"],
    [`$argon2id$v=19$m=4294967295,t=2,p=1${argon2Tail}`, "memory in MiB 4194304: expected at most 256"],
    [`$argon2id$v=19$m=65536,t=11,p=1${argon2Tail}`, "passes 11: expected at most 10"],
    [`$argon2id$v=19$m=65536,t=2,p=17${argon2Tail}`, "threads 17: expected at most 16"],
    [`$scrypt$ln=19,r=8,p=1${scryptTail}`, "memory in MiB 512: expected at most 256"],
    [`$scrypt$ln=99,r=9999,p=1${scryptTail}`, "expected at most 256"],
    [`$scrypt$ln=10,r=8,p=17${scryptTail}`, "p 17: expected at most 16"],
    [`$scrypt$ln=18,r=8,p=3${scryptTail}`, "memory times p in MiB 768: expected at most 512"],
  ])("refuses more work than the ceiling, without doing any: %s", async (password, problem) => {
    const stored = parseHash({ password });
    expect(stored.problem).toContain(problem);
    expect(await stored.matches("U*U")).toBe(false);
  });

  test.each([
    `$2b$14${bcryptTail}`,
    `$argon2id$v=19$m=262144,t=10,p=16${argon2Tail}`,
    `$scrypt$ln=18,r=8,p=2${scryptTail}`,
  ])("takes as much work as the ceiling allows: %s", (password) => {
    expect(parseHash({ password }).problem).toBeUndefined();
  });

  test.each<[Encryption, string, string]>([
    [
      "bcrypt",
      "$apr1$r31.....$HqJZimcKQFAMYayBlzkrA/",
      'encryption is "bcrypt", but the password is a hash of the format "apr1"',
    ],
    ["argon2", "secret", 'encryption is "argon2", but the password is in no known format'],
    [
      "plaintext",
      `$2b$05${bcryptTail}`,
      'encryption is "plaintext", but the password is a hash of the format "bcrypt"',
    ],
    ["plaintext", "{SHA}VBPuJHI7uixaa6LQGWx4s+5GKNE=", 'the password is a hash of the format "sha1"'],
  ])("says so when the encryption %s is not what the password is: %s", async (encryption, password, problem) => {
    const stored = parseHash({ password, encryption });
    expect(stored.problem).toContain(problem);
    expect(await stored.matches(password)).toBe(false);
  });

  test.each([undefined, "plaintext", "bcrypt"] as const)(
    "refuses SHA-crypt hashes, with encryption %s",
    async (encryption) => {
      for (const password of [`$5${sha256Tail}`, `$5$rounds=100000${sha256Tail}`, `$6$saltstring$${"a".repeat(86)}`]) {
        const stored = parseHash({ password, encryption });
        expect(stored.problem).toMatch(/SHA-crypt hash .* not supported: expected bcrypt \(htpasswd -B\)/);
        expect(await stored.matches(password)).toBe(false);
      }
    },
  );

  test.each(["$5$a", "{SHA}", "rqXexS6ZhobKA", "$2y$"])(
    "takes %s for a plain password where it can be one",
    async (text) => {
      const stored = parseHash({ password: text, encryption: "plaintext" });
      expect(stored.problem).toBeUndefined();
      expect(await stored.matches(text)).toBe(true);
    },
  );

  test.each([
    ["", "empty"],
    ["a\0b", "NUL"],
    ["x".repeat(1025), "1024 bytes"],
  ])("refuses a plain password that nobody could or should sign in with (%#)", async (password, problem) => {
    const stored = parseHash({ password, encryption: "plaintext" });
    expect(stored.problem).toContain(problem);
    expect(await stored.matches(password)).toBe(false);
  });

  test.each<[string, string, Encryption?]>([
    ["{SHA}VBPuJHI7uixaa6LQGWx4s+5GKNE=", "SHA-1"],
    ["$apr1$r31.....$HqJZimcKQFAMYayBlzkrA/", "apr1"],
    [`$2y$05${bcryptTail}`, "cost 5"],
    ["secret", "plain text", "plaintext"],
  ])("warns of what is weak: %s", (password, warning, encryption) => {
    expect(parseHash({ password, encryption }).warning).toContain(warning);
  });

  it("repeats neither passwords nor hashes in what it says about them", () => {
    const secret = "Tr0ub4dor&3";
    const records = [
      { password: secret },
      { password: `$2b$05$${secret}` },
      { password: `$5$${secret}`, encryption: "bcrypt" },
    ];
    for (const record of records) {
      const { problem, warning } = parseHash(record as Parameters<typeof parseHash>[0]);
      expect(`${problem} ${warning}`).not.toContain(secret);
    }
  });

  it("gives hashes the same kind just when they take the same time", () => {
    const kindOf = (password: string): string | undefined => parseHash({ password }).kind;
    expect(kindOf(`$2a$05${bcryptTail}`)).toBe(kindOf("$2y$05$c4WoMPo3SXsafkva.HHa6uXQZWr7oboPiC2bT/r7q1BB8I2s0BRqC"));
    expect(kindOf(`$2a$05${bcryptTail}`)).not.toBe(kindOf(`$2a$06${bcryptTail}`));
    expect(kindOf("secret")).toBeUndefined();
  });
});

describe("passwords that tools cut off", () => {
  const vector = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789chars after 72 are ignored";
  const stored = parseHash({ password: "$2a$05$abcdefghijklmnopqrstuu5s2v8.iXieOjg/.AySBTTZIIVFJeBui" });

  it("match a bcrypt hash with the 72 bytes that it is made of", async () => {
    expect(await stored.matches(vector.slice(0, 72))).toBe(true);
    expect(await stored.matches(vector.slice(0, 71))).toBe(false);
  });

  it("do not match it with anything behind those", async () => {
    expect(await stored.matches(`${vector.slice(0, 72)}!`)).toBe(false);
    expect(await stored.matches(vector)).toBe(false);
  });

  it("are counted in bytes, not in letters", async () => {
    expect(await stored.matches(`${vector.slice(0, 72)}ä`)).toBe(false);
    expect(await stored.matches("ä".repeat(37))).toBe(false);
  });

  it("do not match by beginning anew after a NUL, as bcrypt does", async () => {
    const hash = parseHash({ password: `$2a$05${bcryptTail}` });
    expect(await hash.matches("U*U\0U*U")).toBe(false);
    expect(await hash.matches("U*U\0")).toBe(false);
  });
});

describe("isPossiblePassword", () => {
  test.each(["", "secret", "x".repeat(1024), "ä".repeat(512), "a b\tc:d"])("lets through %#", (password) => {
    expect(isPossiblePassword(password)).toBe(true);
  });

  test.each(["\0", "a\0b", "x".repeat(1025), "ä".repeat(513)])("stops %#", (password) => {
    expect(isPossiblePassword(password)).toBe(false);
  });
});
