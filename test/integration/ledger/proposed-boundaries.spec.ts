// Real: PostgreSQL and the ledger, two of them as two processes would run, and the controller over one of them, whose
// catalogue looks for changes only when it is asked to. What is proposed is a port of the tests' own.
import type { PutBoardCommand } from '@laddercast/commands';
import { withBoardDefaults, type Board, type BoardDefinition } from '@laddercast/domain';
import type { Identity } from '@laddercast/identity';
import { entityTagOf, type ApiKeyStore } from '@laddercast/ledger';
import { createTestDatabase, type TestDatabase } from '@laddercast/testing';
import type { CommandBus, QueryBus } from '@nestjs/cqrs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminController } from '../../../apps/api/src/controllers/admin.controller.js';
import { LedgerNode } from '../nodes/ledger-node.js';

const ADMIN: Identity = { kind: 'key', keyId: 'key-1', scopes: ['admin'] };
const SHARDING = { by: 'range', boundaries: [10] } as const;

describe('boundaries that are put as they are proposed', () => {
  let database: TestDatabase;
  let node: LedgerNode;
  let other: LedgerNode;
  let whileProposed: () => Promise<unknown>;

  beforeAll(async () => {
    database = await createTestDatabase();
    node = new LedgerNode(database.url);
    other = new LedgerNode(database.url);
    await node.start();
    await other.start();
    node.boards.stop();
  });
  afterAll(async () => {
    await node?.stop();
    await other?.stop();
    await database?.drop();
  });

  const titled = (title: string): BoardDefinition => withBoardDefaults({ order: 'desc', operator: 'best', title });
  const nowOf = async (id: string): Promise<Board> => {
    await other.boards.refresh();
    return other.boards.byId(id)!;
  };
  /** A board that the controller's process knows. */
  const make = async (id: string): Promise<Board> => {
    whileProposed = async () => undefined;
    const { board } = await node.registry.put(id, titled('before'));
    await node.boards.refresh();
    return board;
  };
  const change = async (id: string): Promise<Board> => (await other.registry.put(id, titled('after'))).board;
  const bound = (id: string, ifMatch?: string): Promise<object> => {
    const commands = {
      execute: ({ boardId, definition, ifMatch: tag, onlyCreate }: PutBoardCommand) =>
        node.registry.put(boardId, definition, { ifMatch: tag, onlyCreate }),
    } as unknown as CommandBus;
    const queries = {
      execute: async () => {
        await whileProposed();
        return { board: id, sharding: SHARDING };
      },
    } as unknown as QueryBus;
    const controller = new AdminController(commands, queries, node.boards, {} as ApiKeyStore);
    return controller.proposeBoundaries(id, {}, { shards: 2 }, ADMIN, ifMatch);
  };

  it.each(['the tag', '*', undefined])(
    'keep what another process changed a moment ago (If-Match: %s)',
    async (named) => {
      const id = `moment-${['the tag', '*', undefined].indexOf(named)}`;
      await make(id);
      const tag = entityTagOf(await change(id));
      await bound(id, named === 'the tag' ? tag : named);
      expect((await nowOf(id)).definition).toMatchObject({ title: 'after', sharding: SHARDING });
    },
  );

  it('are refused where the board is not the one that If-Match names', async () => {
    const tag = entityTagOf(await make('named'));
    await change('named');
    await expect(bound('named', tag)).rejects.toMatchObject({ code: 'PRECONDITION_FAILED' });
    expect((await nowOf('named')).definition).toEqual(titled('after'));
  });

  it.each(['*', undefined])(
    'are refused where the board changes while they are sought (If-Match: %s)',
    async (named) => {
      const id = named === '*' ? 'sought-any' : 'sought';
      await make(id);
      whileProposed = () => change(id);
      await expect(bound(id, named)).rejects.toMatchObject({ code: 'PRECONDITION_FAILED' });
      expect((await nowOf(id)).definition).toEqual(titled('after'));
    },
  );
});
