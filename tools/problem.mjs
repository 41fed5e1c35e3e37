/** A failure whose message says what to do about it: it is printed as it stands, without a stack trace. */
export class Problem extends Error {
  name = 'Problem';
}

const diskErrors = ['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT', 'ENOTDIR', 'EISDIR', 'EMFILE'];

/** Text for the terminal: the message of a `Problem` or of a refusing file system, the whole stack of anything else. */
export function describeFailure(error) {
  if (error instanceof Problem) return error.message;
  if (diskErrors.includes(error?.code)) {
    return `${error.message}\nIs there room on the disk, and may you write there? Files of another user's run are not yours.`;
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
