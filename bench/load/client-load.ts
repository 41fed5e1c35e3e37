/** What `client` is started with, as JSON; `rate`: requests a second, null for as many as go; `file`: of `writeRequests`. */
export interface ClientLoad {
  url: string;
  file: string;
  connections: number;
  seconds: number;
  rate: number | null;
}

/** What it prints, as JSON; times in ms. */
export interface ClientResult {
  count: number;
  seconds: number;
  p50: number;
  p99: number;
  max: number;
}
