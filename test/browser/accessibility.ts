import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Findings {
  passes: unknown[];
  violations: { id: string; nodes: { target: string[]; any: { message: string }[] }[] }[];
}

/** Fails with what axe finds wrong on the page as it is now. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(axe);
  const { passes, violations } = await page.evaluate<Findings>('axe.run()');
  const found = violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, any }) => `${id}: ${target.join(' ')}: ${any.map(({ message }) => message).join('; ')}`),
  );
  expect(found).toEqual([]);
  expect(passes.length).toBeGreaterThan(10);
}
