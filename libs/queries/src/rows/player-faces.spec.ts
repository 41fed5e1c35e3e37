import { NO_FACE, type PlayerFace } from '@laddercast/domain';
import type { EntryEnricher, PlayerDecoration } from '@laddercast/extension';
import type { SqlRunner } from '@laddercast/ledger';
import { describe, expect, it } from 'vitest';
import { PlayerDecorations } from './player-decorations.js';
import { PlayerFaces } from './player-faces.js';
import { PlayerNames } from './player-names.js';

const PROFILE: PlayerFace = { avatarUrl: 'https://cdn.example/a.png', region: 'EU', attributes: { country: 'GB' } };

/** Profiles of `ada` alone; `asked` notes the ids of each query. */
class Profiles implements SqlRunner {
  readonly asked: string[][] = [];
  isAway = false;

  async query<Row>(_sql: string, [ids]: readonly unknown[] = []): Promise<Row[]> {
    this.asked.push(ids as string[]);
    if (this.isAway) throw new Error('PostgreSQL is away.');
    return (ids as string[]).filter((id) => id === 'ada').map((id) => ({ id, ...PROFILE }) as Row);
  }
}

type Decorate = (ids: readonly string[]) => Record<string, PlayerDecoration>;

function facesWith(decorate: Decorate | null, isShown: (name: string) => boolean = () => true) {
  const profiles = new Profiles();
  const calls: string[][] = [];
  const enricher: EntryEnricher | null = decorate && {
    decorate: async (ids) => {
      calls.push([...ids]);
      return new Map(Object.entries(decorate(ids)));
    },
  };
  const decorations = new PlayerDecorations(() => enricher);
  const faces = new PlayerFaces(profiles, decorations, isShown);
  return { profiles, calls, decorations, faces };
}

describe('faces', () => {
  it('are those of profiles, and of players without one empty', async () => {
    const { faces, profiles } = facesWith(null);
    expect(await faces.load(['ada', 'bob'])).toBe(true);
    expect([faces.of('ada'), faces.of('bob'), faces.of('never asked for')]).toEqual([PROFILE, NO_FACE, NO_FACE]);
    await faces.load(['bob', 'ada']);
    expect(profiles.asked).toEqual([['ada', 'bob']]);
    faces.forget(['ada']);
    await faces.load(['bob', 'ada']);
    expect(profiles.asked.slice(1)).toEqual([['ada']]);
  });

  it('show attributes that may be shown alone', async () => {
    const { faces } = facesWith(null, (name) => name === 'team');
    await faces.load(['ada']);
    expect(faces.of('ada')).toEqual({ ...PROFILE, attributes: {} });
  });

  it.each<[string, PlayerDecoration, PlayerFace]>([
    ['of a team that gives names alone are those of profiles', { displayName: 'A' }, PROFILE],
    [
      'of a team come first',
      { displayName: null, avatarUrl: 'https://t.example/1.png', region: 'US', attributes: { clan: 'x' } },
      { avatarUrl: 'https://t.example/1.png', region: 'US', attributes: { clan: 'x' } },
    ],
    ['of a team that gives a part are mixed', { displayName: null, region: 'US' }, { ...PROFILE, region: 'US' }],
    [
      'of a team that says there is none have none',
      { displayName: null, avatarUrl: null },
      { ...PROFILE, avatarUrl: null },
    ],
    ['leave out an address that is none', { displayName: null, avatarUrl: 'javascript:alert(1)' }, PROFILE],
    [
      'leave out an address that is too long',
      { displayName: null, avatarUrl: `https://t.example/${'x'.repeat(512)}` },
      PROFILE,
    ],
    ['leave out what is no text', { displayName: null, avatarUrl: 7 as never }, PROFILE],
  ])('%s', async (_what, decoration, expected) => {
    const { faces } = facesWith(() => ({ ada: decoration }));
    await faces.load(['ada']);
    expect(faces.of('ada')).toEqual(expected);
  });

  it('are those of profiles while the team cannot be asked', async () => {
    const { faces, decorations } = facesWith(() => {
      throw new Error('The team is away.');
    });
    expect(await faces.load(['ada'])).toBe(false);
    expect(faces.of('ada')).toEqual(PROFILE);
    expect(decorations.of('ada')).toBeNull();
  });

  it('are as they were last known while PostgreSQL is away', async () => {
    const { faces, profiles } = facesWith(null);
    await faces.load(['ada']);
    faces.forget(null);
    profiles.isAway = true;
    expect(await faces.load(['ada', 'bob'])).toBe(false);
    expect([faces.of('ada'), faces.of('bob')]).toEqual([PROFILE, NO_FACE]);
  });

  it('and names ask a team once for both, for 500 players at a time', async () => {
    const { faces, profiles, calls, decorations } = facesWith((ids) =>
      Object.fromEntries(ids.map((id) => [id, { displayName: id.toUpperCase(), region: 'US' }])),
    );
    const ids = Array.from({ length: 1200 }, (_, at) => `p${at}`);
    const names = new PlayerNames(profiles, decorations);
    await names.load(ids, false);
    await faces.load(ids);
    expect(calls.map(({ length }) => length)).toEqual([500, 500, 200]);
    expect(names.of('p7', false).displayName).toBe('P7');
    expect(faces.of('p7')).toEqual({ ...NO_FACE, region: 'US' });
  });
});
