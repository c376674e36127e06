import { createHash } from 'node:crypto'
import { type Logger, pino } from 'pino'
import { accountDecider } from '#domain/accounts/decide.ts'
import { type AccountEvent, accountStream } from '#domain/accounts/events.ts'
import { CHANNELS_STREAM, type ChannelTerms } from '#domain/channels/events.ts'
import { OPTIONS_STREAM } from '#domain/options/events.ts'
import type { Fact, Recorded, Sealed } from '#domain/shared/event.ts'
import { type SharedTerms, tokensStream, UNRESTRICTED_TERMS } from '#domain/tokens/events.ts'
import { userStream } from '#domain/users/events.ts'
import { readConfig } from '#infra/config/read-config.ts'
import type { Core } from '#infra/core-dependencies.ts'
import {
  type SimulatedProvider,
  type SimulatedProviderOptions,
  startSimulatedProvider,
} from '#infra/demo/simulated-provider.ts'
import { createMemoryEventStore } from '#infra/event-store/memory-event-store.ts'
import { createMemorySnapshots } from '#infra/event-store/snapshots.ts'
import { createStreamActors } from '#infra/event-store/stream-actors.ts'
import { createMemoryLimits } from '#infra/limits/memory-limits.ts'
import type { Limits } from '#infra/limits/port.ts'
import type { ProviderMessages } from '#infra/provider-messages/store-provider-error-messages.ts'
import type { SharedCache } from '#infra/redis/shared-cache.ts'
import type { TaskProgress } from '#infra/task-progress/store-task-progress.ts'
import type { Gauges } from '#infra/telemetry/gauges-of-all-processes.ts'
import type { Vault } from '#infra/vault/port.ts'
import { type Relay, type RelayOverrides, startRelay } from '#relay/start-relay.ts'
import { createTokenCounter, type TokenCounter } from '#relay/token-counts/token-counter.ts'
import { PLAIN_CHANNEL_TERMS } from '#test/support/channel-terms.ts'
import { sendChat } from '#test/support/send-chat.ts'
import { leasesOfOne } from '#test/support/single-process-leases.ts'
import { serve } from '#test/support/start-http-server.ts'
import { NO_ROWS } from './empty-view-rows.ts'
import { batchesInMemory } from './in-memory-batches.ts'
import {
  claimedCallsInMemory,
  clientSecretsInMemory,
  filesInMemory,
  storedResponsesInMemory,
} from './in-memory-stores.ts'

export const USER = 7
export const TOKEN = 3
export const KEY = 'abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKL'
export const PROVIDER_KEY = 'sk-provider-secret-0123456789'

const hash = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Only what the relay asks of a vault; secrets are `key of <reference>`. */
const vault = {
  keyedHash: (_purpose: string, text: string) => hash(text),
  getSecrets: async (_purpose: string, refs: readonly { ref: string }[]) =>
    new Map(refs.map(({ ref }) => [ref, ref.startsWith('key:') ? ref.slice(4) : PROVIDER_KEY])),
  seal: async (_userId: number, text: string) => text as Sealed,
  open: async (_userId: number, sealed: Sealed) => sealed,
  sealBytes: async (_userId: number, bytes: Uint8Array) => Buffer.from(bytes),
  openBytes: async (_userId: number, sealed: Uint8Array) => Buffer.from(sealed),
  withDataKey: async (userIds: readonly number[]) => [...userIds],
} as unknown as Vault

export type RelayRig = {
  readonly url: string
  readonly core: Core
  readonly relay: Relay
  readonly provider: SimulatedProvider
  readonly addUser: (userId: number, fields?: { role?: 1 | 10; group?: string }) => Promise<void>
  readonly addToken: (
    tokenId: number,
    userId: number,
    key: string,
    terms?: Partial<SharedTerms>,
  ) => Promise<void>
  readonly addChannel: (channelId: number, terms?: Partial<ChannelTerms>) => Promise<void>
  readonly setOption: (key: string, value: unknown) => Promise<void>
  readonly grant: (userId: number, amount: bigint) => Promise<void>
  readonly setBudget: (userId: number, tokenId: number, remain: bigint) => Promise<void>
  readonly append: (stream: string, fact: Fact) => Promise<void>
  /** Events of the user's account, without the grants and budgets the rig made. */
  readonly callEvents: (userId?: number) => Promise<Recorded<AccountEvent>[]>
  readonly eventsOf: (stream: string) => Promise<Recorded[]>
  readonly balance: (userId?: number) => Promise<bigint>
  readonly close: () => Promise<void>
}

