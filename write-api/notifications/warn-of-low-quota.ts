import { setTimeout as delay } from 'node:timers/promises'
import { notificationsDecider, WARNING_PAUSE_MS } from '#domain/notifications/decide.ts'
import { notificationsStream } from '#domain/notifications/events.ts'
import { optionInteger, optionValue } from '#domain/options/option-registry.ts'
import type { Recorded } from '#domain/shared/event.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { openCheckpoint } from '#infra/event-bus/reader-checkpoint.ts'
import type { HeldLease } from '#infra/leases/exclusive-leases.ts'
import { webhookErrorOf } from '#infra/outbound/webhook-checks.ts'
import { warnThrottled } from '#infra/telemetry/log.ts'
import { webhookSecret } from '#infra/vault/secret-store.ts'
import { type AccountToWarn, accountsToWarnOfLowQuota } from '#projections/notifications/query.ts'
import { allOptions } from '#projections/options/query.ts'
import type { Freshness } from '#projections/read-model-freshness/query.ts'
import { createDeliveries, type WarningTransports } from './deliver-quota-warnings.ts'

const READER_NAME = 'quota-warnings'
/**
 * The types of events that permanently lower a balance. Holds are not included, because a hold sets
 * quota aside only until the call ends.
 */
const BALANCE_LOWERING_TYPES = new Set([
  ...['CallSettled', 'CallInterrupted', 'QuotaDeducted'],
  ...['TopUpReversed', 'RebateReversed', 'ChargeCorrected'],
])
const READ_MODELS = ['balances', 'users', 'notifications'] as const
const FRESH_WITHIN_MS = 2_000
const BATCH_MAX = 500
/**
 * The pause in milliseconds after each batch of events that is not full. The pause limits the
 * number of queries on a busy site.
 */
const PAUSE_MS = 500

export type WarningDeps = {
  readonly core: Core
  readonly freshness: Pick<Freshness, 'waitFor'>
  readonly transports: WarningTransports
}

/**
 * Starts the background job that warns users whose quota is low. Only the process that holds the
 * lease runs this job. The job reads account events from its checkpoint on.
 */
export const startQuotaWarnings = (deps: WarningDeps): HeldLease =>
  deps.core.leases.hold(READER_NAME, async (_lease, lost) => {
    const { store, pg } = deps.core
    const checkpoint = await openCheckpoint(pg, READER_NAME)
    let from = await checkpoint.read()
    if (from === null) {
      // When the job runs for the first time, there is no checkpoint, and all earlier events are
      // skipped.
      from = await store.headPosition()
      await checkpoint.save(from)
    }
    const deliveries = createDeliveries(deps.core, deps.transports, lost)
    const onBatch = async (events: readonly Recorded[], position: number): Promise<void> => {
      if (lost.aborted) return
      await warnAbout(deps, events, position, deliveries.start)
      await checkpoint.save(position)
      if (events.length === BATCH_MAX) return
      await delay(PAUSE_MS, undefined, { signal: lost, ref: false }).catch(() => {})
    }
    await follow(deps, from, onBatch, lost).finally(deliveries.settled)
  })

/**
 * Reads account events until the lease is lost. The promise rejects if a batch of events fails, so
 * that reading starts again at the checkpoint.
 */
function follow(
  { core }: WarningDeps,
  from: number,
  onBatch: (events: readonly Recorded[], position: number) => Promise<void>,
  lost: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const subscription = core.store.subscribeAll(from, onBatch, reject, {
      streamPrefixes: ['account-'],
      maxBatch: BATCH_MAX,
      // Within this time, the subscription of the read models has usually read the same events into
      // memory.
      queryDelayMs: PAUSE_MS,
    })
    const stop = () => void subscription.stop().then(resolve, reject)
    if (lost.aborted) stop()
    else lost.addEventListener('abort', stop, { once: true })
  })
}

type StartDelivery = (
  account: AccountToWarn,
  eventId: string,
  values: ReadonlyMap<string, string>,
) => Promise<void>

async function warnAbout(
  { core, freshness }: WarningDeps,
  events: readonly Recorded[],
  position: number,
  start: StartDelivery,
): Promise<void> {
  const lowered = events.filter(({ type }) => BALANCE_LOWERING_TYPES.has(type))
  const userIds = [...new Set(lowered.map(({ data }) => Number(Object(data).userId)))]
  if (userIds.length === 0) return
  if (!(await freshness.waitFor(READ_MODELS, position, FRESH_WITHIN_MS))) {
    throw new Error('the read models are behind; the events will be read again')
  }
  const { values } = await allOptions(core.db)
  const siteThreshold = BigInt(optionInteger(values, 'QuotaRemindThreshold'))
  const warnedBefore = core.now() - WARNING_PAUSE_MS
  for (const account of await accountsToWarnOfLowQuota(core.db, userIds, {
    siteThreshold,
    warnedBefore,
  })) {
    // Without mail settings, no warning is recorded. A record would delay the next warning by two
    // hours, even if an admin corrects the settings earlier.
    if (account.means === 'email' && optionValue(values, 'SMTPServer') === '') continue
    if (account.means === 'webhook' && !(await canCallWebhook(core, account))) continue
    const eventId = await claimWarning(core, account)
    if (eventId !== null) await start(account, eventId, values)
  }
}

/**
 * Reports whether the webhook can be called. The rules for webhooks may have changed since the
 * address was saved. The user's profile page shows why a webhook cannot be called.
 */
async function canCallWebhook(
  { vault, log }: Pick<Core, 'vault' | 'log'>,
  { userId, webhookUrl, webhookSecretRef: ref }: AccountToWarn,
): Promise<boolean> {
  const error = webhookErrorOf(webhookUrl, await webhookSecret(vault, userId, ref))
  if (error === null) return true
  warnThrottled(log, { userId, error }, 'a saved webhook cannot be called')
  return false
}

/**
 * Records a warning before the warning is sent, so that a crash can't cause a second warning.
 * Returns the event's id, or null if the user must not be warned now.
 */
async function claimWarning(
  { actors, now }: Pick<Core, 'actors' | 'now'>,
  { userId, means, remaining, threshold }: AccountToWarn,
): Promise<string | null> {
  const at = now()
  const command = { type: 'WarnOfQuota', userId, means, remaining, threshold, at } as const
  const context = { actor: `system:${READER_NAME}`, cause: null, at }
  const stream = notificationsStream(userId)
  const outcome = await actors.handle(notificationsDecider, stream, command, context)
  return outcome.isDone ? (outcome.events[0]?.id ?? null) : null
}
