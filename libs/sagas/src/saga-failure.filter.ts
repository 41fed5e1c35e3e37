import { Catch, type RpcExceptionFilter } from '@nestjs/common';
import { throwError, type Observable } from 'rxjs';

/** Hands the log the error as it was: Nest would make "Internal server error" of it, and nobody could tell what to retry. */
@Catch()
export class SagaFailureFilter implements RpcExceptionFilter {
  catch(error: unknown): Observable<never> {
    return throwError(() => error);
  }
}
