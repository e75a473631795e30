import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { drain } from "./send-reply.ts";

/**
 * Tells whether another listener has answered a handshake since this call, or reads from it. Until the handshake is
 * claimed, only a listener for errors is attached, without which a client that leaves would end the process.
 */
export function takenByOthers(socket: Duplex): () => boolean {
  const written = bytesWritten(socket);
  socket.on("error", () => {});
  return () => bytesWritten(socket) > written || socket.writableEnded || socket.readableFlowing !== null;
}

/** Of a connection. It may have had replies before. */
function bytesWritten(socket: Duplex): number {
  return "bytesWritten" in socket ? Number(socket.bytesWritten) : 0;
}

/**
 * Lets a response answer a request to take over the connection. Node looks after that connection no more: what its
 * server does for other responses, waking a writer and closing the connection after the reply, is done here. `false`,
 * with the connection closed, where another response still has it.
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
