import type { Core } from '#infra/core-dependencies.ts'
import type { Outbound } from '#infra/outbound/outbound-connections.ts'
import type { ProviderMessages } from '#infra/provider-messages/store-provider-error-messages.ts'
import type { TokenUsage } from '#projections/tokens/query.ts'
import type { ClaimedCalls } from '#relay/idempotency/idempotency-claims.ts'
import type { FailedKeys } from '#relay/limits/block-key-guessing.ts'
import type { BodyMemory } from '#relay/limits/body-memory.ts'
import type { ConcurrencyCaps, RunningCallCount } from '#relay/limits/limits-on-running-calls.ts'
import type { ClientSecrets } from '#relay/realtime/client-secret-store.ts'
import type { StoredResponses } from '#relay/stored-responses/stored-response-owners.ts'
import type { TokenCounter } from '#relay/token-counts/token-counter.ts'
import type { Views } from '#relay/views/start-views.ts'
import type { BatchStore } from '../batches/batch-store.ts'
import type { FileStore } from '../batches/file-record-store.ts'
import type { CircuitBreaker } from '../channel-health/circuit-breaker.ts'
import type { UnorderedList } from '../unordered-list.ts'
import type { SpoolFolder } from '../uploads/spool-folder.ts'
import type { ChannelAutoDisabler } from './auto-disable-channel.ts'
import type { BalanceCheck } from './balance-check-of-running-calls.ts'
import type { Deadlines, DeadlineTimer } from './call-deadlines-and-timer.ts'
import type { Cancellations } from './cancel-background-responses.ts'
import type { KeySelector } from './choose-channel-key.ts'
import type { RetryBudget } from './retry-budget.ts'
import type { RunningCall } from './running-call.ts'
import type { SessionAffinity } from './session-affinity.ts'

/** The dependencies of all relay code. Most functions pick the few that they use. */
export type RelayDeps = Pick<Core, 'actors' | 'limits' | 'vault' | 'log' | 'now'> & {
  readonly views: Views
  readonly outbound: Outbound
  /** Connections to addresses that providers choose. Only public addresses are allowed. */
  readonly publicOutbound: Outbound
  readonly counter: TokenCounter
  readonly failedKeys: FailedKeys
  readonly runningCallCount: RunningCallCount
  readonly concurrencyCaps: ConcurrencyCaps
  readonly bodyMemory: BodyMemory
  /** The memory in which the results of batches are read to bill them. */
  readonly settlementMemory: BodyMemory
  readonly uploads: SpoolFolder
  readonly breaker: CircuitBreaker
  readonly autoDisable: ChannelAutoDisabler
  readonly balanceCheck: BalanceCheck
  readonly keySelector: KeySelector
  readonly sessions: SessionAffinity
  readonly retryBudget: RetryBudget
  readonly timer: DeadlineTimer
  readonly deadlines: Deadlines
  readonly runningCalls: UnorderedList<RunningCall>
  readonly cancellations: Cancellations
  readonly claimedCalls: ClaimedCalls
  readonly providerMessages: ProviderMessages
  readonly storedResponses: StoredResponses
  /** Reads the quota of a token and of its user; null for a token that is not known yet. */
  readonly usageOfToken: (userId: number, tokenId: number) => Promise<TokenUsage | null>
  readonly clientSecrets: ClientSecrets
  readonly batchStore: BatchStore
  readonly fileStore: FileStore
}
