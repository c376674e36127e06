import { notificationsDecider, WARNING_PAUSE_MS } from '#domain/notifications/decide.ts'
import { notificationsStream } from '#domain/notifications/events.ts'
import { optionInteger, optionValue } from '#domain/options/registry.ts'
import type { Recorded } from '#domain/shared/event.ts'
import type { Core } from '#infra/core.ts'
import { openCheckpoint } from '#infra/event-bus/reader-checkpoint.ts'
import type { Held } from '#infra/leases/leases.ts'
import { webhookErrorOf } from '#infra/outbound/webhook.ts'
import { warnThrottled } from '#infra/telemetry/log.ts'
import { webhookSecret } from '#infra/vault/secrets.ts'
import type { Freshness } from '#projections/freshness/query.ts'
import { type LowAccount, lowAccounts } from '#projections/notifications/query.ts'
import { allOptions } from '#projections/options/query.ts'
import { deliveries, type WarningWays } from './deliver-warning.ts'

const NAME = 'quota-warnings'
/** What lowers a balance for good; a hold alone does not. */
const LOWERING = new Set([
  ...['CallSettled', 'CallInterrupted', 'QuotaDeducted'],
  ...['TopUpReversed', 'RebateReversed'],
])
const READ_MODELS = ['balances', 'users', 'notifications'] as const
const FRESH_WITHIN_MS = 2_000

export type WarningDeps = {
  readonly core: Core
  readonly freshness: Pick<Freshness, 'waitFor'>
  readonly ways: WarningWays
}

/**
 * Tells users that their quota runs low, from the events of accounts, in one process of all that
 * accept commands: whoever holds the lease. What happened while none was running is read first.
 */
export const startQuotaWarnings = (deps: WarningDeps): Held =>
  deps.core.leases.hold(NAME, async (_lease, lost) => {
    const { store, pg } = deps.core
    const bookmark = await openCheckpoint(pg, NAME)
    let from = await bookmark.read()
    if (from === null) {
      // The first time: what was spent before is no news.
      from = await store.headPosition()
      await bookmark.save(from)
    }
    const sends = deliveries(deps.core, deps.ways, lost)
    const onBatch = async (events: readonly Recorded[], position: number): Promise<void> => {
      if (lost.aborted) return
      await warnAbout(deps, events, position, sends.start)
      await bookmark.save(position)
    }
    await follow(deps, from, onBatch, lost).finally(sends.settled)
  })

/** Resolves when the lease is lost; rejects when reading fails, to begin again at the bookmark. */
function follow(
  { core }: WarningDeps,
  from: number,
  onBatch: (events: readonly Recorded[], position: number) => Promise<void>,
  lost: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const subscription = core.store.subscribeAll(from, onBatch, reject, {
      streamPrefixes: ['account-'],
    })
    const stop = () => void subscription.stop().then(resolve, reject)
    if (lost.aborted) stop()
    else lost.addEventListener('abort', stop, { once: true })
  })
}

type Start = (
  account: LowAccount,
  eventId: string,
  values: ReadonlyMap<string, string>,
) => Promise<void>

async function warnAbout(
  { core, freshness }: WarningDeps,
  events: readonly Recorded[],
  position: number,
  start: Start,
): Promise<void> {
  const lowered = events.filter(({ type }) => LOWERING.has(type))
  const userIds = [...new Set(lowered.map(({ data }) => Number(Object(data).userId)))]
  if (userIds.length === 0) return
  if (!(await freshness.waitFor(READ_MODELS, position, FRESH_WITHIN_MS))) {
    throw new Error('the read models are behind: balances will be looked at again')
  }
  const { values } = await allOptions(core.db)
  const siteThreshold = BigInt(optionInteger(values, 'QuotaRemindThreshold'))
  const warnedBefore = core.now() - WARNING_PAUSE_MS
  for (const account of await lowAccounts(core.db, userIds, { siteThreshold, warnedBefore })) {
    // What can't be sent leaves the two hours unspent: it is due once that is mended.
    if (account.means === 'email' && optionValue(values, 'SMTPServer') === '') continue
    if (account.means === 'webhook' && !(await isSendable(core, account))) continue
    const eventId = await claimWarning(core, account)
    if (eventId !== null) await start(account, eventId, values)
  }
}

/** Judged anew: what was saved long ago may not be sent any more, which its owner's page says. */
async function isSendable(
  { vault, log }: Pick<Core, 'vault' | 'log'>,
  { userId, webhookUrl, webhookSecretRef: ref }: LowAccount,
): Promise<boolean> {
  const fault = webhookErrorOf(webhookUrl, await webhookSecret(vault, userId, ref))
  if (fault === null) return true
  warnThrottled(log, { userId, fault }, 'a webhook can not be sent as it was saved')
  return false
}

/** The fact comes first, and is given once: whoever is killed after it has warned nobody twice. */
async function claimWarning(
  { actors, now }: Pick<Core, 'actors' | 'now'>,
  { userId, means, remaining, threshold }: LowAccount,
): Promise<string | null> {
  const at = now()
  const command = { type: 'WarnOfQuota', userId, means, remaining, threshold, at } as const
  const context = { actor: `system:${NAME}`, cause: null, at }
  const stream = notificationsStream(userId)
  const outcome = await actors.handle(notificationsDecider, stream, command, context)
  return outcome.isDone ? (outcome.events[0]?.id ?? null) : null
}
