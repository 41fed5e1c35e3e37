/**
 * `DATABASE_URL` for node-postgres, with sslmode and sslrootcert meaning what they mean to libpq (psql, pg_dump):
 * require encrypts and checks nothing, or as verify-ca where a CA is named; verify-ca checks who signed the certificate;
 * verify-full its name as well. An address that says nothing of TLS stays as it is.
 * @param caFile DATABASE_CA_FILE: verify-full, where the address has no other mode
 */
export function postgresAddress(url: string, caFile?: string): string {
  const [address, parameters] = partsOf(url);
  if (caFile !== undefined) {
    parameters.set('sslrootcert', caFile);
    if (!parameters.has('sslmode')) parameters.set('sslmode', 'verify-full');
  }
  // To libpq this is the machine's own certificates with every check; node-postgres takes it for a file.
  if (parameters.get('sslrootcert') === 'system') {
    parameters.delete('sslrootcert');
    parameters.set('sslmode', 'verify-full');
  }
  const mode = parameters.get('sslmode');
  if (mode === null && !parameters.has('sslrootcert')) return url;
  // Without a mode libpq would look for TLS and go on without; whoever names a CA wants the check.
  if (mode === null) parameters.set('sslmode', 'verify-full');
  // Beside this word node-postgres does not know its own.
  if (mode !== 'no-verify') parameters.set('uselibpqcompat', 'true');
  return `${address}?${parameters.toString()}`;
}

/** An address without the `options` of its sessions, and those: node-postgres would take them in the place of ours. */
export function withoutOptions(url: string): [address: string, options: string | null] {
  const [address, parameters] = partsOf(url);
  const options = parameters.get('options');
  if (options === null) return [url, null];
  parameters.delete('options');
  return [parameters.size === 0 ? address : `${address}?${parameters.toString()}`, options];
}

/** Whether an address encrypts, and believes any server. */
export function believesAnyServer(url: string, caFile?: string): boolean {
  const [, parameters] = partsOf(postgresAddress(url, caFile));
  const mode = parameters.get('sslmode');
  return mode === 'no-verify' || (mode === 'require' && !parameters.has('sslrootcert'));
}

function partsOf(url: string): [address: string, parameters: URLSearchParams] {
  const [address, ...query] = url.split('?');
  return [address!, new URLSearchParams(query.join('?'))];
}
