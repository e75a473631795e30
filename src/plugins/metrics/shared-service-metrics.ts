import { sharedFeeds, sharedServices } from "../../server/shared-services.ts";
import { metricOf, type NamedMetric } from "./metric.ts";

/** How far shared feeds and histories are behind. */
export function sharedServiceMetrics(): readonly NamedMetric[] {
  return [
    metricOf("gauge", "change_feed_lag_seconds", "How long a change takes to its place in the shared feed.", () =>
      Math.max(0, ...[...sharedFeeds].map(({ lagSeconds }) => lagSeconds)),
    ),
    metricOf("gauge", "history_backlog_bytes", "Changes that wait to become commits of a history.", () =>
      [...sharedServices].reduce((total, { backlogBytes = 0 }) => total + backlogBytes, 0),
    ),
  ];
}
