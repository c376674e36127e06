import { setTimeout as delay } from 'node:timers/promises'
import { accountDecider } from '#domain/accounts/decide.ts'
import { accountStream } from '#domain/accounts/events.ts'
import { type Correction, correctionsDecider } from '#domain/corrections/decide.ts'
import { CORRECTIONS_STREAM, type FailedAccount } from '#domain/corrections/events.ts'
import type { Core } from '#infra/core-dependencies.ts'
import type { CommandContext } from '#infra/event-store/stream-actors-port.ts'
import type { HeldLease } from '#infra/leases/exclusive-leases.ts'
import { reasonOf, warnThrottled } from '#infra/telemetry/log.ts'
import { accepted, type Deps } from '../action.ts'
import { type CorrectionPlan, type PlannedAccount, planAgain } from './plan-charge-correction.ts'

/** The maximum number of calls that one event corrects. */
const BATCH_CALLS = 100
const FRESH_WITHIN_MS = 5_000
const CHECK_INTERVAL_MS = 5_000
/**
 * The background job continues only corrections that started more than this time in milliseconds
 * ago. The request that started a newer correction is probably still running.
 */
const ABANDONED_AFTER_MS = 15_000
/**
 * The maximum number of attempts to correct an account that fails although the event store is
 * available. After the last attempt, the correction ends without this account.
 */
const PASSES_MAX = 10

type RunDeps = { readonly core: Pick<Core, 'actors' | 'store' | 'now' | 'log'> }
type RunningCorrection = Pick<Correction, 'id' | 'scope' | 'requestedBy'>

/**
 * An account that could not be corrected. `code` is the code of the error, or null if another
 * attempt may succeed.
 */
type Failure = { readonly account: PlannedAccount; readonly code: string | null }

/**
 * Applies the plan of a correction and records its end. Repeated and concurrent calls do no harm,
 * because each account applies each batch only once. If `plan` is not the confirmed plan, and not
 * only because accounts are unreadable, no account is corrected. An account that fails does not
 * delay other accounts. If an account could not be read or written, this function throws
 * `AccountsUnavailable` after it has tried all accounts, so that another pass is made. In the last
 * pass, or if accounts failed only with error codes, this function records the end of the
 * correction with the failed accounts instead. The next preview contains the calls of these
 * accounts again. Returns the position of the event that records the end.
 */
export async function runCorrection(
  { core }: RunDeps,
  correction: RunningCorrection,
  plan: CorrectionPlan,
  isLastPass = false,
): Promise<number> {
  const { actors, store, now } = core
  const { id } = correction
  // If the plan has changed, its batches differ from the batches that the admin confirmed.
  const isConfirmed = plan.id === id || plan.unreadable.length > 0
  const failures: Failure[] = plan.unreadable.map((userId) => ({
    account: { userId, calls: [], corrected: new Set() },
    code: null,
  }))
  for (const account of plan.accounts) {
    const code = isConfirmed ? await tryAccount(core, correction, account) : PLAN_CHANGED
    if (code !== 'corrected') failures.push({ account, code })
  }
  if (!isLastPass && failures.some(({ code }) => code === null)) {
    // If the whole store is unavailable, this call throws another error, and the pass does not
    // count.
    await store.headPosition()
    throw new AccountsUnavailable()
  }
  const finish = {
    ...({ type: 'FinishCorrection', id, finishedAt: now() } as const),
    failed: failures.map(failedAccount),
  }
  const context = contextOf(correction, now())
  const outcome = await actors.handle(correctionsDecider, CORRECTIONS_STREAM, finish, context)
  return accepted(outcome).position
}

/** Thrown if some accounts could not be read or written although the event store is available. */
export class AccountsUnavailable extends Error {
  override readonly name = 'AccountsUnavailable'
}

const PLAN_CHANGED = 'CorrectionPreviewOutdated'
const UNAVAILABLE = 'AccountUnavailable'

const failedAccount = ({ account, code }: Failure): FailedAccount => ({
  userId: account.userId,
  calls: account.calls.filter(({ call }) => !account.corrected.has(call)).length,
  code: code ?? UNAVAILABLE,
})

const contextOf = ({ id, requestedBy }: RunningCorrection, at: number): CommandContext => ({
  actor: `user:${requestedBy}`,
  cause: id,
  at,
})

/**
 * Corrects one account. Returns `corrected`, or the code of the account's error, or null if the
 * account can't be read or written.
 */
async function tryAccount(
  { actors, now, log }: RunDeps['core'],
  correction: RunningCorrection,
  { userId, calls, corrected }: PlannedAccount,
): Promise<'corrected' | string | null> {
  const { id: correctionId, scope } = correction
  try {
    for (let batch = 0; batch * BATCH_CALLS < calls.length; batch += 1) {
      const part = calls
        .slice(batch * BATCH_CALLS, (batch + 1) * BATCH_CALLS)
        .filter(({ call }) => !corrected.has(call))
      const ids = { userId, correctionId, batch, model: scope.model }
      const command = { type: 'CorrectCharges', ...ids, calls: part } as const
      const context = contextOf(correction, now())
      const outcome = await actors.handle(accountDecider, accountStream(userId), command, context)
      if (!outcome.isDone) return outcome.error.code
    }
    return 'corrected'
  } catch (error) {
    const fields = { reason: reasonOf(error), userId, correctionId }
    warnThrottled(log, fields, 'an account could not be corrected yet')
    return null
  }
}

/**
 * Starts the background job that continues unfinished corrections, such as those of a process that
 * has died. A lease ensures that only one process runs this job.
 */
export const startCorrections = (deps: Deps): HeldLease =>
  deps.core.leases.hold('corrections', async (_lease, lost) => {
    const passes = new Map<string, number>()
    while (!lost.aborted) {
      await continueCorrections(deps, passes).catch((error: unknown) => {
        const fields = { reason: reasonOf(error) }
        warnThrottled(deps.core.log, fields, 'corrections of charges will be continued later')
      })
      await delay(CHECK_INTERVAL_MS, undefined, { signal: lost, ref: false }).catch(() => {})
    }
  })

/**
 * Continues the unfinished corrections that started more than `ABANDONED_AFTER_MS` ago. `passes`
 * contains, for each correction, the number of passes in which an account could not be read or
 * written. A failing correction does not delay other corrections.
 */
export async function continueCorrections(
  deps: Pick<Deps, 'core' | 'freshness' | 'runExclusive'>,
  passes: Map<string, number>,
): Promise<void> {
  const { core, freshness, runExclusive } = deps
  const before = core.now() - ABANDONED_AFTER_MS
  const left = await core.actors.ask(correctionsDecider, CORRECTIONS_STREAM, ({ corrections }) =>
    corrections.filter(({ finishedAt, startedAt }) => finishedAt === null && startedAt <= before),
  )
  for (const correction of left) {
    const { id, scope } = correction
    // The plan finds the users in the usage log, which must include all calls in the scope.
    if (!(await freshness.waitFor(['call-log'], scope.upTo, FRESH_WITHIN_MS))) continue
    const pass = (passes.get(id) ?? 0) + 1
    try {
      const plan = await runExclusive('correction-plan', () => planAgain(core, correction))
      await runCorrection(deps, correction, plan, pass >= PASSES_MAX)
      passes.delete(id)
    } catch (error) {
      if (error instanceof AccountsUnavailable) passes.set(id, pass)
      const fields = { reason: reasonOf(error), correctionId: id, pass }
      warnThrottled(core.log, fields, 'a correction of charges will be continued later')
    }
  }
}
