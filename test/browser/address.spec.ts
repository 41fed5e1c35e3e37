import { describe, expect, it } from 'vitest';
import { pageModule } from './page-module.js';

interface AddressModule {
  readAddress(search: string): Record<string, string | null>;
  writeAddress(choice: Record<string, string | null>): string;
}
interface ScopeModule {
  readScope(scope: string): { kind: string; value: string };
  scopeLabel(scope: string, nameOfGuild?: (id: string) => string): string | null;
  kindsOf(scopes: unknown[]): string[];
}

const { readAddress, writeAddress } = await pageModule<AddressModule>('address.js');
const { readScope, scopeLabel, kindsOf } = await pageModule<ScopeModule>('scope-chooser.js');

describe('the address of the live page', () => {
  it('leaves out what goes without saying, and takes what makes no sense as not said', () => {
    const plain = readAddress('?view=tables&top=7&window=');
    expect(plain).toMatchObject({ board: null, view: 'players', scope: 'global', window: null, top: null });
    expect(writeAddress(plain)).toBe('./');
    expect(writeAddress({ ...plain, board: 'football' })).toBe('?board=football');
  });

  it.each([
    '?board=blitz&window=season%3A1870s&scope=region%3AS%C3%A3o+Tom%C3%A9&top=50',
    '?board=blitz&window=daily&view=guilds',
    '?board=blitz&scope=country%3AUS&view=friends&player=ada+%26+bob',
  ])('says the same after being read and written: %s', (address) =>
    expect(writeAddress(readAddress(address))).toBe(address),
  );

  it('does not carry a scope to the table of guilds, nor a player to that of all', () => {
    const friends = readAddress('?board=blitz&scope=guild%3Ared&view=friends&player=ada');
    expect(writeAddress({ ...friends, view: 'guilds' })).toBe('?board=blitz&view=guilds');
    expect(writeAddress({ ...friends, view: 'players' })).toBe('?board=blitz&scope=guild%3Ared');
  });
});

describe('the scopes of the live page', () => {
  it('takes all after the first colon as the value', () => {
    expect(readScope('guild:a:b')).toEqual({ kind: 'guild', value: 'a:b' });
    expect(readScope('global').kind).toBe('global');
  });

  it('calls scopes by their kind and value, and a guild by its name', () => {
    expect(scopeLabel('global')).toBeNull();
    expect(scopeLabel('home_town:Ulm')).toBe('Home town Ulm');
    expect(scopeLabel('guild:red', () => 'The Reds')).toBe('Guild The Reds');
    expect(kindsOf(['global', 'region', 'guild', { attribute: 'country' }])).toEqual(['region', 'guild', 'country']);
  });
});
