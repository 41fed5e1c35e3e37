import { posix } from 'node:path';
import type { TextFile } from './source-tree.js';

/** A place in the repository that a page names. */
export interface Reference {
  from: string;
  line: number;
  /** From the top of the repository. */
  target: string;
}

/** A heading that a page links to. */
export interface HeadingLink extends Reference {
  /** As the address has it: `in-small-letters`. */
  heading: string;
}

const FOLDERS = 'apps|libs|test|tools|bench|docs|examples|docker|data';

/** What a Markdown page points to: relative links, and paths of files and folders in code. */
export function referencesOf({ path, text }: TextFile): Reference[] {
  return text.split('\n').flatMap((line, index) => {
    const links = [...line.matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, target]) => target!)
      .filter((target) => !/^(https?:|mailto:|#)/.test(target))
      .map((target) => posix.normalize(posix.join(posix.dirname(path), target.split('#')[0]!)));
    const paths = [...line.matchAll(new RegExp(`(?<![\\w./-])(?:${FOLDERS})/[\\w./-]*[\\w-]`, 'g'))].map(
      ([name]) => name,
    );
    // `<name>` and `*` stand for any name: what comes before them has to be there.
    return [...new Set([...links, ...paths])].map((target) => ({ from: path, line: index + 1, target }));
  });
}

/** The headings of Markdown pages that a page links to, its own included. */
export function headingLinksOf({ path, text }: TextFile): HeadingLink[] {
  return text.split('\n').flatMap((line, index) =>
    [...line.matchAll(/\]\(([^)\s:#]*)#([^)\s]+)\)/g)].map(([, page, heading]) => ({
      from: path,
      line: index + 1,
      target: page === '' ? path : posix.normalize(posix.join(posix.dirname(path), page!)),
      heading: heading!,
    })),
  );
}

/** What a Markdown page's headings are called in addresses. */
export function headingsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, title]) =>
    title!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
