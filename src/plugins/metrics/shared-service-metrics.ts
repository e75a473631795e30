import { type ServiceCounts, sharedFeeds, sharedServices } from "../../server/shared-services.ts";
import { metricOf, type NamedMetric } from "./metric.ts";

/** What Redis and histories do for the servers of this process. */
export function sharedServiceMetrics(): readonly NamedMetric[] {
  const counter = (name: string, help: string, count: keyof ServiceCounts): NamedMetric => {
    const known = new Map<ServiceCounts, number>(); // a connection that has ended still counts
    return metricOf("counter", name, help, () => {
      for (const { counts } of sharedServices) if (counts) known.set(counts, counts[count]);
      return sum(known.values());
    });
  };
  return [
    counter("redis_commands_total", "Commands that were sent to Redis, or could not be.", "commands"),
    counter("redis_command_failures_total", "Commands that Redis did not answer, or not in time.", "failures"),
    counter("redis_command_seconds_total", "Seconds from commands to their replies, all together.", "seconds"),
    counter("redis_reconnects_total", "Attempts to connect to Redis again.", "reconnects"),
    metricOf("gauge", "change_feed_lag_seconds", "How long a change takes to its place in the shared feed.", () =>
      Math.max(0, ...[...sharedFeeds].map(({ lagSeconds }) => lagSeconds)),
    ),
    metricOf("gauge", "history_backlog_bytes", "Changes that wait to become commits of a history.", () =>
      sum([...sharedServices].map(({ backlogBytes = 0 }) => backlogBytes)),
    ),
  ];
}

function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const each of numbers) total += each;
  return total;
}
