import { expect, test } from "vitest";
import { ClientSlice } from "../../src/files/client-slice.ts";

const clientLeft = expect.objectContaining({ status: 499, code: "CLIENT_LEFT" });

test("a slice gives way to others and goes on while its client is there", async () => {
  const slice = new ClientSlice(new AbortController().signal);
  let hasRun = false;
  setImmediate(() => {
    hasRun = true;
  });
  await slice.renew();
  expect(hasRun).toBe(true);
});

test("a slice is over at once when its client leaves, and there is no other", async () => {
  const client = new AbortController();
  const slice = new ClientSlice(client.signal);
  client.abort();
  expect(slice.isOver).toBe(true);
  await expect(slice.renew()).rejects.toEqual(clientLeft);
});

test("a slice is the last when its client leaves while others have their turn", async () => {
  const client = new AbortController();
  const slice = new ClientSlice(client.signal);
  setImmediate(() => client.abort());
  await expect(slice.renew()).rejects.toEqual(clientLeft);
});
