import { AsyncLocalStorage } from 'node:async_hooks';

const scope = new AsyncLocalStorage<true>();

/** Runs what a saga does with a batch: all that it awaits knows by {@link isInSaga} for whom it is done. */
export const inSaga = <T>(work: () => T): T => scope.run(true, work);

export const isInSaga = (): boolean => scope.getStore() === true;
