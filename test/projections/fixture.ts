import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import type { CallFacts } from '#domain/accounts/events.ts'
import { NO_USAGE } from '#domain/pricing/usage.ts'
import type { Fact, Sealed } from '#domain/shared/event.ts'
import { UNRESTRICTED_TERMS } from '#domain/tokens/events.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { createDirectBus } from '#infra/event-bus/brokerless-bus.ts'
import { createMemoryEventStore } from '#infra/event-store/memory-event-store.ts'
import type { EventStore } from '#infra/event-store/port.ts'
import { createLeases } from '#infra/leases/exclusive-leases.ts'
import { createPools } from '#infra/postgres/pools.ts'
import { PROJECTION_NAMES } from '#projections/projection-names.ts'
import { createFreshness, type Freshness } from '#projections/read-model-freshness/query.ts'
import { type ProjectionRunner, startProjections } from '#projections/runner/start-projections.ts'
import { PLAIN_CHANNEL_TERMS } from '#test/support/channel-terms.ts'
import { perTokenPrice } from '#test/support/per-token-price.ts'
import { siteDatabase } from '#test/support/site-database.ts'
import { testDatabase } from '#test/support/test-database.ts'

export type Fixture = {
  readonly core: Core
  /** The URL of the fixture's database. */
  readonly url: string
  readonly freshness: Freshness
  /** Appends facts to the store and returns the position of the last one. */
  readonly append: (facts: readonly Given[]) => Promise<number>
  /** Waits until every read model includes the position. */
  readonly settled: (position: number) => Promise<void>
  /** Simulates another process on the same database and events. */
  readonly beside: () => Promise<OtherProcess>
  readonly close: () => Promise<void>
}

/** The core of another process, with separate leases, bus and freshness. */
export type OtherProcess = { readonly core: Core; readonly close: () => Promise<void> }

export type Given = Fact & { readonly stream: string; readonly at?: number }

/** The lease time of lanes. It is short, so that tests do not wait long. */
const TTL_MS = 2_000

export const NOW = Date.UTC(2026, 10, 21, 9, 30)

/**
 * A core for read models, with a real Postgres and an event store in memory. The empty tables of
 * the read models are there, because creating them takes longer than most tests. `isEmpty` is for
 * tests in which runners create them.
 */
export async function projectionFixture({ isEmpty = false } = {}): Promise<Fixture> {
  const database = isEmpty ? await testDatabase() : await siteDatabase()
  const pools = await createPools(database.url)
  const store = createMemoryEventStore()
  const log = pino({ level: 'silent' })
  const leases = await createLeases(pools.pg, log)
  const bus = createDirectBus({ store, leases, log, ttlMs: TTL_MS })
  const core = {
    ...pools,
    ...{ store, log, leases, bus },
    now: () => NOW,
    vault: {
      open: async (_user: number, sealed: Sealed) => sealed.replace(/^sealed:/, ''),
      erasureProgress: async () => ({ unfinished: 0, destroyedKeys: 0 }),
    },
  } as unknown as Core
  const freshness = createFreshness(core)
  return {
    core,
    url: database.url,
    freshness,
    append: (facts) => appendTo(store, facts),
    settled: async (position) => {
      const isThere = await freshness.waitFor(PROJECTION_NAMES, position, 20_000)
      if (!isThere) throw new Error(`the read models did not reach ${position}`)
    },
    beside: () => processBeside(core, database.url),
    close: async () => {
      await freshness.stop()
      await bus.close()
      await store.close()
      await pools.close()
      await database.drop()
    },
  }
}

export type RunningProjections = Fixture & {
  readonly runner: ProjectionRunner
  /** Stops the runner, runs `work`, and starts another runner. */
  readonly whileStopped: (work: () => Promise<unknown>) => Promise<void>
}

/** Starts the read models of a new site, which follow its events. */
export async function runningProjections(): Promise<RunningProjections> {
  const fixture = await projectionFixture()
  let runner = await startProjections(fixture.core)
  return {
    ...fixture,
    get runner() {
      return runner
    },
    whileStopped: async (work) => {
      await runner.stop()
      await work()
      runner = await startProjections(fixture.core)
    },
    close: async () => {
      await runner.stop()
      await fixture.close()
    },
  }
}

