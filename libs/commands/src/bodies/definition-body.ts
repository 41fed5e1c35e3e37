import { validationFailed, type Fault } from '@laddercast/domain';
import { applyDecorators } from '@nestjs/common';
import { plainToInstance, Transform, Type } from 'class-transformer';
import { IsObject, IsOptional, ValidateNested, validateSync } from 'class-validator';
import { faultsOf, faultsUnseen } from './body-faults.js';

/** An object of options within a definition; it may be left out. */
export const IsPart = (type: () => new () => object): PropertyDecorator =>
  applyDecorators(Type(type), ValidateNested(), IsObject(), IsOptional());

/**
 * An object by the names of columns, as it was sent: class-transformer leaves out names that every object has. To be named
 * to {@link definitionObject}, too.
 */
export const IsByColumn = (): PropertyDecorator =>
  applyDecorators(
    Type(() => Object),
    Transform(({ obj, key }: { obj: Record<string, unknown>; key: string }) => obj[key]),
  );

/**
 * A body as an object whose names and nesting the validators can look at.
 * @param byColumn matches the pointers of its {@link IsByColumn} fields
 * @throws VALIDATION_FAILED
 */
export function definitionObject(body: unknown, byColumn: RegExp | null): Record<string, unknown> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw validationFailed([{ pointer: '', message: 'must be a JSON object' }]);
  }
  const unseen = faultsUnseen(body, byColumn);
  if (unseen.length > 0) throw validationFailed(unseen);
  return body as Record<string, unknown>;
}

/** A definition by the decorators of its class, with all that is wrong with it. */
export function checkedDefinition<Dto extends object>(
  type: new () => Dto,
  given: object,
): { dto: Dto; faults: Fault[] } {
  const dto = plainToInstance(type, given);
  const errors = validateSync(dto, { whitelist: true, forbidNonWhitelisted: true, forbidUnknownValues: true });
  return { dto, faults: errors.flatMap((error) => faultsOf(error, '')) };
}
