import { Catch, type RpcExceptionFilter } from '@nestjs/common';
import { throwError, type Observable } from 'rxjs';

/**
 * Hands the log the original error: Nest would turn it into "Internal server error", and the log could not tell what to
 * retry.
 */
@Catch()
export class SagaFailureFilter implements RpcExceptionFilter {
  catch(error: unknown): Observable<never> {
    return throwError(() => error);
  }
}