/** Nobody looks at what is under way. */
export const noGauges: Gauges = {
  report: async () => {},
  read: async () => [],
  retire: async () => {},
}

/** Nobody looks on. */
export const noProgress: TaskProgress = {
  put: async () => {},
  read: async () => new Map(),
  changedAfter: async () => [],
  mark: async () => 0,
  remove: async () => {},
  sweep: async () => {},
}

/**
 * Starting the thread takes seconds on a busy machine, after which a count would be an estimate.
 * All relays of a test process therefore share one thread, and a count may take longer.
 */
const sharedCounter = createTokenCounter({ waitMs: 60_000, stepMs: 30_000 })
const counter: TokenCounter = { ...sharedCounter, close: async () => {} }

/** For a relay without Postgres. */
export const NO_PROVIDER_MESSAGES: ProviderMessages = {
  add: () => {},
  find: async () => new Map(),
  sweep: async () => {},
  flush: async () => {},
}

/** Of the provider beside it; and the relay's clock. */
export type RigOptions = SimulatedProviderOptions & {
  readonly now?: () => number
  readonly log?: Logger
  readonly sharedCache?: SharedCache
  /** The functions of a real vault that the relay uses. */
  readonly vault?: Partial<Vault>
}

/** The relay on a memory store behind a real server, in front of the simulated provider. */
export async function relayRig(
  overrides: RelayOverrides = {},
  env = {},
  sharedLimits?: Limits,
  { now = Date.now, log = pino({ level: 'silent' }), sharedCache, ...options }: RigOptions = {},
): Promise<RelayRig> {
  const { vault: realVault, ...providing } = options
  const ownLimits = createMemoryLimits(Date.now)
  const store = createMemoryEventStore()
  const snapshots = createMemorySnapshots()
  const core = {
    config: readConfig({ PORT: '0', ...env }),
    store,
    actors: createStreamActors({ store, snapshots, log }),
    vault: { ...vault, ...realVault },
    log,
    leases: leasesOfOne,
    callLimits: sharedLimits ?? ownLimits,
    sharedCache: sharedCache ?? null,
    now,
    writes: { problem: async () => null, isWritable: () => true, stop: () => {} },
  } as unknown as Core
  const { relay, url, close } = await serveRelay(core, overrides)
  const provider = await startSimulatedProvider(providing)
  const ledger = booksOf(core)
  const rig: RelayRig = {
    url,
    core,
    relay,
    provider,
    ...ledger,
    ...builders(core, provider.url, ledger.append),
    close: async () => {
      await close()
      ownLimits.close()
      await provider.close()
      await store.close()
    },
  }
  await rig.addUser(USER)
  await rig.addToken(TOKEN, USER, KEY)
  await rig.grant(USER, 1_000_000_000n)
  await rig.addChannel(1)
  await rig.setOption('ModelRatio', { 'sim-small': 1.25 })
  await rig.setOption('CompletionRatio', { 'sim-small': 4 })
  return rig
}

/** The relay in front of a provider of the test, behind its only channel. */
export async function relayRigBefore(provider: { readonly url: string }): Promise<RelayRig> {
  const rig = await relayRig()
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.addChannel(2, { baseUrl: provider.url })
  return rig
}

/** Starts a relay of this core behind a server, without Postgres. */
export async function serveRelay(core: Core, overrides: RelayOverrides = {}) {
  const relay = await startRelay(core, {
    rows: NO_ROWS,
    findExpired: async () => [],
    claimedCalls: claimedCallsInMemory(),
    providerMessages: NO_PROVIDER_MESSAGES,
    storedResponses: storedResponsesInMemory(),
    clientSecrets: clientSecretsInMemory(),
    batchStore: batchesInMemory(),
    fileStore: filesInMemory(),
    counter,
    gauges: noGauges,
    tasks: { progress: noProgress, findOpenTasks: async () => [] },
    ...overrides,
  })
  // A test may replace the handler later.
  const handle: Relay['handle'] = (request, response) => relay.handle(request, response)
  const server = await serve(handle, relay.upgrade)
  return {
    relay,
    url: server.url,
    close: async () => {
      await relay.close()
      await server.close()
    },
  }
}

