import { Logger } from '@nestjs/common';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { LeaveTraceNotesCommand } from './commands.js';
import { nameOfRef, type ListRef } from '../ranks/snapshot-store.js';
import { TraceNotes, type TraceNote } from '../live/trace-notes.js';

@CommandHandler(LeaveTraceNotesCommand)
export class LeaveTraceNotesHandler implements ICommandHandler<LeaveTraceNotesCommand> {
  private readonly log = new Logger('traces');

  constructor(private readonly notes: TraceNotes) {}

  /** A trace that cannot be led on holds up no score. */
  async execute({ notes }: LeaveTraceNotesCommand): Promise<void> {
    const byList = new Map<string, { list: ListRef; notes: TraceNote[] }>();
    for (const { list, note } of notes) {
      const name = nameOfRef(list);
      const known = byList.get(name);
      if (known) known.notes.push(note);
      else byList.set(name, { list, notes: [note] });
    }
    await Promise.all([...byList.values()].map((one) => this.notes.leave(one.list, one.notes))).catch((error: Error) =>
      this.log.debug(`Traces end at the saga: ${error.message}`),
    );
  }
}
