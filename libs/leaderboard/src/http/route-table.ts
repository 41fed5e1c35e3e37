/** Which methods each address takes: tells a wrong method (405) from a wrong address (404). */
export class RouteTable {
  private readonly routes: { method: string; pattern: RegExp }[] = [];

  add(methods: string | string[], url: string): void {
    if (url.includes('*')) return;
    const pattern = new RegExp(`^${url.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replace(/:[^/]+/g, '[^/]+')}$`);
    for (const method of [methods].flat()) this.routes.push({ method, pattern });
  }

  methodsAt(url: string): string[] {
    const path = url.split('?')[0]!;
    return [...new Set(this.routes.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method))].sort();
  }
}
