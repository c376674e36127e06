import { setTimeout as delay } from 'node:timers/promises'
import { accountDecider } from '#domain/accounts/decide.ts'
import { accountStream } from '#domain/accounts/events.ts'
import {
  CORRECTIONS_STREAM,
  type Correction,
  correctionsDecider,
  type FailedAccount,
} from '#domain/corrections/events.ts'
import type { Core } from '#infra/core-dependencies.ts'
import type { CommandContext } from '#infra/event-store/stream-actors-port.ts'
import type { HeldLease } from '#infra/leases/exclusive-leases.ts'
import { reasonOf, warnThrottled } from '#infra/telemetry/log.ts'
import { accepted, type Deps } from '../action.ts'
import { type CorrectionPlan, type PlannedAccount, planAgain } from './plan-correction.ts'

/** The number of calls in one event. */
const BATCH_CALLS = 100
const FRESH_WITHIN_MS = 5_000
const LOOK_EVERY_MS = 5_000
/** A correction that started before is continued. Until then, its request is probably at work. */
const LEFT_AFTER_MS = 15_000
/**
 * The number of passes in which an account may fail although the event store answers. The
 * correction then ends without it.
 */
const PASSES_MAX = 10

type RunDeps = { readonly core: Pick<Core, 'actors' | 'store' | 'now' | 'log'> }
type Running = Pick<Correction, 'id' | 'scope' | 'requestedBy'>

/** An account that could not be read or written. `code` is null if it may work again. */
type Failure = { readonly account: PlannedAccount; readonly code: string | null }

/**
 * Applies the plan of a correction and records its end. It can be called again, and by several
 * processes at once, because each account applies each batch once. An account that fails does not
 * delay the others. In the last pass, it is named in the end of the correction, and the next
 * preview contains its calls again. Before, this throws. Returns the position of the end.
 */
export async function runCorrection(
  { core }: RunDeps,
  correction: Running,
  plan: CorrectionPlan,
  isLastPass = false,
): Promise<number> {
  const { actors, store, now } = core
  const { id } = correction
  // The batches of another plan would not be those that were confirmed.
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
    // In an outage of the whole store, this throws another error, and the pass does not count.
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

/** Some accounts could not be read or written, although the event store answers. */
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

const contextOf = ({ id, requestedBy }: Running, at: number): CommandContext => ({
  actor: `user:${requestedBy}`,
  cause: id,
  at,
})

/** Returns `corrected`, the code of the account's error, or null if the account cannot be used. */
async function tryAccount(
  { actors, now, log }: RunDeps['core'],
  correction: Running,
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
 * Starts to continue corrections that were left unfinished, for instance by a process that died.
 * One process does this at a time.
 */
export const startCorrections = (deps: Deps): HeldLease =>
  deps.core.leases.hold('corrections', async (_lease, lost) => {
    const passes = new Map<string, number>()
    while (!lost.aborted) {
      await continueCorrections(deps, passes).catch((error: unknown) => {
        const fields = { reason: reasonOf(error) }
        warnThrottled(deps.core.log, fields, 'corrections of charges will be continued later')
      })
      await delay(LOOK_EVERY_MS, undefined, { signal: lost, ref: false }).catch(() => {})
    }
  })

/**
 * Continues the corrections that started some time ago. `passes` counts the passes of each in which
 * an account failed. A correction that fails does not delay the others.
 */
export async function continueCorrections(
  deps: Pick<Deps, 'core' | 'freshness' | 'runExclusive'>,
  passes: Map<string, number>,
): Promise<void> {
  const { core, freshness, runExclusive } = deps
  const before = core.now() - LEFT_AFTER_MS
  const left = await core.actors.ask(correctionsDecider, CORRECTIONS_STREAM, ({ corrections }) =>
    corrections.filter(({ finishedAt, startedAt }) => finishedAt === null && startedAt <= before),
  )
  for (const correction of left) {
    const { id, scope } = correction
    // The plan is found in the usage log, which must include all calls of the scope.
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