async function processBeside(core: Core, url: string): Promise<OtherProcess> {
  const pools = await createPools(url)
  const leases = await createLeases(pools.pg, core.log)
  // The signal between runner and readers belongs to a store object, so another process needs
  // another object.
  const store = { ...core.store }
  const bus = createDirectBus({ store, leases, log: core.log, ttlMs: TTL_MS })
  return {
    core: { ...core, ...pools, store, leases, bus },
    close: async () => {
      await bus.close()
      await pools.close()
    },
  }
}

export async function appendTo(store: EventStore, facts: readonly Given[]): Promise<number> {
  const byStream = Map.groupBy(facts, ({ stream }) => stream)
  const { position } = await store.append(
    [...byStream].map(([stream, given]) => ({
      stream,
      expected: 'any' as const,
      events: given.map(({ type, v, data, at }) => ({
        id: randomUUID(),
        type,
        v,
        data,
        meta: { actor: 'user:1', cause: null, at: at ?? NOW },
      })),
    })),
  )
  return position
}

export const sealed = (text: string): Sealed => `sealed:${text}` as Sealed

const fact = (stream: string, type: string, data: object, at?: number): Given => ({
  stream,
  type,
  v: 1,
  data,
  ...(at === undefined ? {} : { at }),
})

export const userCreated = (userId: number, name: string, role = 1): Given =>
  fact(`user-${userId}`, 'UserCreated', {
    userId,
    username: sealed(name),
    displayName: sealed(name.toUpperCase()),
    role,
    group: 'default',
    passwordRef: `password-${userId}`,
    inviterId: null,
  })

export const usernameClaimed = (userId: number, name: string): Given =>
  fact(`username-${name}`, 'UsernameClaimed', { nameKey: name, userId })

export const identityBound = (
  userId: number,
  identityKey: string,
  provider = 'github',
): Given[] => [
  fact(`identity-${provider}-${identityKey}`, 'IdentityClaimed', { provider, identityKey, userId }),
  fact(`user-${userId}`, 'IdentityBound', {
    userId,
    provider,
    identityKey,
    identity: sealed(`id-${identityKey}`),
  }),
]

export const identityUnbound = (userId: number, identityKey: string): Given[] => {
  const of = { provider: 'github', identityKey, userId }
  return [
    fact(`user-${userId}`, 'IdentityUnbound', of),
    fact(`identity-github-${identityKey}`, 'IdentityReleased', of),
  ]
}

export const userErased = (userId: number): Given =>
  fact(`user-${userId}`, 'UserErased', { userId })

/** Version 1 of the event, which contains the name as plain text. */
export const plainTokenCreated = (tokenId: number, userId: number, name: string): Given =>
  fact(`tokens-${userId}`, 'TokensCreated', tokenMade(tokenId, userId, name))

export const tokenCreated = (tokenId: number, userId: number, name: string): Given => ({
  ...fact(`tokens-${userId}`, 'TokensCreated', tokenMade(tokenId, userId, sealed(name))),
  v: 2,
})

export const tokenRenamed = (tokenId: number, userId: number, name: string): Given => {
  const { terms } = tokenMade(tokenId, userId, '')
  const data = { userId, tokenId, terms: { ...terms, name: sealed(name) } }
  return { ...fact(`tokens-${userId}`, 'TokenTermsChanged', data), v: 2 }
}

export const tokensDeleted = (userId: number, tokenIds: readonly number[]): Given =>
  fact(`tokens-${userId}`, 'TokensDeleted', { userId, tokenIds })

const tokenMade = (tokenId: number, userId: number, name: string) => ({
  userId,
  terms: UNRESTRICTED_TERMS,
  tokens: [
    {
      tokenId,
      name,
      keyLookup: `lookup-${tokenId}`,
      keyRef: `key-${tokenId}`,
      keyHint: 'abcd',
    },
  ],
})

export const channelCreated = (channelId: number, name: string, terms: object = {}): Given =>
  fact('channels', 'ChannelsCreated', {
    channels: [{ channelId, name, keyRefs: [`channel-key-${channelId}`] }],
    keyMode: '',
    isEnabled: true,
    terms: {
      ...PLAIN_CHANNEL_TERMS,
      models: ['sim-small', 'sim-large'],
      ...terms,
    },
  })

