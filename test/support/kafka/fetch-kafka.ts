import { mavenKafka } from './maven-kafka.ts'

/** Downloads Kafka before the tests, so that no test waits for the download. Never fails. */
const found = await mavenKafka()
console.log('libs' in found ? `Kafka is in ${found.libs}` : `no Kafka: ${found.missing}`)
