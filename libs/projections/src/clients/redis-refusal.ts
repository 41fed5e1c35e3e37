/** Answers that say that this user or password will not do (Redis: AUTH, ACL), as opposed to a server that is away. */
const REFUSED =
  /^(NOAUTH|WRONGPASS|NOPERM|DENIED|ERR ACL failure in script|ERR The user executing the script)\b|AUTH failed|invalid password/;
/** The same of the last sentinel that was asked, in the words of ioredis. */
const REFUSED_BY_SENTINEL = /^All sentinels are unreachable\b.* Last error: (NOAUTH|WRONGPASS|NOPERM)\b/;

/** How a server says that it is a replica. */
const OF_REPLICA = /^(READONLY|MASTERDOWN)\b/;

/** Answers of a Redis that lets us in, and cannot hold the ranks as it is set up; with what to do. */
const UNFIT: readonly [answer: RegExp, sentence: string][] = [
  [OF_REPLICA, 'REDIS_URL leads to a replica, which takes no writes: it must lead to the master'],
  [
    /\bCLUSTERDOWN\b/,
    'the cluster of REDIS_URL is not formed, or not all of its slots are served: see `redis-cli --cluster check`',
  ],
  [/^MOVED\b/, 'REDIS_URL names one node of a cluster: name several, separated by commas'],
];

export const isOfReplica = ({ message }: Error): boolean => OF_REPLICA.test(message);

const isRefusalText = (text: string): boolean => REFUSED.test(text) || REFUSED_BY_SENTINEL.test(text);
const sentenceOfUnfit = (text: string): string | undefined => UNFIT.find(([answer]) => answer.test(text))?.[1];

/** Whether Redis was there, and refused: the error itself, or its cause. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof Error && (isRefusalText(error.message) || isRefusal(error.cause));

/** Remembers why a Redis that is there does nothing for this process. */
export class RedisRefusal {
  private said: string | null = null;

  /** Why, as a sentence with what to do; null where Redis refuses nothing. */
  get sentence(): string | null {
    if (this.said === null) return null;
    return `${this.kind} (${this.said})`;
  }

  /** The same without what Redis said, which differs from time to time. */
  get kind(): string | null {
    if (this.said === null) return null;
    const unfit = sentenceOfUnfit(this.said);
    if (unfit !== undefined) return `Redis cannot be used: ${unfit}`;
    return REFUSED_BY_SENTINEL.test(this.said)
      ? 'The sentinels of REDIS_URL refuse this process: correct REDIS_SENTINEL_USERNAME and REDIS_SENTINEL_PASSWORD'
      : 'Redis refuses this process: correct the user and the password of REDIS_URL, or what Redis lets that user do';
  }

  /** Whether it refuses who we are, which does not pass by itself. */
  get isOfUser(): boolean {
    return this.said !== null && isRefusalText(this.said);
  }

  /** Looks whether an error is a refusal; of a cluster's, the last of its nodes counts. */
  note(error: unknown): void {
    const { message = '', lastNodeError } = error as { message?: string; lastNodeError?: { message: string } };
    const refuses = (text: string): boolean => isRefusalText(text) || sentenceOfUnfit(text) !== undefined;
    this.said = [message, lastNodeError?.message ?? ''].find(refuses) ?? this.said;
  }

  forget(): void {
    this.said = null;
  }
}
