import type { IncomingMessage } from 'node:http';

/**
 * Whose pages may open sockets. Tokens are sent by the page itself and never by the browser, so another page could not
 * use them. Without a list every origin may open sockets, as may every client that is no page.
 */
export class LiveOrigins {
  private readonly listed: Set<string> | null;

  /** @param origins separated by commas; `*` and nothing are any */
  constructor(origins = '') {
    this.listed = origins === '' || origins === '*' ? null : new Set(origins.split(','));
  }

  /** Whether the origin is listed, the server's own, or not sent. */
  admits({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
    const { origin, host } = headers;
    if (this.listed === null || origin === undefined || this.listed.has(origin)) return true;
    return URL.canParse(origin) && new URL(origin).host === host;
  }
}
