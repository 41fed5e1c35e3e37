import { NO_EXTENSIONS } from '@laddercast/extension';
import { expect, it } from 'vitest';
import { EntryDetails } from './entry-details.js';

class RememberedDetails extends EntryDetails {
  readonly forgotten: [readonly string[] | null, boolean][] = [];

  override forget(ids: readonly string[] | null, isGuild: boolean): void {
    this.forgotten.push([ids, isGuild]);
  }
}

it('forgets announced names, and all names when an announcement may have been missed', () => {
  const details = new RememberedDetails({ query: () => Promise.resolve([]) }, NO_EXTENSIONS);
  details.hear({ kind: 'players', ids: ['ada', 'bob'], isGuild: false });
  details.hear({ kind: 'players', ids: ['red'], isGuild: true });
  details.hear({ kind: 'window-closed', boardUid: 1, windowUid: 2 });
  expect(details.forgotten.splice(0)).toEqual([
    [['ada', 'bob'], false],
    [['red'], true],
  ]);
  details.hear(null);
  expect(details.forgotten).toEqual([
    [null, false],
    [null, true],
  ]);
});
