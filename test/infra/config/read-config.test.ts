import { describe, expect, it } from 'vitest'
import { ConfigError } from '#infra/config/config-types.ts'
import { readConfig } from '#infra/config/read-config.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { createNoteSigner } from '#infra/transparency-log/note-signer.ts'
import { refuseOwnKeyAsWitness } from '#infra/transparency-log/open-log.ts'

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

describe('the witnesses of the transparency log', () => {
  const [one, other] = [Buffer.alloc(32, 7), Buffer.alloc(32, 8)]
  const witness = (name: string, key: Buffer, kind: 'witnessKey' | 'verifierKey' = 'witnessKey') =>
    `${createNoteSigner(name, key)[kind]} https://${name}`
  const read = (...texts: string[]) => readConfig({ TRANSPARENCY_LOG_WITNESSES: texts.join(',') })

  it('each have their own key', () => {
    const { witnesses } = read(
      witness('a.example', one),
      witness('b.example', other),
    ).transparencyLog
    expect(witnesses).toHaveLength(2)
  })

  it.each([
    ['twice', witness('a.example', one)],
    ['under another name', witness('b.example', one)],
  ])('are refused if a key is given %s', (_, repeated) => {
    const attempt = () => read(witness('a.example', one), witness('c.example', other), repeated)
    expect(attempt).toThrow(ConfigError)
    expect(attempt).toThrow(/^TRANSPARENCY_LOG_WITNESSES: .* the same key as "a\.example"/)
  })

  const right = witness('b.example', other)
  it.each([
    ['for another kind of signature', witness('b.example', other, 'verifierKey'), /the kind 4/],
    ['with a wrong hash', right.replace(/\+[0-9a-f]{8}/, '+00000000'), /the hash of the key b\.ex/],
    ['with a wrong length', right.replace(/.{4} /, ' '), /name\+hash\+base64/],
    ['under a name that has another key', witness('a.example', other), /"a\.example" has two keys/],
  ])('are refused if a key is given %s', (_, wrong, reason) => {
    const attempt = () => read(witness('a.example', one), wrong)
    expect(attempt).toThrow(ConfigError)
    expect(attempt).toThrow(/^TRANSPARENCY_LOG_WITNESSES: /)
    expect(attempt).toThrow(reason)
  })

  it('are refused if this site would confirm its own history', () => {
    const seed = Buffer.alloc(32, 9).toString('hex')
    const vault = { keyedHash: () => seed } as unknown as Core['vault']
    const config = read(witness('c.example', Buffer.from(seed, 'hex')))
    const attempt = () => refuseOwnKeyAsWitness({ config, vault })
    expect(attempt).toThrow(
      /^TRANSPARENCY_LOG_WITNESSES: "c\.example" has a key of this site itself/,
    )
    // The key that is derived from SECRET_KEY can have signed this log before another one was set.
    const vaultOf = (own: string, rest: Buffer) => {
      const keyedHash = (_: string, use: string) => (use === own ? seed : rest.toString('hex'))
      return { keyedHash } as unknown as Core['vault']
    }
    for (const use of ['log', 'witness']) {
      const transparencyLog = { ...config.transparencyLog, key: Buffer.alloc(32, 10) }
      const core = { config: { ...config, transparencyLog }, vault: vaultOf(use, one) }
      expect(() => refuseOwnKeyAsWitness(core)).toThrow(ConfigError)
    }
    expect(() => refuseOwnKeyAsWitness({ config: read(right), vault })).not.toThrow()
  })
})
