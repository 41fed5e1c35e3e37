import { requiredService } from '@laddercast/testing';
import kafkajs from 'kafkajs';

/** Writes messages to a topic of the tests' broker, as another system would; they are there when it resolves. */
export async function writeMessages(
  topic: string,
  messages: { partition: number; key: string; value: string }[],
): Promise<void> {
  const brokers = requiredService('TEST_KAFKA_BROKERS').split(',');
  const kafka = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.NOTHING });
  const producer = kafka.producer({ createPartitioner: kafkajs.Partitioners.DefaultPartitioner });
  await producer.connect();
  try {
    await producer.send({ topic, messages });
  } finally {
    await producer.disconnect();
  }
}
