import { readFileSync } from 'node:fs';
import { call } from './call.js';
import type { FaultInstallation } from './installation.js';

const LOOK_EVERY_MS = 500;

/** How much memory the processes of an installation take, looked at from time to time, and what their ports say. */
export class VitalSigns {
  private readonly first = new Map<string, number>();
  private readonly most = new Map<string, number>();
  private readonly timer: NodeJS.Timeout;

  private constructor(private readonly installation: FaultInstallation) {
    this.look();
    this.timer = setInterval(() => this.look(), LOOK_EVERY_MS);
  }

  static watch(installation: FaultInstallation): VitalSigns {
    return new VitalSigns(installation);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /** By how many megabytes the process that grew most has grown since the start. */
  get grownMegabytes(): number {
    return Math.max(0, ...[...this.most].map(([name, bytes]) => (bytes - this.first.get(name)!) / 1024 / 1024));
  }

  /** What `/health/ready` of each process says. */
  async health(): Promise<{ status: number; missing: unknown }[]> {
    const { apps } = this.installation;
    const answers = await Promise.all(apps.map(({ url }) => call(`${url}/health/ready`)));
    return answers.map(({ status, body, failure }, at) => {
      if (failure !== undefined)
        return { status, missing: `${failure}; the ${apps[at]!.name} wrote: ${apps[at]!.output}` };
      return { status, missing: (body as { missing?: unknown } | null)?.missing };
    });
  }

  private look(): void {
    for (const { name, pid, isRunning } of this.installation.apps) {
      if (!isRunning) continue;
      const bytes = residentBytes(pid);
      const process = `${name} ${pid}`;
      if (!this.first.has(process)) this.first.set(process, bytes);
      this.most.set(process, Math.max(bytes, this.most.get(process) ?? 0));
    }
  }
}

/** VmRSS (proc(5)); 0 where the process has just gone, or the system has no /proc. */
function residentBytes(pid: number): number {
  try {
    const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kilobytes ?? 0) * 1024;
  } catch {
    return 0;
  }
}
