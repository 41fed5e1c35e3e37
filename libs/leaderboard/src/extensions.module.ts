import { Extensions } from '@laddercast/extension';
import { Global, Module } from '@nestjs/common';
import { ExtensionRegistry } from './extension-registry.js';

/** What the teams' modules brought along, for every module. */
@Global()
@Module({
  providers: [ExtensionRegistry, { provide: Extensions, useExisting: ExtensionRegistry }],
  exports: [ExtensionRegistry, Extensions],
})
export class ExtensionsModule {}
