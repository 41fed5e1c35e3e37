import { PatchListParameters, PatchParameters } from '../../http/patch-parameters.js';
import type { OperationDescription } from '../describe-operation.js';

const given = { family: 'eu4', publishedAt: '2026-03-01T00:00:00.000Z', title: 'Third Rome' };
const patch = {
  ...{ patch: '1.30', ...given, sameAs: null },
  ...{ behind: 0, runs: 48, status: 'published' },
};

export const PATCHES = {
  listPatches: {
    tag: 'Boards',
    summary: 'List the patches of a family',
    description:
      'In the order of publication, the oldest first, all of them: 1.9 before 1.10. Of no such family: none.',
    callers: 'reader',
    query: PatchListParameters,
    parameters: { family: 'The family of patches.' },
    answers: {
      200: { description: 'All patches.', schema: 'PatchList', example: { family: 'eu4', patches: [patch] } },
    },
    errors: [],
  },
  getPatch: {
    tag: 'Boards',
    summary: 'Read a patch',
    callers: 'reader',
    query: PatchParameters,
    answers: {
      200: {
        description: 'The ETag is of what was put.',
        schema: 'Patch',
        headers: ['ETag', 'Cache-Control'],
        example: patch,
      },
    },
    errors: [],
    errorsAt: { 404: ['PATCH_UNKNOWN'] },
  },
  putPatch: {
    tag: 'Boards',
    summary: 'Create, publish or change a patch',
    description:
      'Needs the scope admin. Boards with decay tax runs by how many patches they are behind the newest one that is ' +
      'published. What changes the order of patches has all boards of the family ranked anew beside what they show; ' +
      'reads go on under the tax of before, and say that. With publishedAt ahead nothing happens until then. A hotfix ' +
      '(sameAs) taxes nobody: its runs are those of the patch that it names. Of a patch that a run names sameAs is fixed, ' +
      'and it cannot be published later than now. The id of a patch is within its family: `family` says which one is meant.',
    callers: 'identified',
    query: PatchParameters,
    headers: ['If-Match', 'If-None-Match: *'],
    body: {
      schema: 'PatchDefinition',
      examples: { now: { family: 'eu4' }, dated: given, hotfix: { family: 'eu4', sameAs: '1.30' } },
    },
    answers: {
      200: { description: 'Changed, or as it was.', schema: 'Patch', headers: ['ETag'], example: patch },
      201: { description: 'Created.', schema: 'Patch', headers: ['ETag'], example: { ...patch, status: 'retaxing' } },
    },
    errors: ['FORBIDDEN', 'PATCH_IN_USE', 'PRECONDITION_FAILED'],
    errorsAt: { 422: ['LIMIT_REACHED'] },
  },
  deletePatch: {
    tag: 'Boards',
    summary: 'Delete a patch that nobody uses',
    description: 'Needs the scope admin. Refused while a run of a board names it, or another patch is the same as it.',
    callers: 'identified',
    query: PatchParameters,
    headers: ['If-Match'],
    answers: { 204: { description: 'Deleted.' } },
    errors: ['FORBIDDEN', 'PATCH_IN_USE', 'PRECONDITION_FAILED'],
    errorsAt: { 404: ['PATCH_UNKNOWN'], 422: ['LIMIT_REACHED'] },
  },
} satisfies Record<string, OperationDescription>;
