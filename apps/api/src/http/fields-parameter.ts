import { RefusedAs } from '@laddercast/commands';
import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsIn, IsOptional } from 'class-validator';

/** What rows show only to who asks for it. */
const FIELDS = ['player'] as const;
export type Field = (typeof FIELDS)[number];

/** `?fields=player`: names, separated by commas; the parameter twice is no list. */
export const Fields = (): PropertyDecorator =>
  applyDecorators(
    IsOptional(),
    Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.split(',') : { twice: value })),
    IsArray(),
    ArrayMinSize(1),
    ArrayMaxSize(FIELDS.length),
    IsIn(FIELDS, { each: true }),
    RefusedAs(`must be given once, and name what rows show on request, separated by commas: ${FIELDS.join()}`),
  );

/** Whether rows are to show the faces of their players. */
export const isWithPlayers = ({ fields }: { fields?: readonly Field[] }): boolean =>
  fields?.includes('player') ?? false;
