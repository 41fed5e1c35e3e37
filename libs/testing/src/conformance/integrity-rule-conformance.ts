import { checkedSuspicion } from '@laddercast/commands';
import { OWN_RULES, RULE_NAME_PATTERN, type Board } from '@laddercast/domain';
import { EARLIER_RUNS_MAX, EXAMINATION_LIMIT_MS, type ExaminedRun, type IntegrityRule } from '@laddercast/extension';
import { describe, expect, it } from 'vitest';

/** A run with those before it, the newest first. */
export interface ExaminedCase {
  run: ExaminedRun;
  earlier: readonly ExaminedRun[];
}

export interface IntegrityRuleConformanceOptions {
  /** The rule under test; asked for in each test. */
  rule: () => IntegrityRule;
  board: () => Board;
  /** Runs that must raise a flag, by what is wrong with them. */
  suspicious: Readonly<Record<string, ExaminedCase>>;
  /** Runs that must raise none. */
  clean: Readonly<Record<string, ExaminedCase>>;
}

/** Declares the tests that every `IntegrityRule` must pass. */
export function integrityRuleConformance({ rule, board, suspicious, clean }: IntegrityRuleConformanceOptions): void {
  const cases = { ...suspicious, ...clean };
  const asked = ({ run, earlier }: ExaminedCase): Promise<unknown> => rule().examine(run, earlier, board());

  describe('an integrity rule', () => {
    it('has a name of its own that boards can say, and asks for no more runs than are shown', () => {
      const { name, earlierRuns } = rule();
      expect(name).toMatch(new RegExp(RULE_NAME_PATTERN));
      expect(OWN_RULES).not.toContain(name);
      expect(Number.isInteger(earlierRuns)).toBe(true);
      expect(earlierRuns).toBeGreaterThanOrEqual(0);
      expect(earlierRuns).toBeLessThanOrEqual(EARLIER_RUNS_MAX);
    });

    it.each(Object.entries(suspicious))('is suspicious, in words that can be stored, of %s', async (_name, one) => {
      const answer = await asked(one);
      expect(answer).not.toBeNull();
      expect(checkedSuspicion(answer)).toEqual(answer);
    });

    it.each(Object.entries(clean))('has nothing against %s', async (_name, one) => {
      expect(await asked(one)).toBeNull();
    });

    it('says the same of the same run once more, and of many at once', async () => {
      const all = Object.values(cases);
      const first = [];
      for (const one of all) first.push(await asked(one));
      expect(await Promise.all(all.map(asked))).toEqual(first);
      expect(await Promise.all(all.map((one) => asked(JSON.parse(JSON.stringify(one)) as ExaminedCase)))).toEqual(
        first,
      );
    });

    it('changes nothing that it is shown', async () => {
      for (const { run, earlier } of Object.values(cases)) {
        await rule().examine(deepFrozen(run), deepFrozen(earlier), deepFrozen(board()));
      }
    });

    it('can do with fewer earlier runs than it asks for', async () => {
      for (const { run, earlier } of Object.values(cases)) {
        const answer = await rule().examine(run, earlier.slice(0, 1), board());
        expect(checkedSuspicion(answer)).toEqual(answer);
        expect(checkedSuspicion(await rule().examine(run, [], board()))).toBeDefined();
      }
    });

    it('answers within the time that it has', async () => {
      const late = new Promise((resolve) => setTimeout(resolve, EXAMINATION_LIMIT_MS, 'late').unref());
      for (const one of Object.values(cases)) expect(await Promise.race([asked(one), late])).not.toBe('late');
    });
  });
}

function deepFrozen<T>(value: T): T {
  const copy = structuredClone(value);
  const freeze = (one: unknown): void => {
    if (typeof one !== 'object' || one === null) return;
    Object.freeze(one);
    Object.values(one).forEach(freeze);
  };
  freeze(copy);
  return copy;
}
