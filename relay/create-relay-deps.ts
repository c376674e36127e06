import type { Core } from '#infra/core-dependencies.ts'
import {
  createOutbound,
  MANAGEMENT_LIMITS,
  type OutboundLimits,
} from '#infra/outbound/outbound-connections.ts'
import { operatorPolicy, userPolicy } from '#infra/outbound/outbound-policy.ts'
import {
  createProviderMessages,
  type ProviderMessages,
} from '#infra/provider-messages/store-provider-error-messages.ts'
import { usageOfToken } from '#projections/tokens/query.ts'
import { type BatchStore, createBatchStore } from './batches/batch-store.ts'
import { createFileStore, type FileStore } from './batches/file-record-store.ts'
import { SETTLEMENTS_BYTES_MAX } from './batches/result-memory-and-rate.ts'
import { CircuitBreaker } from './channel-health/circuit-breaker.ts'
import { type ClaimedCalls, createClaimedCalls } from './idempotency/idempotency-claims.ts'
import { FailedKeys } from './limits/block-key-guessing.ts'
import { BodyMemory } from './limits/body-memory.ts'
import {
  type ConcurrencyCaps,
  DEFAULT_CAPS,
  RunningCallCount,
} from './limits/limits-on-running-calls.ts'
import { ChannelAutoDisabler } from './pipeline/auto-disable-channel.ts'
import { BalanceCheck } from './pipeline/balance-check-of-running-calls.ts'
import {
  DEFAULT_DEADLINES,
  type Deadlines,
  DeadlineTimer,
} from './pipeline/call-deadlines-and-timer.ts'
import { Cancellations } from './pipeline/cancel-background-responses.ts'
import { KeySelector } from './pipeline/choose-channel-key.ts'
import type { RelayDeps } from './pipeline/relay-deps.ts'
import { RetryBudget } from './pipeline/retry-budget.ts'
import { SessionAffinity } from './pipeline/session-affinity.ts'
import { type ClientSecrets, createClientSecrets } from './realtime/client-secret-store.ts'
import { boundedStoredResponses } from './stored-responses/limit-running-store-operations.ts'
import {
  createStoredResponses,
  type StoredResponses,
} from './stored-responses/stored-response-owners.ts'
import { createTokenCounter, type TokenCounter } from './token-counts/token-counter.ts'
import { UnorderedList } from './unordered-list.ts'
import { SpoolFolder } from './uploads/spool-folder.ts'
import type { LoadChannels } from './views/apply-channel-events-or-reload.ts'
import { loadChannelRows, loadViewRows, type ViewRows } from './views/load-view-rows.ts'
import { startViews } from './views/start-views.ts'

/** Dependencies that tests replace. */
export type DepsOverrides = {
  readonly deadlines?: Partial<Deadlines>
  readonly caps?: Partial<ConcurrencyCaps>
  readonly rows?: ViewRows
  readonly loadChannels?: LoadChannels
  readonly claimedCalls?: ClaimedCalls
  readonly providerMessages?: ProviderMessages
  readonly storedResponses?: StoredResponses
  readonly clientSecrets?: ClientSecrets
  readonly batchStore?: BatchStore
  readonly fileStore?: FileStore
  readonly counter?: TokenCounter
  readonly bodies?: BodyMemory
  readonly settlementMemory?: BodyMemory
  readonly usageOfToken?: RelayDeps['usageOfToken']
}

const openProviderMessages = ({ pg, log }: Core): Promise<ProviderMessages> =>
  createProviderMessages(pg, (err) => log.warn({ err }, 'messages of providers were not written'))

/**
 * Returns a function that reads the quota of a token. Requests for the same token share one query,
 * so that a client that asks often does not occupy the database.
 */
function usageReader({ db }: Core): RelayDeps['usageOfToken'] {
  const running = new Map<number, ReturnType<RelayDeps['usageOfToken']>>()
  return (userId, tokenId) => {
    const shared = running.get(tokenId)
    if (shared !== undefined) return shared
    const query = usageOfToken(db, userId, tokenId).finally(() => running.delete(tokenId))
    running.set(tokenId, query)
    return query
  }
}

/** Creates the dependencies of all relay code. Resolves when the views are loaded. */
export async function createRelayDeps(core: Core, overrides: DepsOverrides): Promise<RelayDeps> {
  const { actors, callLimits: limits, vault, sharedCache: cache, log, now, config } = core
  const concurrencyCaps = { ...DEFAULT_CAPS, ...overrides.caps }
  const deadlines = { ...DEFAULT_DEADLINES, ...overrides.deadlines }
  const policy = operatorPolicy(config)
  const outboundLimits: OutboundLimits = {
    connectTimeoutMs: deadlines.connectMs,
    headersTimeoutMs: 0,
    bodyTimeoutMs: 0,
    maxResponseBytes: -1,
  }
  const rows = overrides.rows ?? (await loadViewRows(core))
  const loadChannels = overrides.loadChannels ?? (() => loadChannelRows(core))
  const views = await startViews(core, rows, policy, loadChannels)
  const { circuits } = views
  const options = () => views.options.options.health.breaker
  const idleMs = () => views.options.options.sessionIdleMs
  const breaker = new CircuitBreaker({ actors, log, now, circuits, options })
  return {
    actors,
    limits,
    vault,
    log,
    now,
    deadlines,
    views,
    outbound: createOutbound(policy, outboundLimits),
    publicOutbound: createOutbound(userPolicy, { ...MANAGEMENT_LIMITS, maxResponseBytes: -1 }),
    counter: overrides.counter ?? createTokenCounter(),
    failedKeys: new FailedKeys(limits, vault),
    runningCallCount: new RunningCallCount(concurrencyCaps.total),
    concurrencyCaps,
    bodyMemory: overrides.bodies ?? new BodyMemory(),
    settlementMemory: overrides.settlementMemory ?? new BodyMemory(SETTLEMENTS_BYTES_MAX),
    uploads: new SpoolFolder(config.dataDir),
    breaker,
    autoDisable: new ChannelAutoDisabler({ actors, log, now, views }),
    balanceCheck: new BalanceCheck(actors),
    keySelector: new KeySelector(breaker),
    sessions: new SessionAffinity({ vault, cache, idleMs, now }),
    retryBudget: new RetryBudget(),
    timer: new DeadlineTimer(),
    runningCalls: new UnorderedList(),
    cancellations: new Cancellations(deadlines.cancelMs),
    claimedCalls: overrides.claimedCalls ?? (await createClaimedCalls(core.pg)),
    providerMessages: overrides.providerMessages ?? (await openProviderMessages(core)),
    usageOfToken: overrides.usageOfToken ?? usageReader(core),
    storedResponses: boundedStoredResponses(
      overrides.storedResponses ?? (await createStoredResponses(core.pg, core.log)),
    ),
    clientSecrets: overrides.clientSecrets ?? (await createClientSecrets(core.pg)),
    batchStore: overrides.batchStore ?? (await createBatchStore(core.pg)),
    fileStore: overrides.fileStore ?? (await createFileStore(core.pg)),
  }
}
