import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findOnPath, outputOf, runStep } from '../commands.mjs';
import { notFound } from './answers.mjs';

const kafkaVersion = '4.3.1';
const loggingVersion = '2.25.4';
const jdkMajorMin = 17;

/**
 * What a broker needs: a Java of JDK 17+ and Kafka's jars, fetched once by Maven into `cacheDir`.
 * @returns `{ java, jars, version }`
 * @throws Problem with all the ways out
 */
export async function findKafka(cacheDir, env = process.env) {
  const jars = join(cacheDir, `kafka-${kafkaVersion}`);
  const tried = [];
  const java = findJava(tried, env);
  const [mvn] = findOnPath('mvn', env);
  if (mvn === undefined && !existsSync(jars)) tried.push('mvn (Maven) is not on the PATH');
  if (java === null || (mvn === undefined && !existsSync(jars))) throw nothingFound(tried);
  if (!existsSync(jars)) {
    try {
      await fetchJars(mvn, cacheDir, jars, env);
    } catch (error) {
      throw nothingFound([error.message]);
    }
  }
  return { java, jars, version: kafkaVersion };
}

function nothingFound(tried) {
  return notFound(
    'Kafka',
    ['KAFKA_BROKERS is not set', ...tried],
    [
      'run one in Docker: docker run -d -p 127.0.0.1:9092:9092 apache/kafka:4.1.0 and set KAFKA_BROKERS=127.0.0.1:9092',
      'set KAFKA_BROKERS to the brokers that you have (host:port,host:port)',
      `install a JDK ${jdkMajorMin}+ and Maven, with access to Maven Central (apt-get install openjdk-17-jre-headless maven)`,
      'leave out --kafka: the log is then kept in PostgreSQL',
    ],
  );
}

function findJava(tried, env) {
  const home = env.JAVA_HOME ? [join(env.JAVA_HOME, 'bin/java')].filter((path) => existsSync(path)) : [];
  const candidates = [...home, ...findOnPath('java', env)];
  if (candidates.length === 0) tried.push('java is not on the PATH');
  for (const java of candidates) {
    const [, version] = /version "([^"]+)"/.exec(outputOf(java, ['-version']) ?? '') ?? [];
    if (version !== undefined && Number.parseInt(version, 10) >= jdkMajorMin) return java;
    tried.push(
      version === undefined
        ? `${java} does not run`
        : `${java} is version ${version}; ${jdkMajorMin} or newer is needed`,
    );
  }
  return null;
}

async function fetchJars(mvn, cacheDir, jars, env) {
  mkdirSync(cacheDir, { recursive: true });
  const work = mkdtempSync(join(cacheDir, 'kafka-'));
  try {
    writeFileSync(join(work, 'pom.xml'), pom());
    const goal = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';
    const args = [
      '-q',
      '-B',
      '-f',
      join(work, 'pom.xml'),
      goal,
      '-DincludeScope=runtime',
      `-DoutputDirectory=${join(work, 'jars')}`,
    ];
    await runStep(`Fetching Kafka ${kafkaVersion} from Maven Central (44 MB, once)`, mvn, args, { env, cwd: work });
    if (readdirSync(join(work, 'jars')).length === 0) throw new Error('Maven copied no jars');
    if (!existsSync(jars)) renameSync(join(work, 'jars'), jars);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function pom() {
  const dependency = (group, artifact, version) =>
    `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version></dependency>`;
  return `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>laddercast</groupId><artifactId>broker</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    ${dependency('org.apache.kafka', 'kafka_2.13', kafkaVersion)}
    ${dependency('org.apache.logging.log4j', 'log4j-slf4j-impl', loggingVersion)}
  </dependencies>
</project>
`;
}
