import { BoundedCache } from '../bounded-cache.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** A time during which the zone keeps one offset from UTC; the offset may hold beyond either end, too. */
interface OffsetStretch {
  fromMs: number;
  untilMs: number;
  offsetMs: number;
}

/**
 * No zone has changed its offset twice within a day: the shortest time between two changes in the IANA data is four
 * days (Africa/Freetown 1939), so looking once a day misses none.
 */
const PROBE_MS = DAY_MS;
/** Offsets are looked up for 32 days at a time: 33 calls of Intl, some 0.1 ms. */
const CHUNK_MS = 32 * DAY_MS;
/** 90 years a zone; when it is full, the zone's oldest one goes. */
const CHUNKS_MAX = 1024;
/** About a third of all zones; when it is full, the oldest goes. */
const ZONES_MAX = 128;
/** Before the first offset in the IANA data (1835) a zone keeps that of its mean solar time. */
const FIRST_PROBE_MS = Date.UTC(1800, 0, 1);
/** Clocks are at most 16 hours from UTC (Asia/Manila before 1845: −15:56). */
const OFFSET_MAX_MS = 18 * HOUR_MS;
/** The longest time that clocks showed twice is 24 hours (Alaska in 1867). */
const FOLD_MAX_MS = 36 * HOUR_MS;
const ZONE_NAME_LENGTH_MAX = 64;

class ZoneOffsets {
  private readonly chunks = new BoundedCache<number, readonly OffsetStretch[]>(CHUNKS_MAX);
  private readonly format: Intl.DateTimeFormat;

  constructor(timeZone: string) {
    this.format = new Intl.DateTimeFormat('en-US-u-ca-gregory-nu-latn', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  }

  at(ms: number): OffsetStretch {
    const chunk = Math.floor(ms / CHUNK_MS);
    const stretches = this.chunks.get(chunk, () => this.stretchesOf(chunk));
    return stretches.find((stretch) => ms < stretch.untilMs)!;
  }

  private stretchesOf(chunk: number): OffsetStretch[] {
    const endMs = (chunk + 1) * CHUNK_MS;
    const stretches: OffsetStretch[] = [];
    let fromMs = chunk * CHUNK_MS;
    let offsetMs = this.probe(fromMs);
    for (let probedMs = fromMs; probedMs < endMs; probedMs += PROBE_MS) {
      const nextMs = probedMs + PROBE_MS;
      if (this.probe(nextMs) === offsetMs) continue;
      const changeMs = this.changeBetween(probedMs, nextMs, offsetMs);
      if (changeMs >= endMs) break;
      if (changeMs > fromMs) stretches.push({ fromMs, untilMs: changeMs, offsetMs });
      fromMs = changeMs;
      offsetMs = this.probe(changeMs);
    }
    stretches.push({ fromMs, untilMs: endMs, offsetMs });
    return stretches;
  }

  /** The first whole second with the new offset; it lies after `beforeMs` and not after `afterMs`. */
  private changeBetween(beforeMs: number, afterMs: number, offsetMs: number): number {
    let before = beforeMs / 1000;
    let after = afterMs / 1000;
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2);
      if (this.probe(middle * 1000) === offsetMs) before = middle;
      else after = middle;
    }
    return after * 1000;
  }

  private probe(ms: number): number {
    const askedMs = Math.max(ms, FIRST_PROBE_MS);
    const [month, day, year, hour, minute, second] = this.format.format(askedMs).match(/\d+/g)!.map(Number);
    return Date.UTC(year!, month! - 1, day!, hour!, minute!, second!) - askedMs;
  }
}

const zones = new BoundedCache<string, ZoneOffsets>(ZONES_MAX);
const offsetsOf = (timeZone: string): ZoneOffsets => zones.get(timeZone, () => new ZoneOffsets(timeZone));

/**
 * The first instant (Unix ms) at which the zone's clocks show the local time, or, when they skip it, show a later one:
 * the first of the two in a fold, the end of a gap. Local times are given as the Unix ms at which UTC shows them.
 * It never falls when the local time grows.
 *
 * Offsets are kept for at most 128 zones and 1,024 chunks of 32 days each; the oldest goes.
 *
 * @throws RangeError for a zone that {@link faultOfTimeZone} refuses
 */
export function firstInstantOf(timeZone: string, localMs: number): number {
  const offsets = offsetsOf(timeZone);
  let stretch = offsets.at(localMs - OFFSET_MAX_MS);
  while (localMs - stretch.offsetMs >= stretch.untilMs) stretch = offsets.at(stretch.untilMs);
  return Math.max(localMs - stretch.offsetMs, stretch.fromMs);
}

/**
 * The latest local time that the zone's clocks have shown up to the instant (Unix ms). In the second pass of a fold
 * that is the end of the first. It is the latest one whose {@link firstInstantOf} has come.
 *
 * @throws RangeError for a zone that {@link faultOfTimeZone} refuses
 */
export function latestLocalTime(timeZone: string, atMs: number): number {
  const offsets = offsetsOf(timeZone);
  let stretch = offsets.at(atMs - FOLD_MAX_MS);
  let latestMs = -Infinity;
  for (;;) {
    latestMs = Math.max(latestMs, Math.min(atMs, stretch.untilMs - 1) + stretch.offsetMs);
    if (stretch.untilMs > atMs) return latestMs;
    stretch = offsets.at(stretch.untilMs);
  }
}

/** What is wrong with the name of a time zone, or null when it is one of the IANA data that Intl knows. */
export function faultOfTimeZone(zone: string): string | null {
  const fault = 'must be an IANA time zone such as "Europe/Berlin" or "UTC"';
  // Newer engines also accept bare offsets, which are no names of zones.
  if (zone.length > ZONE_NAME_LENGTH_MAX || !/^[A-Za-z]/.test(zone)) return fault;
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: zone });
    return null;
  } catch {
    return fault;
  }
}
