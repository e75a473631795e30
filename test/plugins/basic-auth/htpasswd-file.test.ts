import { describe, expect, it } from "vitest";
import { readHtpasswd } from "../../../src/plugins/basic-auth/users-file.ts";
import { stepClock, turnsUntil } from "../../helpers/counted-work.ts";

const bcrypt = "$2y$05$zZJCJmInOxNMDqkjPpSJQOyQKTfOXyMSUzglWTpM94ryUFV4jLspa";

describe("readHtpasswd", () => {
  it("reads names and hashes, with the lines", async () => {
    const { users, rules, problems, warnings } = await readHtpasswd(`ada:${bcrypt}\nbo b:QoCUiCaEldpik`);
    expect(users).toEqual([
      { username: "ada", password: bcrypt, line: 1 },
      { username: "bo b", password: "QoCUiCaEldpik", line: 2 },
    ]);
    expect([rules, problems, warnings]).toEqual([[], [], []]);
  });

  it("does not mind blank lines, comments, white space around a line and either line end", async () => {
    const text = `\r\n# people\r\n  # ada:x\r\n \t\r\n  ada:${bcrypt}  \r\nbob:${bcrypt}\t\n\n`;
    const { users, problems } = await readHtpasswd(text);
    expect(problems).toEqual([]);
    expect(users).toEqual([
      { username: "ada", password: bcrypt, line: 5 },
      { username: "bob", password: bcrypt, line: 6 },
    ]);
  });

  it("ignores further fields after a hash, as Apache does", async () => {
    const { users, problems } = await readHtpasswd(`ada:${bcrypt}:Ada Lovelace:more`);
    expect(problems).toEqual([]);
    expect(users).toEqual([{ username: "ada", password: bcrypt, line: 1 }]);
  });

  it.each([
    ["hunter2", "there is no colon: expected name:hash"],
    [":x", "the user name is empty: expected a name"],
    ["*:x", 'the user name is "*": expected another one, as rules mean everyone by it'],
    ["a\0b:x", 'the user name "a\\u0000b" has control characters: expected a name without'],
    ["ada :x", 'there is white space beside the colon after "ada ": expected name:hash'],
    ["ada: hunter2", 'there is white space beside the colon after "ada": expected name:hash'],
    ["ada:", 'user "ada" has no password: expected a hash after the colon'],
  ])("refuses the line %j", async (line, text) => {
    const found = await readHtpasswd(`# first\n${line}\nbob:${bcrypt}`);
    expect(found.problems).toEqual([{ line: 2, text }]);
    expect(found.users.map(({ username }) => username)).toEqual(["bob"]);
  });

  it("gives way to others while it reads a long file", async () => {
    stepClock();
    const reading = readHtpasswd(`ada:${bcrypt}\n`.repeat(5_000));
    expect(await turnsUntil(reading)).toBeGreaterThan(500);
    expect((await reading).users).toHaveLength(5_000);
  });
});