/** An event of one channel, or of several channels if its type starts with `Channels`. */
export const channelChanged = (channelId: number, type: string, data: object = {}): Given => {
  const isOfSeveral = type.startsWith('Channels')
  const of = isOfSeveral ? { channelIds: [channelId], tag: null } : { channelId }
  return fact('channels', type, { ...of, ...data })
}

export const granted = (userId: number, amount: number, reason = 'admin'): Given =>
  fact(`account-${userId}`, 'QuotaGranted', {
    userId,
    grantId: randomUUID(),
    amount,
    reason,
    postings: [
      [`user:${userId}:main`, amount],
      ['promo', -amount],
    ],
  })

export const deducted = (userId: number, amount: number): Given =>
  fact(`account-${userId}`, 'QuotaDeducted', {
    userId,
    deductionId: randomUUID(),
    amount,
    reason: 'admin',
    postings: [
      [`user:${userId}:main`, -amount],
      ['adjustment', amount],
    ],
  })

export const budgetSet = (
  tokenId: number,
  userId: number,
  remain: number,
  isUnlimited = false,
): Given => fact(`account-${userId}`, 'TokenBudgetSet', { userId, tokenId, remain, isUnlimited })

const PRICE = perTokenPrice({
  ...{ model: '1.25', completion: '4', cacheRead: '0.5', cacheWrite: '1.25' },
})

export const HOLD = 10_000

export const aCall = (facts: Partial<CallFacts> = {}): CallFacts => ({
  call: randomUUID(),
  userId: 1,
  tokenId: 1,
  model: 'sim-small',
  group: 'default',
  isStream: false,
  ...facts,
})

export const admitted = (call: CallFacts, at?: number): Given =>
  fact(
    `account-${call.userId}`,
    'CallAdmitted',
    {
      ...call,
      hold: HOLD,
      price: PRICE,
      leaseUntil: NOW + 60_000,
      clientIp: sealed('203.0.113.77'),
      postings: [
        [`user:${call.userId}:main`, -HOLD],
        [`user:${call.userId}:held`, HOLD],
      ],
    },
    at,
  )

export const settledCall = (call: CallFacts, charge: number, at?: number, channelId = 1): Given =>
  fact(
    `account-${call.userId}`,
    'CallSettled',
    {
      ...call,
      channelId,
      upstreamModel: null,
      usage: { ...NO_USAGE, inputUncached: 400, cacheRead: 600, output: 500 },
      usageSource: 'upstream',
      anomaly: null,
      price: PRICE,
      hold: HOLD,
      charge,
      end: 'done',
      attempts: [{ channelId, status: 200, error: null, latencyMs: 900 }],
      timings: { startedAt: NOW - 1_500, firstByteMs: 320.4, durationMs: 1_499.6 },
      clientIp: sealed('203.0.113.77'),
      postings: [
        [`user:${call.userId}:held`, -HOLD],
        [`user:${call.userId}:main`, HOLD - charge],
        ['revenue', charge],
      ],
    },
    at,
  )

/** The end of a call whose provider's price is known. */
export const costing = (end: Given, cost: number): Given => ({
  ...end,
  data: { ...(end.data as object), costRatio: '0.6', cost },
})

export const releasedCall = (call: CallFacts, at?: number): Given =>
  fact(
    `account-${call.userId}`,
    'CallReleased',
    {
      ...call,
      channelId: null,
      hold: HOLD,
      reason: 'no-channel',
      errorCode: 'NoChannel',
      statusCode: 503,
      attempts: [],
      timings: { startedAt: NOW - 10, firstByteMs: null, durationMs: 10 },
      clientIp: null,
      postings: [
        [`user:${call.userId}:held`, -HOLD],
        [`user:${call.userId}:main`, HOLD],
      ],
    },
    at,
  )

export const interruptedCall = (call: CallFacts, charge: number): Given =>
  fact(`account-${call.userId}`, 'CallInterrupted', {
    ...call,
    channelId: 1,
    usage: { ...NO_USAGE, inputUncached: 100, output: 20 },
    price: PRICE,
    hold: HOLD,
    charge,
    startedAt: NOW - 90_000,
    clientIp: null,
    postings: [
      [`user:${call.userId}:held`, -HOLD],
      [`user:${call.userId}:main`, HOLD - charge],
      ['revenue', charge],
    ],
  })
