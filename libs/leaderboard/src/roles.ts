/** What a process does. */
export type Role = 'api' | 'projector' | 'gateway';

/** Injection token of the roles that this process has. */
export const ROLES = Symbol('roles');
