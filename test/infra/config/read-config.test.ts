import { describe, expect, it } from 'vitest'
import { ConfigError } from '#infra/config/config.ts'
import { readConfig } from '#infra/config/read-config.ts'

const KEY = Buffer.from(Array.from({ length: 32 }, (_, index) => index)).toString('base64')

describe('an empty environment', () => {
  it('gives the documented defaults', () => {
    const config = readConfig({})
    expect(config).toMatchObject({ port: 3000, host: '127.0.0.1', isLoopback: true })
    expect(config.databaseUrl).toBeNull()
    expect([...config.roles]).toEqual(['write-api', 'read-api', 'projections', 'relay', 'console'])
  })

  it('treats an empty variable as not set', () => {
    expect(readConfig({ PORT: '', HOST: ' ' })).toMatchObject({ port: 3000, host: '127.0.0.1' })
  })
})

describe('a variable that cannot be used', () => {
  const cases: [string, Record<string, string>][] = [
    ['PORT', { PORT: '3000x' }],
    ['PORT', { PORT: '70000' }],
    ['PORT', { PORT: '-1' }],
    ['DATABASE_URL', { DATABASE_URL: 'mysql://x' }],
    ['SECRET_KEY', { DATABASE_URL: 'postgres://u:p@h/db' }],
    ['SECRET_KEY', { SECRET_KEY: 'short' }],
    ['SECRET_KEY', { SECRET_KEY: Buffer.alloc(32).toString('base64') }],
    ['EVENT_STORE', { EVENT_STORE: 'mongodb' }],
    ['EVENT_STORE', { EVENTSTORE_URL: 'esdb://h:2113' }],
    ['EVENTSTORE_URL', { EVENT_STORE: 'eventstoredb' }],
    ['EVENTSTORE_URL', { EVENT_STORE: 'eventstoredb', EVENTSTORE_URL: 'http://h:2113' }],
    ['KAFKA_BROKERS', { KAFKA_BROKERS: 'kafka' }],
    ['KAFKA_BROKERS', { KAFKA_BROKERS: 'a:9092,b:99999' }],
    ['REDIS_URL', { REDIS_URL: 'http://h:6379' }],
    ['RELAY_WORKERS', { RELAY_WORKERS: '0' }],
    ['RELAY_WORKERS', { RELAY_WORKERS: '2.5' }],
    ['ROLES', { ROLES: 'relay,cook' }],
    ['ROLES', { ROLES: ',' }],
    ['LOG_LEVEL', { LOG_LEVEL: 'loud' }],
    ['TRUST_PROXY', { TRUST_PROXY: 'true' }],
    ['TRUST_PROXY', { TRUST_PROXY: '10.0.0.0/40' }],
    ['PRIVATE_UPSTREAMS', { PRIVATE_UPSTREAMS: 'model-server:80' }],
    ['PRIVATE_UPSTREAMS', { PRIVATE_UPSTREAMS: '10.0.0.1:0' }],
  ]
  it.each(cases)('is named in the error: %s in %j', (variable, environment) => {
    const attempt = () => readConfig(environment)
    expect(attempt).toThrow(ConfigError)
    expect(attempt).toThrow(new RegExp(`^${variable}: `))
  })
})

describe('engines', () => {
  it('are the built-in ones unless the environment names others', () => {
    const builtIn = { eventStore: { url: null }, kafkaBrokers: [], redisUrl: null, relayWorkers: 1 }
    expect(readConfig({})).toMatchObject(builtIn)
    const named = {
      EVENT_STORE: 'eventstoredb',
      EVENTSTORE_URL: 'esdb+discover://a:2113,b:2113?tls=false',
      KAFKA_BROKERS: 'k1:9092, [::1]:9093',
      REDIS_URL: 'rediss://:secret@r:6380/1',
      RELAY_WORKERS: '4',
    }
    expect(readConfig(named)).toMatchObject({
      eventStore: { url: named.EVENTSTORE_URL },
      kafkaBrokers: ['k1:9092', '[::1]:9093'],
      redisUrl: named.REDIS_URL,
      relayWorkers: 4,
    })
  })
})

describe('lists and keys', () => {
  it('private upstreams are read with and without prefix lengths and ports', () => {
    const { privateUpstreams } = readConfig({
      PRIVATE_UPSTREAMS: '10.0.5.0/24:8000, 127.0.0.1:11434,[fd00::/8]:80,10.1.1.1',
    })
    expect(privateUpstreams).toEqual([
      { cidr: '10.0.5.0/24', port: 8000 },
      { cidr: '127.0.0.1/32', port: 11434 },
      { cidr: 'fd00::/8', port: 80 },
      { cidr: '10.1.1.1/32', port: null },
    ])
  })

  it('takes a secret key of 32 bytes with an external database', () => {
    const config = readConfig({ DATABASE_URL: 'postgres://u:p@h/db', SECRET_KEY: KEY })
    expect(config.secretKey).toHaveLength(32)
  })
})
