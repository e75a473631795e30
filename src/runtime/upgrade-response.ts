import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { drain } from "./send-reply.ts";

/** Tells whether another listener has answered a handshake since this call, or reads from it. */
export function takenByOthers(socket: Duplex): () => boolean {
  const bytesWritten = (): number => ("bytesWritten" in socket ? Number(socket.bytesWritten) : 0);
  const before = bytesWritten(); // of replies on the same connection
  socket.on("error", () => {}); // without which a client that leaves would end the process
  return () => bytesWritten() > before || socket.writableEnded || socket.readableFlowing !== null;
}

/**
 * Lets a response answer a handshake, and does for the connection what Node does no more: waking a writer, and closing
 * it after the reply. `false`, with the connection closed, where another response still has it.
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
