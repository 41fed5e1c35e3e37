import type { RestClient } from '../e2e/rest-client.js';

/** What the service takes of what this test knows to use. */
export interface Features {
  dense: boolean;
  range: boolean;
  reshard: boolean;
  rebuild: boolean;
  trim: boolean;
  expiry: boolean;
  cursor: boolean;
  around: boolean;
  estimated: boolean;
  percentiles: boolean;
}

const BOARD = { order: 'desc', operator: 'best' };

/** Tries each once, on a board of its own. */
export async function featuresOf(admin: RestClient): Promise<Features> {
  const put = async (id: string, options: object): Promise<boolean> => {
    const { status, text } = await admin.put(`/v1/boards/${id}`, { ...BOARD, ...options });
    if (status < 300) return true;
    if (status === 422 && text.includes('NOT_SUPPORTED')) return false;
    throw new Error(`PUT ${id}: ${status} ${text}`);
  };
  const isThere = async (path: string): Promise<boolean> =>
    (await admin.get(`/v1/boards/probe/${path}`)).status === 200;
  await put('probe', {});
  await admin.post('/v1/boards/probe/scores', { playerId: 'ada', score: 1 }, { Prefer: 'wait=10' });
  return {
    dense: await put('probe-dense', { dense: true }),
    range: await put('probe-range', { sharding: { by: 'range', boundaries: [0] } }),
    trim: await put('probe-trim', { limits: { entriesMax: 10 } }),
    expiry: await put('probe-expiry', { limits: { entryLifetimeSeconds: 3600 } }),
    cursor: await isThere('entries?cursor=start'),
    around: await isThere('entries?aroundRank=1'),
    estimated: await isThere('players/ada?accuracy=estimated'),
    percentiles: await isThere('percentiles?at=50'),
    rebuild: (await admin.post('/v1/admin/boards/probe/rebuild')).status < 300,
    reshard: await put('probe', { sharding: { by: 'hash', count: 2 } }),
  };
}
