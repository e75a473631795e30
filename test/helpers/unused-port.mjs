import { once } from "node:events";
import { connect, createServer } from "node:net";

/** The ports below those that a system gives a program that asks for any. */
const [first, count] = [12_000, 20_000];
/** Processes begin at different places. */
let next = process.pid * 97;

/**
 * A port of the loopback interface for a program that has to be told one. Nobody else gets it before the program listens,
 * nor while the program is started again: whoever asks for any port gets one of a higher range.
 */
export async function unusedPort() {
  for (;;) {
    const port = first + (next % count);
    next += 1;
    const server = createServer();
    try {
      await once(server.listen(port, "127.0.0.1"), "listening");
      server.close();
      await once(server, "close");
      return port;
    } catch {
      // It is in use: the next one.
    }
  }
}

/** Whether a server takes connections at a port. @param {number} port */
export async function isListening(port) {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false; // not yet
  } finally {
    socket.destroy();
  }
}
