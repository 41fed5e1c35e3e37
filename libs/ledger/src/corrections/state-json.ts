/** Of a row `c` of rating_changes. */
export const stateJson = (side: 'before' | 'after'): string =>
  `json_build_object('rating', c.${side}_rating, 'deviation', c.${side}_deviation, 'volatility', c.${side}_volatility,
    'memory', coalesce(c.${side}_memory, '{}'))`;
