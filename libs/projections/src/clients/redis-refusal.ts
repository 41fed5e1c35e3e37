/** Answers that say that this user or password will not do (Redis: AUTH, ACL), as opposed to a server that is away. */
const REFUSED =
  /^(NOAUTH|WRONGPASS|NOPERM|DENIED|ERR ACL failure in script|ERR The user executing the script)\b|AUTH failed|invalid password/;
/** The same of the last sentinel that was asked, in the words of ioredis. */
const REFUSED_BY_SENTINEL = /^All sentinels are unreachable\b.* Last error: (NOAUTH|WRONGPASS|NOPERM)\b/;

const isRefusalText = (text: string): boolean => REFUSED.test(text) || REFUSED_BY_SENTINEL.test(text);

/** Whether Redis was there, and refused: the error itself, or its cause. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof Error && (isRefusalText(error.message) || isRefusal(error.cause));

/** Remembers why a Redis that is there does nothing for this process. */
export class RedisRefusal {
  private said: string | null = null;

  /** Why, as a sentence with what to do; null where Redis refuses nothing. */
  get sentence(): string | null {
    if (this.said === null) return null;
    if (REFUSED_BY_SENTINEL.test(this.said)) {
      return `The sentinels of REDIS_URL refuse this process: correct REDIS_SENTINEL_USERNAME and REDIS_SENTINEL_PASSWORD (${this.said})`;
    }
    return `Redis refuses this process: correct the user and the password of REDIS_URL, or what Redis lets that user do (${this.said})`;
  }

  /** Looks whether an error is a refusal; of a cluster's, the last of its nodes counts. */
  note(error: unknown): void {
    const { message = '', lastNodeError } = error as { message?: string; lastNodeError?: { message: string } };
    this.said = [message, lastNodeError?.message ?? ''].find(isRefusalText) ?? this.said;
  }

  forget(): void {
    this.said = null;
  }
}
