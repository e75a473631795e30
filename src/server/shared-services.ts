/** What the servers of this process share with others and can do without for a while: a Redis, a history. */
export interface SharedService {
  readonly name: string;
  /** Changes that wait for it. */
  readonly backlogBytes?: number;
  /** Throws where it does not answer. */
  check(): Promise<void>;
}

/** The services in use: of the process, as its connections are. For health checks and metrics. */
export const sharedServices: Set<SharedService> = new Set();

export const sharedFeeds: Set<{
  /** Seconds that a change takes, or has waited by now, until it has its place in the order of all servers. */
  readonly lagSeconds: number;
}> = new Set();
