// Real: what the check makes of a report as npm writes it. npm itself, which needs a network, is not asked.
import { describe, expect, it } from 'vitest';
import { advisoriesOf, judge } from './audit.mjs';

const advisory = (id, severity) => ({
  source: 1,
  name: 'left',
  title: 'a flaw',
  url: `https://github.com/advisories/${id}`,
  severity,
});
const report = [
  { name: 'left', via: [advisory('GHSA-aaaa-bbbb-cccc', 'high'), advisory('GHSA-dddd-eeee-ffff', 'low')] },
  { name: 'right', via: ['left'] },
];

describe('the check of advisories', () => {
  it('counts each once, whoever depends on the package', () => {
    const ids = advisoriesOf([...report, ...report]).map(({ id }) => id);
    expect(ids).toEqual(['GHSA-aaaa-bbbb-cccc', 'GHSA-dddd-eeee-ffff']);
  });

  it('fails for those that are severe and unexplained, and for no others', () => {
    const advisories = advisoriesOf(report);
    expect(judge(advisories, {})).toBe(1);
    expect(judge(advisories, { 'GHSA-aaaa-bbbb-cccc': 'the flaw is in a part that is not used' })).toBe(0);
    expect(judge(advisoriesOf([]), {})).toBe(0);
  });
});
