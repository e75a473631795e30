import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** A cable to a server, which a test can pull out. */
export interface Cable {
  /** Where to connect to instead of the server. */
  readonly url: string;
  /** Breaks all connections, and refuses new ones. */
  pull(): void;
  /** Mends it; to another port, where one is given. */
  plugIn(port?: number): void;
}

/** Passes bytes on to a port of this machine, until the test is over. */
export async function cable(port: number): Promise<Cable> {
  const ends = new Set<Socket>();
  let target = port;
  let isIn = true;
  const server = createServer((near) => {
    if (!isIn) return void near.destroy();
    const far = connect(target, "127.0.0.1");
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      ends.add(from);
      from.on("error", () => from.destroy());
      from.on("close", () => {
        ends.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const pull = (): void => {
    isIn = false;
    for (const end of ends) end.destroy();
  };
  onTestFinished(() => {
    pull();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    pull,
    plugIn: (other = target) => {
      target = other;
      isIn = true;
    },
  };
}
