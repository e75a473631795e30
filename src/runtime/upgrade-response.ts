import { type IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { drain } from "./send-reply.ts";

/**
 * A response for a request to take over the connection, which node has left alone by then: what the server does for others,
 * waking a writer and closing the connection after the reply, is done here. `undefined`, with the connection closed, where
 * another response has it still.
 */
export function upgradeResponse(request: IncomingMessage, socket: Duplex): ServerResponse | undefined {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  socket.on("error", () => socket.destroy()); // a client that resets the connection has left, no more
  try {
    response.assignSocket(socket as never); // the type wants a net.Socket; any duplex stream works
  } catch {
    // Pipelined: an earlier request is still being answered, on a connection that node no longer looks after.
    socket.destroy();
    return undefined;
  }
  const wake = (): void => void response.emit("drain");
  socket.on("drain", wake);
  response.once("finish", () => {
    socket.off("drain", wake);
    response.detachSocket(socket as never);
    socket.end();
    drain(socket, () => socket.destroy());
  });
  return response;
}
