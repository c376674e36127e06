import type { Config } from './config.ts'
import { ConfigError } from './config-error.ts'

type Engines = Pick<Config, 'eventStore' | 'kafkaBrokers' | 'redisUrl' | 'relayWorkers'>
type Read = (name: string) => string | null

const WORKERS_MAX = 64

/** The engines beside Postgres, each only when its variable names it. Throws `ConfigError`. */
export const enginesOf = (read: Read): Engines => ({
  eventStore: eventStoreOf(read),
  kafkaBrokers: brokersOf(read('KAFKA_BROKERS')),
  redisUrl: redisUrlOf(read('REDIS_URL')),
  relayWorkers: workersOf(read('RELAY_WORKERS')),
})

function eventStoreOf(read: Read): Engines['eventStore'] {
  const named = read('EVENT_STORE')
  const kind = named ?? 'postgres'
  const url = read('EVENTSTORE_URL')
  if (named === null && url !== null) {
    throw new ConfigError(
      'EVENT_STORE',
      'must be given together with EVENTSTORE_URL: "eventstoredb" to use it, else "postgres"',
    )
  }
  if (kind === 'postgres') return { url: null }
  if (kind !== 'eventstoredb') {
    throw new ConfigError('EVENT_STORE', `must be "postgres" or "eventstoredb", not "${kind}"`)
  }
  if (url === null || !/^(esdb|kurrentdb)(\+discover)?:\/\/[^/]+/.test(url)) {
    throw new ConfigError(
      'EVENTSTORE_URL',
      'must be given with EVENT_STORE=eventstoredb and look like esdb://host:2113?tls=false',
    )
  }
  return { url }
}

function brokersOf(text: string | null): readonly string[] {
  const brokers = (text ?? '')
    .split(',')
    .map((broker) => broker.trim())
    .filter((broker) => broker !== '')
  for (const broker of brokers) {
    const port = Number(
      /^[^\s/:]+:(\d{1,5})$|^\[[0-9a-f:]+\]:(\d{1,5})$/i.exec(broker)?.slice(1).find(Boolean),
    )
    if (!(port >= 1 && port <= 65_535)) {
      throw new ConfigError('KAFKA_BROKERS', `"${broker}" must look like host:9092`)
    }
  }
  return brokers
}

function redisUrlOf(text: string | null): string | null {
  if (text === null) return null
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^rediss?:$/.test(url.protocol) || url.hostname === '') {
    throw new ConfigError('REDIS_URL', 'must look like redis://:password@host:6379/0')
  }
  return text
}

function workersOf(text: string | null): number {
  if (text === null) return 1
  const workers = Number(text)
  if (!/^\d+$/.test(text) || workers < 1 || workers > WORKERS_MAX) {
    throw new ConfigError('RELAY_WORKERS', `must be a whole number from 1 to ${WORKERS_MAX}`)
  }
  return workers
}
