import { Kafka, logLevel } from 'kafkajs';

const topic = 'floor';
const partitions = 2;

/**
 * Events a second that an idempotent producer of kafkajs gets acknowledged by all replicas, one send in flight.
 * @param load `brokers`: `host:port,…`; `batch`: how many go with one send
 */
export async function kafkaFloor({
  brokers,
  batch,
  seconds,
  event,
}: {
  brokers: string;
  batch: number;
  seconds: number;
  event: string;
}): Promise<number> {
  const kafka = new Kafka({ clientId: 'floor', brokers: brokers.split(','), logLevel: logLevel.ERROR });
  const admin = kafka.admin();
  await admin.connect();
  await admin.createTopics({ topics: [{ topic, numPartitions: partitions }], waitForLeaders: true });
  await admin.disconnect();
  const producer = kafka.producer({ idempotent: true, maxInFlightRequests: 1 });
  await producer.connect();
  try {
    const startedAt = performance.now();
    const endsAt = startedAt + 1000 * seconds;
    let sent = 0;
    for (let round = 0; performance.now() < endsAt; round += 1) {
      const messages = Array.from({ length: batch }, (_, index) => ({ key: `player-${index}`, value: event }));
      await producer.send({
        topic,
        acks: -1,
        messages: messages.map((one) => ({ ...one, partition: round % partitions })),
      });
      sent += batch;
    }
    return (1000 * sent) / (performance.now() - startedAt);
  } finally {
    await producer.disconnect();
  }
}
