import { describe, expect, it } from 'vitest';
import { pageModule } from './page-module.js';

interface ImageHosts {
  mayLoad(address: string | null, about: { hosts: string[]; own: string }): boolean;
}
interface Flags {
  flagOf(player: { region: string | null; attributes: object }): { text: string; name: string } | null;
}

const { mayLoad } = await pageModule<ImageHosts>('table/image-hosts.js');
const { flagOf } = await pageModule<Flags>('table/flag.js');

describe('an avatar on the live page', () => {
  const about = {
    hosts: ['cdn.example.com', '*.Avatars.example.net', 'images.example.org:8443', 'plain.example:443'],
    own: 'http://board.example:3000',
  };

  it.each([
    'https://cdn.example.com/ada.png',
    'https://CDN.example.com:443/ada.png',
    'https://a.b.avatars.example.net/x',
    'https://images.example.org:8443/x',
    'https://plain.example/x',
    'http://board.example:3000/faces/ada.png',
  ])('is asked for where the policy lets it in: %s', (address) => {
    expect(mayLoad(address, about)).toBe(true);
  });

  it.each([
    null,
    'no address',
    'http://cdn.example.com/ada.png',
    'https://cdn.example.com:8443/ada.png',
    'https://cdn.example.com.evil.example/ada.png',
    'https://evil.example/cdn.example.com',
    'https://avatars.example.net/x',
    'https://evilavatars.example.net/x',
    'https://images.example.org/x',
    'http://board.example/faces/ada.png',
    'data:image/png;base64,AAAA',
    'javascript:alert(1)',
  ])('is not asked for elsewhere: %s', (address) => {
    expect(mayLoad(address, about)).toBe(false);
  });
});

describe('where a player is from', () => {
  const from = (region: string | null, attributes: object = {}) => flagOf({ region, attributes });

  it('is the flag of the country, with its name', () => {
    expect(from('EU', { country: 'GB' })).toEqual({ text: '\u{1F1EC}\u{1F1E7}', name: 'United Kingdom' });
  });

  it('is the region in its own words, where there is no country that has a flag', () => {
    expect(from('NA')).toEqual({ text: 'NA', name: 'NA' });
    expect(from('São Tomé', { country: 'xx' })).toEqual({ text: 'São Tomé', name: 'São Tomé' });
    expect(from('EU', { country: 'QQ' })).toEqual({ text: 'EU', name: 'EU' });
    expect(from('EU', { country: 7 })).toEqual({ text: 'EU', name: 'EU' });
  });

  it('is nothing where nothing is known', () => {
    expect(from(null)).toBeNull();
    expect(from('')).toBeNull();
  });
});
