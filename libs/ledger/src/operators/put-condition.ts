/** What must hold for a definition to be put. */
export interface PutCondition {
  /** The entity tag that it must still have. */
  ifMatch?: string | null;
  /** Whether it must not exist. */
  onlyCreate?: boolean;
}

/** Whether an If-Match header names the entity tag (RFC 9110, section 13.1.1). */
export const namesTag = (ifMatch: string, tag: string): boolean =>
  ifMatch.split(',').some((candidate) => candidate.trim() === '*' || candidate.trim() === tag);
