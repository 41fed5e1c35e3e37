import { describe, expect, it } from 'vitest';
import { ClientAddresses, faultOfProxies } from './client-address.js';

const from = (remoteAddress: string | undefined, forwarded?: string) => ({
  headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  socket: { remoteAddress },
});

describe('the address of a client', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:0db8:0001:0002::9', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['1::', '1:0:0:0::/64'],
    [undefined, 'unknown'],
  ])('%s counts as %s', (address, counted) => {
    expect(new ClientAddresses().of(from(address))).toBe(counted);
  });

  it('is never what somebody writes who is not trusted', () => {
    expect(new ClientAddresses().of(from('203.0.113.7', '198.51.100.1'))).toBe('203.0.113.7');
    const proxies = new ClientAddresses('10.0.0.0/8');
    expect(proxies.of(from('203.0.113.7', '198.51.100.1'))).toBe('203.0.113.7');
    expect(proxies.of(from('10.0.0.1', '1.1.1.1, 198.51.100.1, 10.2.2.2'))).toBe('198.51.100.1');
  });

  it.each([
    ['10.0.0.1', '198.51.100.1:4711', '198.51.100.1'],
    ['10.0.0.1', '[2001:db8::1]:4711', '2001:db8:0:0::/64'],
    ['::ffff:10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['10.0.0.1', 'nonsense', '10.0.0.1'],
    ['10.0.0.1', '198.51.100.1, ', '10.0.0.1'],
    ['10.0.0.1', '10.0.0.2', '10.0.0.2'],
    ['fd00::1', '198.51.100.1', '198.51.100.1'],
  ])('behind trusted proxies: from %s for "%s" is %s', (socket, forwarded, client) => {
    expect(new ClientAddresses('10.0.0.0/8, fd00::/8').of(from(socket, forwarded))).toBe(client);
  });

  it.each([
    ['10.0.0.1', '198.51.100.1, , 10.2.2.2', '10.2.2.2'],
    ['10.0.0.1', ' , 198.51.100.1', '198.51.100.1'],
    ['10.0.0.1', '198.51.100.1,nonsense,10.2.2.2', '10.2.2.2'],
    ['10.0.0.1', '', '10.0.0.1'],
  ])('behind a proxy: from %s for "%s" is %s', (socket, forwarded, client) => {
    expect(new ClientAddresses('10.0.0.0/8').of(from(socket, forwarded))).toBe(client);
  });

  it('behind proxies that may have any address is the first of all', () => {
    expect(new ClientAddresses('0.0.0.0/0').of(from('203.0.113.7', '198.51.100.1, 10.2.2.2'))).toBe('198.51.100.1');
  });

  it.each([
    ['', null],
    ['10.0.0.1', null],
    ['10.0.0.0/8, ::1,fd00::/8', null],
    ['10.0.0.0/33', '"10.0.0.0/33" is no address and no network such as 10.0.0.0/8'],
    ['proxy', '"proxy" is no address and no network such as 10.0.0.0/8'],
    ['0.0.0.0/0, ::/0', null],
    ['10.0.0.0/255.0.0.0', '"10.0.0.0/255.0.0.0" is no address and no network such as 10.0.0.0/8'],
    ['loopback', '"loopback" is no address and no network such as 10.0.0.0/8'],
    ['10.0.0.0/', '"10.0.0.0/" is no address and no network such as 10.0.0.0/8'],
  ])('the proxies "%s" are checked', (text, fault) => expect(faultOfProxies(text)).toBe(fault));
});
