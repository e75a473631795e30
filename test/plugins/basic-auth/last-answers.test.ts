import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { LastAnswers } from "../../../src/plugins/basic-auth/last-answers.ts";
import type { User } from "../../../src/server/access.ts";
import { stepClock } from "../../helpers/counted-work.ts";

const ada = { username: "ada", password: "secret" };

/** Answers of a function that lets in who is told, and counts how often it was asked. */
function asking(): { answers: LastAnswers; function: { asked: number; says: () => User | undefined } } {
  const asked = { asked: 0, says: (): User | undefined => ({ name: "ada", roles: [] }) };
  const answers = new LastAnswers(async () => {
    asked.asked += 1;
    return asked.says();
  });
  return { answers, function: asked };
}

async function identified(answers: LastAnswers, credentials = ada): Promise<User> {
  const user = await answers.identify(credentials);
  if (!user) throw new Error("not let in");
  return user;
}

describe("LastAnswers", () => {
  it("are asked for again when they are old, and count from then on", async () => {
    const clock = stepClock(0);
    const { answers, function: users } = asking();
    const user = await identified(answers);
    users.says = () => ({ name: "ada", roles: ["editor"] });
    clock.pass(4_999);
    expect(answers.latest(user)).toBe(user);
    expect(users.asked).toBe(1);
    clock.pass(1);
    expect(answers.latest(user)).toBe(user);
    await setImmediate();
    expect(answers.latest(user)).toEqual({ name: "ada", roles: ["editor"] });
    users.says = () => undefined;
    clock.pass(5_000);
    answers.latest(user);
    await setImmediate();
    expect(answers.latest(user)).toBeUndefined();
    expect(users.asked).toBe(3);
  });

  it("are asked for once for all connections with the same name and password", async () => {
    const clock = stepClock(0);
    const { answers, function: users } = asking();
    const open = [await identified(answers), await identified(answers), await identified(answers)];
    clock.pass(5_000);
    users.says = () => undefined;
    for (let each = 0; each < 100; each += 1) for (const user of open) answers.latest(user);
    await setImmediate();
    expect(open.map((user) => answers.latest(user))).toEqual([undefined, undefined, undefined]);
    expect(users.asked).toBe(4);
  });

  it("are those about the same password: who has another one by now is nobody with the old one", async () => {
    const { answers, function: users } = asking();
    const before = await identified(answers);
    const after = await identified(answers, { ...ada, password: "another" });
    users.says = () => undefined;
    await answers.identify({ ...ada, password: "another" });
    expect([answers.latest(before), answers.latest(after)]).toEqual([before, undefined]);
  });

  it("count for open connections, too, where a request has asked", async () => {
    const { answers, function: users } = asking();
    const user = await identified(answers);
    users.says = () => undefined;
    await answers.identify(ada);
    expect(answers.latest(user)).toBeUndefined();
  });

  it("stay while the function fails, and are asked for again later", async () => {
    const clock = stepClock(0);
    const { answers, function: users } = asking();
    const user = await identified(answers);
    users.says = () => {
      throw new Error("the database is down");
    };
    for (let each = 0; each < 3; each += 1) {
      clock.pass(5_000);
      expect(answers.latest(user)).toBe(user);
      await setImmediate();
    }
    expect(users.asked).toBe(4);
  });

  it("are none about a user who came from elsewhere", () => {
    expect(asking().answers.latest({ name: "ada", roles: [] })).toBeUndefined();
  });
});
