import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { HttpError } from "../../../src/http/http-error.ts";
import { latestUser } from "../../../src/plugins/permissions/latest-user.ts";
import type { User } from "../../../src/server/access.ts";
import { stepClock } from "../../helpers/counted-work.ts";

const ada: User = { name: "ada", roles: [] };
const editor: User = { name: "ada", roles: ["editor"] };

/** The latest user after five seconds, by what an answer is then. */
async function after(answer: () => Promise<User | undefined>): Promise<readonly (User | undefined)[]> {
  const clock = stepClock(0);
  let asked = 0;
  const latest = latestUser(ada, () => {
    asked += 1;
    return answer();
  });
  clock.pass(4_999);
  expect([latest(), asked]).toEqual([ada, 0]);
  clock.pass(1);
  const before = [latest(), latest()]; // asks once
  await setImmediate();
  expect(asked).toBe(1);
  return [...before, latest()];
}

it("asks again in the background when an answer is five seconds old", async () => {
  expect(await after(async () => editor)).toEqual([ada, ada, editor]);
  expect(await after(async () => undefined)).toEqual([ada, ada, undefined]);
});

it("keeps the answer where the question fails, unless that is a refusal", async () => {
  const failing = (error: Error) => () => Promise.reject(error);
  expect(await after(failing(new Error("the database is down")))).toEqual([ada, ada, ada]);
  expect(await after(failing(new HttpError(503, "OVERLOADED", "Busy.")))).toEqual([ada, ada, ada]);
  expect(await after(failing(new HttpError(403, "BANNED", "Not you.")))).toEqual([ada, ada, undefined]);
});
