import { Problem } from '../problem.mjs';

const causes = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'there is no host of that name',
  EAI_AGAIN: 'the name of the host cannot be resolved now',
  ETIMEDOUT: 'it did not answer in time',
  ECONNRESET: 'it hung up: is it the right port?',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
};

/** An address as it may be shown: without the password. */
export function withoutPassword(url) {
  return url.replace(/:\/\/([^:/@]*):[^@/]*@/, '://$1:***@');
}

/** A PostgreSQL address with the certificates of `DATABASE_CA_FILE`, as libpq and node-postgres both take it. */
export function withCaFile(url, caFile) {
  const [address, ...query] = url.split('?');
  const parameters = new URLSearchParams(query.join('?'));
  parameters.set('sslrootcert', caFile);
  if (!parameters.has('sslmode')) parameters.set('sslmode', 'verify-full');
  // libpq takes a plus for a plus.
  return `${address}?${String(parameters).replaceAll('+', '%20')}`;
}

/** @throws Problem when the text is not a URL of one of the schemes */
export function requireUrl(variable, url, schemes, example) {
  let parsed = null;
  try {
    parsed = new URL(url);
  } catch {
    // Reported below, like a wrong scheme.
  }
  if (parsed !== null && schemes.includes(parsed.protocol) && parsed.hostname !== '') return parsed;
  throw new Problem(
    `${variable} is not an address that can be used: "${withoutPassword(url)}". It looks like ${example}.`,
  );
}

/**
 * The address of the ledger's database, as the service has it, for a command about it.
 * @throws Problem when `DATABASE_URL` is not there, or no address
 */
export function ledgerAddress({ DATABASE_URL: url }) {
  if (!url) throw new Problem('DATABASE_URL is not set: it names the database, as it does for the service.');
  // A user without a host is no URL: there `host=` names a Unix socket, and goes before this.
  const address = url.replace(/^(postgres(?:ql)?:\/\/[^@/?#]*@)(?=\/)/, '$1localhost');
  if (/^postgres(ql)?:\/\//.test(address) && URL.canParse(address)) return address;
  throw new Problem('DATABASE_URL is no address. It looks like postgres://user:password@127.0.0.1:5432/database.');
}

/** The problem of a ledger that does not answer, or sends us away. */
export function noLedger(url, error) {
  return new Problem(
    `There is no answer from the PostgreSQL of DATABASE_URL (${withoutPassword(url)}): ${causeOf(error)}.\n` +
      'Start that server, or correct the address.',
  );
}

/** The problem of a service that was named in the environment and does not answer. */
export function doesNotAnswer(variable, address, error, remedy) {
  return new Problem(
    `${variable} is set, but there is no answer from ${withoutPassword(address)}: ${causeOf(error)}.\n` +
      `${remedy} Or unset ${variable}, and one is started for you.`,
  );
}

function causeOf(error) {
  const first = error?.errors?.[0] ?? error;
  return causes[first?.code] ?? first?.message ?? String(first);
}

/** The problem of a service that was found in none of the places, with every way out. */
export function notFound(service, tried, waysOut) {
  const reasons = tried.map((line) => `  - ${line}`).join('\n');
  const ways = waysOut.map((line) => `  * ${line}`).join('\n');
  return new Problem(`No ${service} could be found.\nWhat was tried:\n${reasons}\nAny one of these helps:\n${ways}`);
}
