import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';

const chunkBytes = 1 << 20;

/** Where the service is, and the key that requests carry. */
export interface Target {
  url: string;
  key: string;
}

/** A request; `body` is sent as JSON. */
export interface Call {
  method: string;
  path: string;
  body?: unknown;
}

/** One request as it goes over the wire. */
export function wireOf({ method, path, body }: Call, { url, key }: Target): string {
  const head = `${method} ${path} HTTP/1.1\r\nhost: ${new URL(url).host}\r\nauthorization: Bearer ${key}\r\n`;
  if (body === undefined) return `${head}\r\n`;
  const text = JSON.stringify(body);
  return `${head}content-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
}

/** Writes requests for wrk.lua and the clients of this folder, which read them before they send the first. */
export function writeRequests(file: string, requests: Iterable<Call>, service: Target): void {
  const to = openSync(file, 'w');
  let chunk = '';
  for (const request of requests) {
    const wire = wireOf(request, service);
    chunk += `${Buffer.byteLength(wire)}\n${wire}`;
    if (chunk.length < chunkBytes) continue;
    writeSync(to, chunk);
    chunk = '';
  }
  writeSync(to, chunk);
  closeSync(to);
}

/** What `writeRequests` wrote, one buffer a request. */
export function readRequests(file: string): Buffer[] {
  const bytes = readFileSync(file);
  const requests: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const line = bytes.indexOf(10, at);
    const end = line + 1 + Number(bytes.toString('latin1', at, line));
    requests.push(bytes.subarray(line + 1, end));
    at = end;
  }
  return requests;
}
