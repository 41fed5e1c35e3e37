import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { canReadYaml, readYaml, YAML_REMEDY } from './yaml.js';

interface Step {
  uses?: string;
  run?: string;
}
interface Job {
  needs?: string;
  environment?: string;
  permissions?: Record<string, string>;
  steps: Step[];
}
interface Workflow {
  on: Record<string, unknown>;
  permissions?: Record<string, string>;
  jobs: Record<string, Job>;
}

const FOLDER = '.github/workflows';
const files = readdirSync(FOLDER);
const SKIPPED = `skips the form of the workflows: ${YAML_REMEDY}`;

const read = (file: string): Workflow => readYaml(join(FOLDER, file)) as Workflow;
const nameIn = (manifest: string): string => (JSON.parse(readFileSync(manifest, 'utf8')) as { name: string }).name;

if (!canReadYaml) it.skip(SKIPPED, () => undefined);

describe.skipIf(!canReadYaml).each(files)('.github/workflows/%s', (file) => {
  const { on, permissions, jobs }: Workflow = canReadYaml ? read(file) : { on: {}, jobs: {} };
  const all = Object.values(jobs);

  it('has no right that no job of it asks for, and none to write but to say who it is', () => {
    expect(permissions).toEqual({});
    for (const { permissions: own = {} } of all) {
      const written = Object.entries(own).filter(([, right]) => right !== 'read' && right !== 'none');
      expect(written.map(([name]) => name).filter((name) => name !== 'id-token')).toEqual([]);
    }
  });

  it('runs what others wrote as it was at one commit', () => {
    const used = all.flatMap(({ steps }) => steps.flatMap(({ uses }) => uses ?? []));
    for (const uses of used) expect(uses).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/);
    for (const { steps } of all) for (const one of steps) expect('uses' in one || 'run' in one).toBe(true);
  });

  it('may publish for a tag of a version alone, after all checks, where nothing of the repository runs', () => {
    const publishing = all.filter(({ steps }) => steps.some(({ run }) => run?.includes('npm publish')));
    const trusted = all.filter(({ permissions: own }) => own?.['id-token'] !== undefined);
    expect(trusted).toEqual(publishing);
    if (publishing.length === 0) return;
    expect(on).toEqual({ push: { tags: ['v[0-9]+.[0-9]+.[0-9]+'] } });
    for (const { needs, environment, steps, permissions: own } of publishing) {
      expect(own).toEqual({ 'id-token': 'write' });
      expect(environment).toBeDefined();
      expect(jobs[needs!]!.steps.map(({ run }) => run)).toContain('.ci/run');
      expect(steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'))).toEqual([]);
      const commands = steps.flatMap(({ run }) => run?.split('\n') ?? []).filter((line) => /npm (?!view)/.test(line));
      for (const command of commands) expect(command).toMatch(/npm publish .* --provenance .*--ignore-scripts$/);
    }
  });
});

describe.skipIf(!canReadYaml)('the release', () => {
  it('publishes every package that there is, under the names of their manifests', () => {
    const names = readdirSync('packages', { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => nameIn(`packages/${name}/package.json`));
    names.push(nameIn('clients/typescript/package.json'));
    const { pack, publish } = read('release.yml').jobs;
    const loop = publish!.steps.map(({ run }) => /for name in ([\w ]+);/.exec(run ?? '')?.[1]).find(Boolean)!;
    expect(
      loop
        .split(' ')
        .map((name) => `@laddercast/${name}`)
        .sort(),
    ).toEqual([...names].sort());
    const folders = pack!.steps.map(({ run }) => /for folder in ([\w/ ]+);/.exec(run ?? '')?.[1]).find(Boolean)!;
    expect(folders.split(' ')).toHaveLength(names.length);
  });
});
