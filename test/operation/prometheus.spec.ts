// Real: promtool on the rules, their tests, the configuration and every expression of the dashboard; nothing else runs.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { tmpdir } from 'node:os';
import { metrics } from '@laddercast/platform';
import { describe, expect, it } from 'vitest';
import { readRepositoryFile, repositoryRoot } from '../architecture/source-tree.js';

interface Panel {
  id: number;
  title: string;
  type: string;
  gridPos: { x: number; y: number; w: number; h: number };
  targets?: { refId: string; expr: string }[];
}

const textOf = (path: string): string => readRepositoryFile(path).text;
const rules = textOf('docker/prometheus/alerts.yml');
const ruleTestFiles = ['alerts.test.yml', 'alerts-of-days.test.yml'];
const ruleTests = ruleTestFiles.map((name) => textOf(`docker/prometheus/${name}`)).join('\n');
const dashboard = JSON.parse(textOf('docker/grafana/dashboards/laddercast.json')) as { panels: Panel[] };
const expressions = dashboard.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));

// Its types do not say that a metric has a name.
const page = (Object.values(metrics) as unknown as { name: string }[]).map(({ name, constructor }) => ({
  name,
  type: constructor.name,
}));
/** Every series that the page's metrics have. */
const series = new Set(
  page.flatMap(({ name, type }) =>
    type === 'Histogram' ? ['_bucket', '_sum', '_count'].map((end) => name + end) : [name],
  ),
);
const seriesIn = (text: string): string[] => [...new Set(text.match(/\bladdercast_\w+/g))];

/** name → what its rule says. */
const alerts = new Map(
  rules
    .split(/^ {6}- alert: /m)
    .slice(1)
    .map((block) => [block.slice(0, block.indexOf('\n')), block] as const),
);

const RUNBOOKS = 'docs/operations/alerts.md';
const headings = (markdown: string): string[] => [...markdown.matchAll(/^## (\w+)$/gm)].map(([, name]) => name!);

describe('the alert rules', () => {
  it('are there, each with a summary, a description, a severity, and where it is said what to do', () => {
    expect(alerts.size).toBeGreaterThan(30);
    for (const [name, block] of alerts) {
      for (const part of [/summary: '.+'/, /description: '.+'/, /severity: (warning|critical)/])
        expect(block).toMatch(part);
      expect(block).toContain(`runbook: ${RUNBOOKS}#${name.toLowerCase()}\n`);
    }
  });

  it('have a paragraph each on the page that they name, and no other has one', () => {
    expect(headings(textOf(RUNBOOKS)).sort()).toEqual([...alerts.keys()].sort());
  });

  it('have a test each, in which they fire', () => {
    for (const name of alerts.keys()) {
      expect(ruleTests).toContain(`exp_samples: [{ labels: '{alertname="${name}"}', value: 1 }]`);
    }
  });

  it('name only series that there are, and so do their tests', () => {
    expect(seriesIn(rules + ruleTests).filter((name) => !series.has(name))).toEqual([]);
  });
});

describe('the dashboard', () => {
  it('names only series that there are, and shows every metric of the page', () => {
    const named = seriesIn(JSON.stringify(dashboard));
    expect(named.filter((name) => !series.has(name))).toEqual([]);
    const shown = (name: string): boolean =>
      named.some((one) => one.replace(/_(bucket|sum|count)$/, '') === name || one === name);
    const notShown = page.filter(({ name }) => !shown(name) && !SHOWN_OTHERWISE.includes(name));
    expect(notShown).toEqual([]);
  });

  it('has panels that do not lie over each other, with numbers of their own', () => {
    const { panels } = dashboard;
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const overlaps = panels.flatMap((a, at) =>
      panels.slice(at + 1).filter(({ gridPos: b }) => {
        const { x, y, w, h } = a.gridPos;
        return x < b.x + b.w && b.x < x + w && y < b.y + b.h && b.y < y + h;
      }),
    );
    expect(overlaps.map(({ title }) => title)).toEqual([]);
    for (const { gridPos } of panels) expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
    for (const { type, targets } of panels) expect((targets ?? []).length > 0).toBe(type !== 'row');
  });
});

/** In a sum or as a limit beside another one. */
const SHOWN_OTHERWISE = ['laddercast_outbox_events_max'];

describe('Prometheus in docker/compose.yaml', () => {
  it('scrapes every app by its name, where its metrics are', () => {
    const compose = textOf('docker/compose.yaml');
    const config = textOf('docker/prometheus/prometheus.yml');
    const apps = [...compose.matchAll(/^ {2}(\w+):\n {4}<<: \*app$/gm)].map(([, name]) => name!);
    expect(apps.sort()).toEqual(['api', 'gateway', 'projector']);
    const port = /METRICS_PORT: (\d+)/.exec(compose)![1];
    for (const app of apps)
      expect(config).toMatch(new RegExp(`job_name: ${app}\\n.*names: \\[${app}\\].*port: ${port}\\b`));
    for (const folder of [...compose.matchAll(/- (\.\/(?:prometheus|grafana)[^:]*):/g)].map(([, path]) => path!)) {
      expect(existsSync(join(repositoryRoot, 'docker', folder))).toBe(true);
    }
  });
});

const promtool = findPromtool();

describe.skipIf(promtool === null)('promtool', () => {
  const run = (...args: string[]): string => {
    try {
      return execFileSync(promtool!, args, { encoding: 'utf8', stdio: 'pipe', timeout: 120_000 });
    } catch (error) {
      const { stdout, stderr } = error as { stdout: string; stderr: string };
      throw new Error(`promtool ${args.join(' ')}:\n${stdout}${stderr}`, { cause: error });
    }
  };
  const file = (name: string): string => join(repositoryRoot, 'docker', 'prometheus', name);

  it('takes the configuration and the rules', () => {
    expect(run('check', 'config', file('prometheus.yml'))).toContain(`${alerts.size} rules found`);
  });

  it('sees every alert quiet before its fault, and firing after it', () => {
    expect(run('test', 'rules', ...ruleTestFiles.map(file)).match(/SUCCESS/g)).toHaveLength(ruleTestFiles.length);
  });

  it('can read every expression of the dashboard', () => {
    const folder = mkdtempSync(join(tmpdir(), 'ladder-dashboard-'));
    try {
      const rows = expressions.map(({ title, expr }, at) => {
        const asked = expr.replaceAll('$__rate_interval', '5m');
        return { record: `panel:${at}`, expr: asked, labels: { title } };
      });
      // JSON is YAML.
      writeFileSync(join(folder, 'panels.yml'), JSON.stringify({ groups: [{ name: 'panels', rules: rows }] }));
      expect(run('check', 'rules', join(folder, 'panels.yml'))).toContain(`${expressions.length} rules found`);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

/** PROMTOOL, else the first on the PATH; null, with a word why, where there is none and none is required. */
function findPromtool(): string | null {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const found = [process.env.PROMTOOL, ...folders.map((folder) => join(folder, 'promtool'))].find(
    (path) => path !== undefined && path !== '' && existsSync(path),
  );
  if (found !== undefined) return found;
  const cure = 'Install it (Debian: apt-get install --no-install-recommends prometheus), or set PROMTOOL to its path.';
  if (process.env.REQUIRE_PROMTOOL === '1') throw new Error(`promtool is missing. ${cure}`);
  process.stderr.write(`The rules of Prometheus are not tried: promtool is missing. ${cure}\n`);
  return null;
}
