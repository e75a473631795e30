import { describe, expect, it } from "vitest";
import { EventReader } from "../../../src/plugins/event-stream/event-reader.ts";
import { permitAll } from "../../../src/server/access.ts";

const large = Buffer.alloc(100_000, "x");

function reader(): EventReader {
  const audience = {
    site: "*",
    path: undefined,
    exchange: {} as never,
    connectedTo: "/ws",
    access: permitAll,
    isProven: () => true,
  };
  return new EventReader(audience);
}

describe("EventReader", () => {
  it("says when it is full, and when that has been read", async () => {
    const each = reader();
    for (let i = 0; i < 3; i += 1) each.write(large);
    expect(each.isFull).toBe(true);
    const drained = each.drained();
    each.body.resume();
    await drained;
    expect(each.isFull).toBe(false);
  });

  it("is not waited for when its reader has gone", async () => {
    const each = reader();
    for (let i = 0; i < 3; i += 1) each.write(large);
    const drained = each.drained();
    each.body.destroy();
    await drained;
    each.write(large);
    expect(each.isFull).toBe(false);
  });
});
