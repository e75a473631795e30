import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { drain } from "./send-reply.ts";

/**
 * Lets a response answer a request to take over the connection. Node looks after that connection no more: what its server does
 * for other responses, waking a writer and closing the connection after the reply, is done here. `false`, with the connection
 * closed, where another response still has it.
 */
export function takeSocket(response: ServerResponse, socket: Duplex): boolean {
  response.shouldKeepAlive = false;
  socket.on("error", () => socket.destroy()); // a client that resets the connection has left, no more
  try {
    response.assignSocket(socket as never); // the type wants a net.Socket; any duplex stream works
  } catch {
    // Pipelined: an earlier request is still being answered, on a connection that node no longer looks after.
    socket.destroy();
    return false;
  }
  const wake = (): void => void response.emit("drain");
  socket.on("drain", wake);
  response.once("finish", () => {
    socket.off("drain", wake);
    response.detachSocket(socket as never);
    socket.end();
    drain(socket, () => socket.destroy());
  });
  return true;
}
