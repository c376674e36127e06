import type { FastifyReply, FastifyRequest } from 'fastify'
import { correctionsDecider, findRunning } from '#domain/corrections/decide.ts'
import {
  CORRECTIONS_STREAM,
  type CorrectionScope,
  type FailedAccount,
} from '#domain/corrections/events.ts'
import { toWire } from '#domain/shared/quota.ts'
import { onlyRoot, onlyRootSession, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { invalidField } from '#infra/http/http-error-class-and-catalogue.ts'
import { success } from '#infra/http/response-envelope.ts'
import { accountsOf } from '#projections/balances/query.ts'
import { sumsOfCorrection } from '#projections/corrected-calls/query.ts'
import { type Action, accepted, contextOf, type Deps, waitUntilVisible } from '../action.ts'
import { correctionActions } from '../contract/repricing-and-corrections.ts'
import { requireRecentLogin } from '../credentials/identity-proof.ts'
import { correctionError } from './audit-errors.ts'
import {
  type ConfirmedPreview,
  decodePreview,
  encodePreview,
  priceChangeOf,
} from './encode-and-decode-correction-preview.ts'
import { type CorrectionPlan, planCorrection, sumChanges } from './plan-charge-correction.ts'
import { AccountsUnavailable, runCorrection } from './run-correction.ts'
import { checkRange } from './scan-ended-calls.ts'

const USERS_MAX = 100
const CALLS_SHOWN_MAX = 100
const FRESH_WITHIN_MS = 5_000

/**
 * POST /api/audit/corrections/preview: returns the charges that a correction would change. A
 * correction charges ended calls again at another price.
 */
export const previewCorrection: Action = (api, deps) => {
  api.route({
    ...endpoint(correctionActions, 'POST /api/audit/corrections/preview'),
    onRequest: onlyRoot,
    handler: async ({ body }) => {
      checkRange(body)
      const { model, group = null, from, to } = body
      const price = priceChangeOf(body.price)
      const { corrections } = await stateOf(deps)
      const running = findRunning(corrections, { model, group, from, to })
      if (running !== null) throw correctionError('CorrectionRunning', { id: running.id })
      const upTo = await deps.core.store.headPosition()
      const scope = { model, group, from, to, price, upTo, base: corrections.length }
      const plan = await computePlan(deps, scope, null)
      const { id, sums, skipped } = plan
      const accounts = await payableAccounts(deps, plan)
      const unpaid = accounts.reduce((sum, account) => sum + account.unpaid, 0)
      const skipped_calls = plan.skippedCalls.map(({ call, userId, reason }) => ({
        ...{ request_id: call, user_id: userId, reason },
      }))
      return success({
        ...{ preview: encodePreview({ id, scope }), id, ...sums, unpaid, skipped, skipped_calls },
        ...{ users: accounts.slice(0, USERS_MAX), largest: largestChanges(plan) },
      })
    },
  })
}

const stateOf = ({ core }: Deps) => core.actors.peek(correctionsDecider, CORRECTIONS_STREAM)

/**
 * Computes the plan of a correction. First waits until the usage log and the balances include all
 * events up to the scope's position, because the plan finds the users in the log. Throws
 * `CallLogBehind` after five seconds. Throws `CorrectionPreviewOutdated` if the history does not
 * reach this position.
 */
async function computePlan(deps: Deps, scope: CorrectionScope, ownId: string | null) {
  if (scope.upTo > (await deps.core.store.headPosition())) {
    throw correctionError('CorrectionPreviewOutdated')
  }
  const isFresh = await deps.freshness.waitFor(
    ['call-log', 'balances'],
    scope.upTo,
    FRESH_WITHIN_MS,
  )
  if (!isFresh) throw correctionError('CallLogBehind')
  return deps.runExclusive('correction-plan', () => planCorrection(deps.core, scope, ownId))
}

/**
 * Returns the accounts of a plan, largest amounts first. `unpaid` is the part of an account's
 * additional charges that its present balance could not pay. Refunds are added to the balance
 * before additional charges are deducted.
 */
async function payableAccounts({ core }: Deps, { accounts }: CorrectionPlan) {
  const present = await accountsOf(
    core.db,
    accounts.map(({ userId }) => userId),
  )
  const size = ({ amount }: { readonly amount: number }) => Math.abs(amount)
  return accounts
    .map(({ userId, calls }) => {
      const { refunded, charged } = sumChanges(calls)
      const balance = (present.get(userId)?.balance ?? 0n) + refunded
      const payable = balance > 0n ? balance : 0n
      const unpaid = charged > payable ? charged - payable : 0n
      const amounts = { amount: toWire(charged - refunded), unpaid: toWire(unpaid) }
      return { user_id: userId, calls: calls.length, ...amounts }
    })
    .sort((one, other) => size(other) - size(one))
}

function largestChanges({ accounts }: CorrectionPlan) {
  const size = (one: { readonly charged: number; readonly corrected: number }) =>
    Math.abs(one.corrected - one.charged)
  return accounts
    .flatMap(({ userId, calls }) =>
      calls.map(({ call, charge, corrected }) => ({
        ...{ request_id: call, user_id: userId },
        ...{ charged: toWire(charge), corrected: toWire(corrected) },
      })),
    )
    .sort((one, other) => size(other) - size(one))
    .slice(0, CALLS_SHOWN_MAX)
}

/**
 * POST /api/audit/corrections: applies a correction that was previewed. The plan is computed again
 * and must equal the plan of the preview. An interrupted correction is continued by a background
 * job, or by the same request if it is sent again. Each account applies each batch of the
 * correction only once. If the correction has already finished, only its result is returned.
 */
export const applyCorrection: Action = (api, deps) => {
  api.route({
    ...endpoint(correctionActions, 'POST /api/audit/corrections'),
    onRequest: onlyRootSession,
    handler: async (request, reply) => {
      await requireRecentLogin(deps, request)
      const { preview, reason } = request.body
      const text = reason.trim()
      if (text === '') throw invalidField('reason', { zh: '请填写原因', en: 'must not be empty' })
      const confirmed = decodePreview(preview)
      const existing = await findCorrection(deps, confirmed.id)
      if (existing?.finishedAt == null) await apply(deps, request, reply, confirmed, text)
      const { planned: sums, failed = [] } = (await findCorrection(deps, confirmed.id)) ?? {}
      const { calls = 0, accounts = 0 } = sums ?? {}
      const applied = await sumsOfCorrection(deps.core.db, confirmed.id)
      const shown = { id: confirmed.id, calls, accounts, applied }
      return success({ ...shown, failed: failed.map(failedOf) })
    },
  })
}

const failedOf = ({ userId, calls, code }: FailedAccount) => ({ user_id: userId, calls, code })

const findCorrection = async (deps: Deps, correctionId: string) =>
  (await stateOf(deps)).corrections.find(({ id }) => id === correctionId)

async function apply(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  { id, scope }: ConfirmedPreview,
  reason: string,
): Promise<void> {
  const { actors, vault, now } = deps.core
  const plan = await computePlan(deps, scope, id)
  if (plan.id !== id) throw correctionError('CorrectionPreviewOutdated')
  if (plan.accounts.length === 0) throw correctionError('CorrectionEmpty')
  const context = contextOf(deps, request)
  const { userId: requestedBy } = principalOf(request)
  const note = await vault.seal(requestedBy, reason)
  const terms = { id, scope, planned: plan.sums, note, requestedBy, startedAt: now() }
  const start = { type: 'StartCorrection', ...terms } as const
  accepted(await actors.handle(correctionsDecider, CORRECTIONS_STREAM, start, context))
  // Another admin may have started this correction before. In this case, the stored correction,
  // which names that admin, is continued.
  const correction = (await findCorrection(deps, id)) ?? terms
  const position = await runCorrection(deps, correction, plan).catch((error: unknown) => {
    if (error instanceof AccountsUnavailable) throw correctionError('CorrectionUnfinished')
    throw error
  })
  const changed = ['balances', 'call-log', 'corrected-calls', 'usage-by-hour', 'ledger'] as const
  await waitUntilVisible(deps, reply, [...changed, 'channels'], position)
}
