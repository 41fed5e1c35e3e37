// Real: the programs of Node; npm is one that answers as it is told.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { nodeOf } from './on-node.mjs';

const folder = mkdtempSync(join(tmpdir(), 'ladder-on-node-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const own = process.versions.node.split('.')[0];
const other = own === '24' ? '20' : '24';

function npmThat(script) {
  const bin = mkdtempSync(join(folder, 'bin-'));
  const npm = join(bin, 'npm');
  writeFileSync(npm, `#!/bin/sh\n${script}\n`);
  chmodSync(npm, 0o755);
  return { PATH: `${bin}:${process.env.PATH}` };
}

describe('a release of Node', () => {
  it('is the running one, where it is that', async () => {
    expect(await nodeOf(own, { cacheDir: folder })).toBe(process.execPath);
  });

  it.each(['', 'lts', '24.1', '../24', '7'])('is not called "%s"', async (release) => {
    await expect(nodeOf(release, { cacheDir: folder })).rejects.toThrow(/no release of Node/);
  });

  it('is fetched once, and then found', async () => {
    const cacheDir = mkdtempSync(join(folder, 'cache-'));
    const bin = join(cacheDir, `node-${other}/node_modules/node-testos-testarch/bin`);
    const fetches = `mkdir -p ${bin} && printf '#!/bin/sh\\necho v${other}.1.2\\n' > ${bin}/node && chmod +x ${bin}/node`;
    const machine = { cacheDir, platform: 'testos', arch: 'testarch' };
    const found = await nodeOf(other, { ...machine, env: npmThat(fetches) });
    expect(found).toBe(join(bin, 'node'));
    expect(await nodeOf(other, { ...machine, env: npmThat('exit 1') })).toBe(found);
  });

  it('is refused when it cannot be fetched, or is another one', async () => {
    const machine = { cacheDir: mkdtempSync(join(folder, 'cache-')), platform: 'testos', arch: 'testarch' };
    await expect(nodeOf(other, { ...machine, env: npmThat('echo no network; exit 1') })).rejects.toThrow(
      /no network[\s\S]*by other means/,
    );
    await expect(nodeOf(other, { ...machine, env: npmThat('exit 0') })).rejects.toThrow(/does not run as Node/);
  });
});
