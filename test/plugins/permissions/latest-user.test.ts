import { AsyncLocalStorage } from "node:async_hooks";
import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { HttpError } from "../../../src/http/http-error.ts";
import { latestUser } from "../../../src/plugins/permissions/latest-user.ts";
import type { User } from "../../../src/server/access.ts";
import { stepClock } from "../../helpers/counted-work.ts";

const ada: User = { name: "ada", roles: [] };
const editor: User = { name: "ada", roles: ["editor"] };
const context = new AsyncLocalStorage<string>();

/** The latest user after five seconds, by what an answer is then. */
async function after(answer: () => Promise<User | undefined>): Promise<readonly (User | undefined)[]> {
  const clock = stepClock(0);
  const asked: unknown[] = [];
  const ask = (): Promise<User | undefined> => {
    asked.push(context.getStore());
    return answer();
  };
  const latest = context.run("its own", () => latestUser(ada, ask));
  clock.pass(4_999);
  expect([latest(), asked]).toEqual([ada, []]);
  clock.pass(1);
  const before = context.run("another's", () => [latest(), latest()]); // asks once
  await setImmediate();
  expect(asked).toEqual(["its own"]);
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
