// Real: the files that say which releases of Node this runs on.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

/** The newest release with long-term support, and the oldest that is tested: it is mended no more. */
const [NEWEST, OLDEST] = ['24', '20.20'];

const textOf = (path: string): string => readFileSync(path, 'utf8');

describe('the releases of Node', () => {
  it('have the newest with long-term support in the image', () => {
    const releases = [...textOf('docker/Dockerfile').matchAll(/^FROM node:(\d+)/gm)].map(([, release]) => release);
    expect(releases).toEqual([NEWEST, NEWEST]);
  });

  it('are tested: that of the image by CI, beside that of the machine', () => {
    expect(textOf('.ci/run')).toContain(`node tools/on-node.mjs ${NEWEST} tools/test.mjs`);
    expect(textOf('CONTRIBUTING.md')).toContain(`npm run test:node -- ${NEWEST} tools/test.mjs`);
  });

  it('are what package.json and the front page say', () => {
    const { engines } = JSON.parse(textOf('package.json')) as { engines: { node: string } };
    expect(engines.node).toBe(`>=${OLDEST}`);
    expect(textOf('README.md')).toContain(`Node ${NEWEST} (or ${OLDEST}+)`);
  });
});
