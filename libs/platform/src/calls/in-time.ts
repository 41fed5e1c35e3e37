/**
 * What was asked, where it is there within a time.
 * @throws Error with `lateMessage` when it is not, and what the asked throws
 */
export async function inTime<T>(asked: Promise<T>, withinMs: number, lateMessage: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(lateMessage)), withinMs);
  });
  try {
    return await Promise.race([asked, late]);
  } finally {
    clearTimeout(timer);
  }
}
