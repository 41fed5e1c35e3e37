import { BodyPipe, CurrentIdentity, Public, QueryPipe, RequiresScope, type Identity } from '@laddercast/leaderboard';
import { Body, ConflictException, Controller, Get, NotFoundException, Param, Post, Query } from '@nestjs/common';
import { IsIn, IsOptional, IsString, Length } from 'class-validator';
import { PassRegistry, type PassHolder } from './pass-registry.js';

export class NewPass {
  @IsString()
  @Length(1, 128)
  playerId!: string;

  @IsString()
  @Length(1, 64)
  captain!: string;
}

export class PriceParameters {
  @IsOptional()
  @IsIn(['EUR', 'USD'])
  currency?: 'EUR' | 'USD';
}

/** The shop's addresses, in the api process beside those of the leaderboards. */
@Controller('season-pass')
export class PassesController {
  constructor(private readonly passes: PassRegistry) {}

  /** For anyone: without `@Public()` a route needs an identity. */
  @Get('price')
  @Public()
  price(@Query(QueryPipe) { currency = 'EUR' }: PriceParameters): { currency: string; amount: number } {
    return { currency, amount: 9.5 };
  }

  /** For any key, and any player's token. */
  @Get('holders/:player')
  async holder(@Param('player') player: string, @CurrentIdentity() identity: Identity): Promise<PassHolder> {
    const isMe = player === 'me' && identity.kind === 'player';
    const holder = await this.passes.holderOf(isMe ? identity.playerId : player);
    if (!holder) throw new NotFoundException(`"${player}" holds no pass.`);
    return holder;
  }

  /** For game servers. */
  @Post('holders')
  @RequiresScope('scores:write')
  async sell(@Body(BodyPipe) pass: NewPass): Promise<PassHolder> {
    if (await this.passes.holderOf(pass.playerId)) {
      throw new ConflictException({ code: 'PASS_SOLD', message: `"${pass.playerId}" holds a pass already.` });
    }
    this.passes.sell(pass);
    return pass;
  }
}
