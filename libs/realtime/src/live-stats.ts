/** The gateway's counts for its metrics: since its start, those of sockets and subscriptions as they are now. */
export class LiveStats {
  sockets = 0;
  subscriptions = 0;
  /** Sockets of shadowed players, whose lists are read for them alone. */
  shadowSockets = 0;
  framesSent = 0;
  /** Deltas that slow readers were not sent. */
  dropped = 0;
  /** Fresh snapshots sent to readers that had been behind. */
  resynchronised = 0;
  /** Connections ended because they were dead or too slow. */
  terminated = 0;
}
