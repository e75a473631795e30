import { ConfigError } from "../../config.ts";
import type { ChangeFeed, SharedFeed } from "../../server/change-feed.ts";

interface Sharing {
  readonly feed: string | SharedFeed;
  readonly started: Promise<void>;
}

/** Which feeds are shared. The configuration and several plugins may say so, and each server has one feed. */
const sharings = new WeakMap<ChangeFeed, Sharing>();

/** Shares the changes of a server with others from now on. Throws a `ConfigError` where it does so over another feed. */
export async function shareChanges(changes: ChangeFeed, feed: string | SharedFeed, saidBy: string): Promise<void> {
  const sharing = sharings.get(changes) ?? { feed, started: begin(changes, feed) };
  sharings.set(changes, sharing);
  if (sharing.feed !== feed) {
    throw new ConfigError([`${saidBy}feed is another than elsewhere: expected one for the whole server`]);
  }
  await sharing.started;
}

/** The code for a Redis is loaded here, for most servers have none. */
async function begin(changes: ChangeFeed, feed: string | SharedFeed): Promise<void> {
  if (typeof feed !== "string") return changes.share(feed);
  const { redisFeed } = await import("../../redis/feed.ts");
  await changes.share(redisFeed(feed));
}
