/**
 * What was asked, where it is there within a time.
 * @throws Error with `lateMessage` when it is not, and what the asked throws
 */
export const inTime = <T>(asked: Promise<T>, withinMs: number, lateMessage: string): Promise<T> =>
  inTimeOr(asked, withinMs, () => {
    throw new Error(lateMessage);
  });

/**
 * What was asked, or something else where it is not there within a time.
 * @throws what the asked throws
 */
export async function inTimeOr<T>(asked: Promise<T>, withinMs: number, late: () => T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, withinMs);
  });
  try {
    return await Promise.race([asked, over.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}
