/** Answers that say that this user or password will not do (Redis: AUTH, ACL), as opposed to a server that is away. */
const REFUSED =
  /^(NOAUTH|WRONGPASS|NOPERM|DENIED|ERR ACL failure in script|ERR The user executing the script)\b|AUTH failed|invalid password/;

/** Remembers why a Redis that is there does nothing for this process. */
export class RedisRefusal {
  private said: string | null = null;

  /** Why, as a sentence with what to do; null where Redis refuses nothing. */
  get sentence(): string | null {
    if (this.said === null) return null;
    return `Redis refuses this process: correct the user and the password of REDIS_URL, or what Redis lets that user do (${this.said})`;
  }

  /** Looks whether an error is a refusal; of a cluster's, the last of its nodes counts. */
  note(error: unknown): void {
    const { message = '', lastNodeError } = error as { message?: string; lastNodeError?: { message: string } };
    this.said = [message, lastNodeError?.message ?? ''].find((text) => REFUSED.test(text)) ?? this.said;
  }

  forget(): void {
    this.said = null;
  }
}
