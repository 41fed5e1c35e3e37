import { readFileSync } from 'node:fs';
import { untrustedCertificate, type Environment } from '@laddercast/platform';
import type { KafkaConfig, SASLOptions } from 'kafkajs';

/** TLS and SASL, as every client of Kafka has them. */
export type KafkaAccess = Pick<KafkaConfig, 'ssl' | 'sasl'>;

type AccessSettings = Pick<
  Environment,
  | 'KAFKA_TLS'
  | 'KAFKA_TLS_CA_FILE'
  | 'KAFKA_TLS_CERT_FILE'
  | 'KAFKA_TLS_KEY_FILE'
  | 'KAFKA_SASL_MECHANISM'
  | 'KAFKA_SASL_USERNAME'
  | 'KAFKA_SASL_PASSWORD'
>;

/**
 * How brokers are reached by the settings. Files are read now.
 * @param bearer gives a valid token, with oauthbearer; called for each connection
 */
export function kafkaAccess(settings: AccessSettings, bearer: () => Promise<string>): KafkaAccess {
  const sasl = saslOf(settings, bearer);
  return { ...(settings.KAFKA_TLS === 'true' && { ssl: tlsOf(settings) }), ...(sasl !== null && { sasl }) };
}

function tlsOf({ KAFKA_TLS_CA_FILE, KAFKA_TLS_CERT_FILE, KAFKA_TLS_KEY_FILE }: AccessSettings): KafkaAccess['ssl'] {
  const files = { ca: KAFKA_TLS_CA_FILE, cert: KAFKA_TLS_CERT_FILE, key: KAFKA_TLS_KEY_FILE };
  const given = Object.entries(files).flatMap(([name, path]) => (path ? [[name, readFileSync(path, 'utf8')]] : []));
  return Object.fromEntries(given) as KafkaAccess['ssl'];
}

function saslOf(settings: AccessSettings, bearer: () => Promise<string>): SASLOptions | null {
  const { KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_USERNAME: username, KAFKA_SASL_PASSWORD: password } = settings;
  if (mechanism === undefined) return null;
  if (mechanism === 'oauthbearer') return { mechanism, oauthBearerProvider: async () => ({ value: await bearer() }) };
  return { mechanism, username: username!, password: password! };
}

/** What brokers answer when our certificate is missing, or not trusted (TLS alerts). */
const CERTIFICATE_REFUSED = /^ERR_SSL_.*ALERT.*(CERTIFICATE|UNKNOWN_CA)/;
const CAUSES_MAX = 5;

/**
 * Why waiting for these brokers is of no use with these settings: the user or a certificate is refused. null when
 * waiting may help: a better token may follow one that is refused.
 */
export function refusalOf(error: unknown, mechanism: string | undefined, depth = 0): string | null {
  if (!(error instanceof Error) || depth > CAUSES_MAX) return null;
  const { name, message, code = '', cause } = error as Error & { code?: string };
  if (name === 'KafkaJSSASLAuthenticationError' && mechanism !== 'oauthbearer') {
    return `the brokers refuse KAFKA_SASL_USERNAME with its password, by KAFKA_SASL_MECHANISM=${mechanism} (${message})`;
  }
  if (CERTIFICATE_REFUSED.test(code)) {
    return `the brokers want another certificate from KAFKA_TLS_CERT_FILE, or one at all (${code})`;
  }
  return untrustedCertificate(error, 'the brokers', 'KAFKA_TLS_CA_FILE') ?? refusalOf(cause, mechanism, depth + 1);
}
