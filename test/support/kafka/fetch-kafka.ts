import { mavenKafka } from './maven-kafka.ts'

/** Fetches Kafka before the tests, so that none of them has to wait for it. Never fails. */
const found = await mavenKafka()
console.log('libs' in found ? `Kafka is in ${found.libs}` : `no Kafka: ${found.missing}`)
