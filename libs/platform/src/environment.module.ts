import { Module, type DynamicModule } from '@nestjs/common';
import { Environment } from './environment.js';

/** The settings of the process, for every module. */
@Module({})
export class EnvironmentModule {
  static of(environment: Environment): DynamicModule {
    const providers = [{ provide: Environment, useValue: environment }];
    return { module: EnvironmentModule, global: true, providers, exports: [Environment] };
  }
}
