/** Loads a module of the live page; the page is plain JavaScript, so the caller states the type it relies on. */
export async function pageModule<Module>(name: string): Promise<Module> {
  const url = new URL(`../../apps/standalone/public/${name}`, import.meta.url);
  return (await import(/* @vite-ignore */ url.href)) as Module;
}
