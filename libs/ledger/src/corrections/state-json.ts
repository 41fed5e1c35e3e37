/** Of a row `c` of rating_changes. */
export const stateJson = (side: 'before' | 'after'): string =>
  `json_build_object('rating', c.${side}_rating, 'deviation', c.${side}_deviation, 'volatility', c.${side}_volatility,
    'memory', coalesce(c.${side}_memory, '{}'))`;

/** Of a row `b` of rating_bases: what a player came to by the changes that are not kept. */
export const BASE_STATE = `json_build_object('rating', b.rating, 'deviation', b.deviation, 'volatility', b.volatility,
    'memory', coalesce(b.memory, '{}'))`;
