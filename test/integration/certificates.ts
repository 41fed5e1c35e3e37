import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Files in PEM. */
export interface Certificates {
  /** Vouches for {@link certificate}. */
  ca: string;
  /** Vouches for nothing here. */
  otherCa: string;
  otherKey: string;
  /** For `localhost` alone: 127.0.0.1 is another name. */
  certificate: string;
  key: string;
  /** Key and certificate in one, as Kafka's brokers take them. */
  both: string;
  /** Any text, in a file of this name. */
  write(name: string, text: string): string;
  remove(): void;
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** Makes certificates that count for two days, by the openssl of the machine. */
export function makeCertificates(): Certificates {
  const folder = mkdtempSync(join(tmpdir(), 'ladder-certificates-'));
  chmodSync(folder, 0o755);
  const file = (name: string): string => join(folder, name);
  const write = (name: string, text: string): string => {
    writeFileSync(file(name), text);
    return file(name);
  };
  const openssl = (...args: string[]): void => {
    const { status, stderr, error } = spawnSync('openssl', args, { cwd: folder, encoding: 'utf8', timeout: 30_000 });
    if (status !== 0) throw new Error(`openssl ${args[0]} failed (is it installed?): ${error?.message ?? stderr}`);
  };
  for (const name of ['ca', 'other-ca'])
    openssl('req', '-x509', ...NEW_KEY, '-keyout', `${name}.key`, '-out', `${name}.pem`, '-subj', `/CN=${name}`);
  openssl('req', ...NEW_KEY, '-keyout', 'server.key', '-out', 'server.csr', '-subj', '/CN=localhost');
  write('names', 'subjectAltName=DNS:localhost');
  const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-extfile', 'names'];
  openssl('x509', '-req', '-in', 'server.csr', ...signed, '-out', 'server.pem');
  const text = (name: string): string => readFileSync(file(name), 'utf8');
  return {
    ca: file('ca.pem'),
    otherCa: file('other-ca.pem'),
    otherKey: file('other-ca.key'),
    certificate: file('server.pem'),
    key: file('server.key'),
    both: write('both.pem', text('server.key') + text('server.pem')),
    write,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
