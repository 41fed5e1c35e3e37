import { LadderError, type BoardDefinition } from '@laddercast/domain';
import type { Extensions } from '@laddercast/extension';

/** @throws RULE_UNKNOWN when the definition names a rule that no team's module brings along */
export function assertRulesKnown(
  { integrityRules }: Pick<Extensions, 'integrityRules'>,
  { integrity }: BoardDefinition,
): void {
  const known = integrityRules.map(({ name }) => name);
  const unknown = (integrity?.rules ?? []).filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  const detail = `There is no integrity rule ${unknown.map((name) => `"${name}"`).join(', ')}; known: ${known.join(', ') || 'none'}.`;
  throw new LadderError('RULE_UNKNOWN', detail, { unknown, known });
}
