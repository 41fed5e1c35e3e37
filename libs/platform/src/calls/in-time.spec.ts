import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { inTime, inTimeOr } from './in-time.js';

it('is what was asked, where it is there in time', async () => {
  expect(await inTime(wait(1, 'here'), 60_000, 'too late')).toBe('here');
});

it('throws what the asked throws', async () => {
  await expect(inTime(Promise.reject(new Error('broken')), 60_000, 'too late')).rejects.toThrow('broken');
});

it('throws its message when the time is over, whatever the asked does then', async () => {
  const asked = wait(20).then(() => Promise.reject(new Error('broken')));
  await expect(inTime(asked, 1, 'too late')).rejects.toThrow('too late');
  await expect(asked).rejects.toThrow('broken');
});

it('is something else when the time is over, where that is said', async () => {
  expect(await inTimeOr(wait(20, 'here'), 1, () => 'known before')).toBe('known before');
  expect(await inTimeOr(wait(1, 'here'), 60_000, () => 'known before')).toBe('here');
});
