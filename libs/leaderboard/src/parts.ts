import type { Abstract, Type } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';

/** Finds what the modules of the process made. @throws when none of them has it */
export type PartOf = <Part>(token: Abstract<Part> | Type<Part>) => Part;

/** The parts of all modules, whoever asks. */
export const partsOf =
  (modules: Pick<ModuleRef, 'get'>): PartOf =>
  (token) =>
    modules.get(token, { strict: false });
