import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { type Config, ConfigError, type Role } from './config-types.ts'
import { bytesOf, listOf, transparencyLogOf } from './transparency-log-config.ts'

type Environment = Readonly<Record<string, string | undefined>>
type Read = (name: string) => string | null

const ROLES: readonly Role[] = ['write-api', 'read-api', 'projections', 'relay', 'console']
const LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']
const WORKERS_MAX = 64

/**
 * Parses the environment. An empty variable counts as unset. Throws `ConfigError` for an invalid
 * variable.
 */
export function readConfig(environment: Environment): Config {
  const read: Read = (name) => environment[name]?.trim() || null
  const host = read('HOST') ?? '127.0.0.1'
  const databaseUrl = databaseUrlOf(read('DATABASE_URL'))
  const secretKey = bytesOf('SECRET_KEY', read('SECRET_KEY'))
  if (databaseUrl !== null && secretKey === null) {
    throw new ConfigError(
      'SECRET_KEY',
      'must be given together with DATABASE_URL: 32 random bytes as base64, ' +
        'for example from `openssl rand -base64 32`',
    )
  }
  return {
    port: portOf(read('PORT')),
    host,
    isLoopback: host === 'localhost' || host === '::1' || /^127\./.test(host),
    dataDir: resolve(read('DATA_DIR') ?? '.data'),
    databaseUrl,
    roles: rolesOf(read('ROLES')),
    secretKey,
    logLevel: oneOf('LOG_LEVEL', read('LOG_LEVEL') ?? 'info', LEVELS),
    trustProxy: listOf(read('TRUST_PROXY')).map((cidr) => cidrOf('TRUST_PROXY', cidr)),
    privateUpstreams: listOf(read('PRIVATE_UPSTREAMS')).map(privateUpstreamOf),
    metricsToken: read('METRICS_TOKEN'),
    stripeApiBase: stripeApiBaseOf(read('STRIPE_API_BASE')),
    transparencyLog: transparencyLogOf(read),
    ...enginesOf(read),
  }
}

function portOf(text: string | null): number {
  if (text === null) return 3000
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > 65_535) {
    throw new ConfigError('PORT', `must be a whole number from 0 to 65535, not "${text}"`)
  }
  return port
}

function stripeApiBaseOf(text: string | null): string | null {
  if (text === null) return null
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol) || url.pathname !== '/') {
    throw new ConfigError('STRIPE_API_BASE', 'must look like https://host or http://127.0.0.1:4010')
  }
  return url.origin
}

function databaseUrlOf(text: string | null): string | null {
  if (text === null) return null
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol)) {
    throw new ConfigError('DATABASE_URL', 'must look like postgres://user:password@host:5432/name')
  }
  return text
}

function rolesOf(text: string | null): ReadonlySet<Role> {
  if (text === null) return new Set(ROLES)
  const roles = listOf(text).map((name) => oneOf('ROLES', name, ROLES))
  if (roles.length === 0) throw new ConfigError('ROLES', `must name some of ${ROLES.join(', ')}`)
  return new Set(roles)
}

function oneOf<T extends string>(variable: string, text: string, allowed: readonly T[]): T {
  const found = allowed.find((name) => name === text)
  if (found === undefined) {
    throw new ConfigError(variable, `"${text}" is not one of ${allowed.join(', ')}`)
  }
  return found
}

function cidrOf(variable: string, text: string): string {
  const [address = '', bits] = text.split('/')
  const family = isIP(address)
  const bitsMax = family === 4 ? 32 : 128
  const isPrefixValid = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= bitsMax)
  if (family === 0 || !isPrefixValid) {
    throw new ConfigError(variable, `"${text}" is not an address or CIDR, such as 10.0.0.0/8`)
  }
  return bits === undefined ? `${address}/${bitsMax}` : text
}

/**
 * Parses an address or a CIDR block with an optional port: `10.0.5.0/24:8000`, `127.0.0.1:11434` or
 * `[fd00::1]:80`. An entry without a port, such as `10.0.5.7`, allows every port.
 */
function privateUpstreamOf(text: string): Config['privateUpstreams'][number] {
  const match = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(text)
  const port = match?.[3] === undefined ? null : Number(match[3])
  if (match === null || (port !== null && (port < 1 || port > 65_535))) {
    throw new ConfigError('PRIVATE_UPSTREAMS', `"${text}" must look like 10.0.5.0/24:8000`)
  }
  return { cidr: cidrOf('PRIVATE_UPSTREAMS', match[1] ?? match[2] ?? ''), port }
}

type Engines = Pick<Config, 'eventStore' | 'kafkaBrokers' | 'redisUrl' | 'relayWorkers'>

/**
 * Parses the settings of the optional services (EventStoreDB, Kafka and Redis) and the number of
 * relay workers. Throws `ConfigError`.
 */
const enginesOf = (read: Read): Engines => ({
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
  const brokers = listOf(text)
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
