/** Options of a definition as somebody gives them, some or none: what is not named is not said. */
export type GivenOptions = Readonly<Record<string, unknown>>;

/** null means "the default", as in the answers of the service, so that an answer can be put again. */
export const withoutNulls = (options: object): object =>
  Object.fromEntries(
    Object.entries(options).flatMap(([name, value]) => (value === null ? [] : [[name, valueWithoutNulls(value)]])),
  );

function valueWithoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(valueWithoutNulls);
  return typeof value === 'object' && value !== null ? withoutNulls(value) : value;
}
