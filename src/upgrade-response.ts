import { type IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { drain } from "./send-reply.ts";

/**
 * A response for a request to take over the connection, which node has left alone by then: what the server does for others,
 * waking a writer and closing the connection after the reply, is done here.
 */
export function upgradeResponse(request: IncomingMessage, socket: Duplex): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket as never); // the type wants a net.Socket; any duplex stream works
  const wake = (): void => void response.emit("drain");
  socket.on("drain", wake).on("error", () => socket.destroy()); // a client that resets the connection has left, no more
  response.once("finish", () => {
    socket.off("drain", wake);
    response.detachSocket(socket as never);
    socket.end();
    drain(socket, () => socket.destroy());
  });
  return response;
}
