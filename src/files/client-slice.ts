import { TimeSlice } from "../event-loop/sliced-work.ts";
import { HttpError } from "../http/http-error.ts";

/** A {@link TimeSlice} of work for one client, which ends the work when that client has left. */
export class ClientSlice {
  readonly #slice: TimeSlice = new TimeSlice();
  readonly #signal: AbortSignal;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  get isOver(): boolean {
    return this.#slice.isOver || this.#signal.aborted;
  }

  /** Lets everything run that waits for the event loop. Throws once the client has left. */
  async renew(): Promise<void> {
    this.#refuseNobody();
    await this.#slice.renew();
    this.#refuseNobody();
  }

  #refuseNobody(): void {
    if (this.#signal.aborted) throw new HttpError(499, "CLIENT_LEFT", "The client has left.");
  }
}
