import { Duplex } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { WebSocketServer } from "ws";
import { SocketClient, textFrame } from "../../../src/plugins/web-socket/socket-client.ts";
import { permitAll } from "../../../src/server/access.ts";

const audience = {
  site: "*",
  path: undefined,
  exchange: {} as never,
  access: permitAll,
  isProven: () => true,
  connectedTo: "/ws",
};
const key = "dGhlIHNhbXBsZSBub25jZQ==";

/** A client over a connection that takes nothing until `take` is called. */
function stalledClient(): { client: SocketClient; sent: Buffer[]; take: () => Promise<void> } {
  const sent: Buffer[] = [];
  let proceed: (() => void) | undefined;
  let isTaking = false;
  const socket = new Duplex({
    read() {},
    write(chunk, _encoding, callback) {
      sent.push(chunk);
      if (isTaking) callback();
      else proceed = callback;
    },
  });
  const server = new WebSocketServer({ noServer: true, clientTracking: false });
  const headers = { upgrade: "websocket", "sec-websocket-key": key, "sec-websocket-version": "13" };
  let client: SocketClient | undefined;
  server.handleUpgrade({ method: "GET", headers } as never, socket, Buffer.alloc(0), (connection) => {
    client = new SocketClient(connection, socket, audience, false);
  });
  const take = async (): Promise<void> => {
    isTaking = true;
    proceed?.();
    await setImmediate();
  };
  return { client: client as SocketClient, sent, take };
}

describe("SocketClient", () => {
  it("takes what one writes up to a mebibyte, and closes with 1013 beyond", async () => {
    const { client, sent, take } = stalledClient();
    const frame = textFrame("x".repeat(525_000));
    for (let i = 0; i < 5; i += 1) client.write(frame);
    await take();
    const [, ...frames] = sent; // behind the answer to the handshake
    expect(frames.filter((each) => each.equals(frame))).toHaveLength(2);
    const close = Buffer.concat(frames.slice(2));
    expect([close[0], close.readUInt16BE(2), close.subarray(4).toString()]).toEqual([0x88, 1013, "too slow"]);
  });
});
