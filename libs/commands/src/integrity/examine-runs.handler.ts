import { parkAllInto } from '@laddercast/event-log';
import {
  BoardCatalog,
  EXAMINATIONS_MAX,
  PostgresDatabase,
  RuleExaminations,
  RunExaminer,
  type WaitingExamination,
} from '@laddercast/ledger';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { ExamineRunsCommand, INTEGRITY_GROUP, type RecordedRun } from './integrity-commands.js';

/** The service's own rules look at once; those of teams, which may fail or hang, beside the log. */
@CommandHandler(ExamineRunsCommand)
export class ExamineRunsHandler implements ICommandHandler<ExamineRunsCommand> {
  constructor(
    private readonly database: PostgresDatabase,
    private readonly boards: BoardCatalog,
    private readonly examiner: RunExaminer,
    private readonly examinations: RuleExaminations,
  ) {}

  async execute({ lane, runs }: ExamineRunsCommand): Promise<void> {
    await this.examiner.examine(runs.map(({ run }) => run));
    const wanted = await this.wantedOf(lane, runs);
    const waiting = await this.examinations.waitingFor([...new Set(wanted.map(({ rule }) => rule))]);
    const [fitting, beyond]: [WaitingExamination[], WaitingExamination[]] = [[], []];
    for (const one of wanted) {
      const before = waiting.get(one.rule) ?? 0;
      waiting.set(one.rule, before + 1);
      (before < EXAMINATIONS_MAX ? fitting : beyond).push(one);
    }
    await this.examinations.add(fitting);
    if (beyond.length === 0) return;
    const parkAll = parkAllInto(this.database, INTEGRITY_GROUP);
    await parkAll(beyond.map((one) => letterOf(one, `${EXAMINATIONS_MAX} runs wait for the rule "${one.rule}".`)));
  }

  /** Which rules of teams are to look at which of the runs that counted. */
  private async wantedOf(lane: number, runs: readonly RecordedRun[]): Promise<WaitingExamination[]> {
    const wanted: WaitingExamination[] = [];
    for (const { run, logPosition } of runs) {
      if (run.held) continue;
      const board = await this.boards.byUid(run.boardUid);
      for (const rule of board?.definition.integrity?.rules ?? []) wanted.push({ rule, lane, logPosition, run });
    }
    return wanted;
  }
}

/** The event of a run that a rule could not look at, to be parked. */
export const letterOf = (
  { lane, logPosition, run }: WaitingExamination,
  cause: string,
): Parameters<ReturnType<typeof parkAllInto>>[0][number] => ({
  record: { lane, position: logPosition, topic: run.type, key: run.playerId, payload: JSON.stringify(run) },
  cause,
});