function booksOf({ actors, store }: Core) {
  const append = async (stream: string, fact: Fact): Promise<void> => {
    const meta = { actor: 'system:test', cause: null, at: Date.now() }
    await store.append([
      { stream, expected: 'any', events: [{ ...fact, id: crypto.randomUUID(), meta }] },
    ])
    // The relay's views follow by a subscription: give it its turns.
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resume) => setImmediate(resume))
  }
  const events = async (userId = USER) =>
    (await store.readStream(accountStream(userId))) as Recorded<AccountEvent>[]
  return {
    append,
    eventsOf: (stream: string) => store.readStream(stream),
    callEvents: async (userId?: number) =>
      (await events(userId)).filter(({ type }) => type.startsWith('Call')),
    balance: async (userId = USER) => {
      let sum = 0n
      for (const { data } of await events(userId)) {
        for (const [account, amount] of 'postings' in data ? data.postings : []) {
          if (account === `user:${userId}:main`) sum += BigInt(amount)
        }
      }
      return sum
    },
    setBudget: async (userId: number, tokenId: number, remain: bigint) => {
      const context = { actor: 'system:test', cause: null, at: Date.now() }
      const budget = { tokenId, userId, remain, isUnlimited: false }
      const command = { type: 'SetTokenBudget', ...budget } as const
      await actors.handle(accountDecider, accountStream(userId), command, context)
    },
    grant: async (userId: number, amount: bigint) => {
      const context = { actor: 'system:test', cause: null, at: Date.now() }
      const grantId = crypto.randomUUID()
      const command = { type: 'GrantQuota', userId, grantId, amount, reason: 'admin' } as const
      await actors.handle(accountDecider, accountStream(userId), command, context)
    },
  }
}

function builders(
  { actors }: Core,
  providerUrl: string,
  append: (stream: string, fact: Fact) => Promise<void>,
) {
  return {
    addUser: (
      userId: number,
      { role = 1, group = 'default' }: { role?: 1 | 10; group?: string } = {},
    ) =>
      append(userStream(userId), {
        type: 'UserCreated',
        v: 1,
        data: {
          userId,
          username: '',
          displayName: '',
          role,
          group,
          passwordRef: '',
          inviterId: null,
        },
      }),
    addToken: async (
      tokenId: number,
      userId: number,
      key: string,
      terms: Partial<SharedTerms> = {},
    ) => {
      const context = { actor: 'system:test', cause: null, at: Date.now() }
      const budget = { tokenId, userId, remain: 0n, isUnlimited: true }
      const command = { type: 'SetTokenBudget', ...budget } as const
      await actors.handle(accountDecider, accountStream(userId), command, context)
      const name = 'test' as Sealed
      const token = { tokenId, name, keyLookup: hash(key), keyRef: '', keyHint: '' }
      const data = { userId, terms: { ...UNRESTRICTED_TERMS, ...terms }, tokens: [token] }
      await append(tokensStream(userId), { type: 'TokensCreated', v: 2, data })
    },
    addChannel: (channelId: number, terms: Partial<ChannelTerms> = {}) =>
      append(CHANNELS_STREAM, {
        type: 'ChannelsCreated',
        v: 1,
        data: {
          terms: { ...PLAIN_CHANNEL_TERMS, baseUrl: providerUrl, ...terms },
          channels: [{ channelId, name: `channel ${channelId}`, keyRefs: [`ref-${channelId}`] }],
          keyMode: '',
          isEnabled: true,
        },
      }),
    setOption: (key: string, value: unknown) =>
      append(OPTIONS_STREAM, {
        type: 'OptionSet',
        v: 1,
        data: { key, value: typeof value === 'string' ? value : JSON.stringify(value) },
      }),
  }
}

export type Answer = {
  readonly status: number
  readonly text: string
  readonly headers: Headers
}

/** A chat completion by plain fetch, its answer read to the end. */
export async function chat(
  rig: Pick<RelayRig, 'url'>,
  body: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await sendChat(rig.url, `sk-${KEY}`, body, headers)
  return { status: response.status, text: await response.text(), headers: response.headers }
}

export const errorOf = ({
  text,
}: Answer): { message: string; code: string; param: string | null } =>
  (JSON.parse(text) as { error: { message: string; code: string; param: string | null } }).error

/** The end of the only call there was. */
export async function onlyEnd(rig: RelayRig) {
  const events = await rig.callEvents()
  const ends = events.filter(({ type }) => type !== 'CallAdmitted' && type !== 'CallProgressed')
  const [end] = ends
  if (ends.length !== 1 || end === undefined) throw new Error(`${ends.length} ends`)
  if (end.type !== 'CallSettled' && end.type !== 'CallReleased') throw new Error(end.type)
  return end
}

/** Makes the site withhold answers that contain this word. */
export async function stopAnswersWith(
  { setOption }: Pick<RelayRig, 'setOption'>,
  word: string,
): Promise<void> {
  await setOption('SensitiveWords', word)
  for (const key of ['CheckSensitiveEnabled', 'StopOnSensitiveEnabled']) {
    await setOption(key, 'true')
  }
}
