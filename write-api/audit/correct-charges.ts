import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  CORRECTIONS_STREAM,
  type CorrectionScope,
  correctionsDecider,
  type FailedAccount,
  findRunning,
} from '#domain/corrections/events.ts'
import { toWire } from '#domain/shared/quota.ts'
import { onlyRoot, onlyRootSession, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { invalidField } from '#infra/http/http-errors.ts'
import { success } from '#infra/http/response-envelope.ts'
import { type Action, accepted, contextOf, type Deps, waitUntilVisible } from '../action.ts'
import { correctionActions } from '../contract/corrections.ts'
import { requireRecentLogin } from '../credentials/identity-proof.ts'
import { correctionError } from './correction-errors.ts'
import {
  type ConfirmedPreview,
  decodePreview,
  encodePreview,
  priceChangeOf,
} from './encode-correction-preview.ts'
import { type CorrectionPlan, planCorrection } from './plan-correction.ts'
import { AccountsUnavailable, runCorrection } from './run-correction.ts'
import { checkRange } from './scan-ended-calls.ts'

const USERS_MAX = 100
const CALLS_SHOWN_MAX = 100
const FRESH_WITHIN_MS = 5_000

/** POST /api/audit/corrections/preview: returns which charges a correction would change. */
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
      const plan = await planned(deps, scope, null)
      const { id, sums, skipped } = plan
      const skipped_calls = plan.skippedCalls.map(({ call, userId, reason }) => ({
        ...{ request_id: call, user_id: userId, reason },
      }))
      return success({
        ...{ preview: encodePreview({ id, scope }), id, ...sums, skipped, skipped_calls },
        ...{ users: largestAccounts(plan), largest: largestChanges(plan) },
      })
    },
  })
}

const stateOf = ({ core }: Deps) => core.actors.peek(correctionsDecider, CORRECTIONS_STREAM)

/**
 * Makes the plan once the usage log includes all calls of the scope. The log is needed, because it
 * names the users who have such calls.
 */
async function planned(deps: Deps, scope: CorrectionScope, ownId: string | null) {
  if (scope.upTo > (await deps.core.store.headPosition())) {
    throw correctionError('CorrectionPreviewOutdated')
  }
  const isFresh = await deps.freshness.waitFor(['call-log'], scope.upTo, FRESH_WITHIN_MS)
  if (!isFresh) throw correctionError('CallLogBehind')
  return deps.runExclusive('correction-plan', () => planCorrection(deps.core, scope, ownId))
}

function largestAccounts({ accounts }: CorrectionPlan) {
  const size = ({ amount }: { readonly amount: number }) => Math.abs(amount)
  return accounts
    .map(({ userId, calls }) => {
      const amount = calls.reduce((sum, call) => sum + call.corrected - call.charge, 0n)
      return { user_id: userId, calls: calls.length, amount: toWire(amount) }
    })
    .sort((one, other) => size(other) - size(one))
    .slice(0, USERS_MAX)
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
 * POST /api/audit/corrections: corrects the charges of a preview. The plan is computed again and
 * must equal the confirmed plan. An interrupted request can be repeated with the same preview. It
 * then continues, because each account applies each batch of a correction only once. If it is not
 * repeated, a background job continues it.
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
      return success({ id: confirmed.id, calls, accounts, failed: failed.map(failedOf) })
    },
  })
}

const failedOf = ({ userId, calls, code }: FailedAccount) => ({ user_id: userId, calls, code })

const findCorrection = async (deps: Deps, wanted: string) =>
  (await stateOf(deps)).corrections.find(({ id }) => id === wanted)

async function apply(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  { id, scope }: ConfirmedPreview,
  reason: string,
): Promise<void> {
  const { actors, vault, now } = deps.core
  const plan = await planned(deps, scope, id)
  if (plan.id !== id) throw correctionError('CorrectionPreviewOutdated')
  if (plan.accounts.length === 0) throw correctionError('CorrectionEmpty')
  const context = contextOf(deps, request)
  const { userId: requestedBy } = principalOf(request)
  const note = await vault.seal(requestedBy, reason)
  const terms = { id, scope, planned: plan.sums, note, requestedBy, startedAt: now() }
  const start = { type: 'StartCorrection', ...terms } as const
  accepted(await actors.handle(correctionsDecider, CORRECTIONS_STREAM, start, context))
  // A request that continues a correction of another admin leaves that admin's name.
  const correction = (await findCorrection(deps, id)) ?? terms
  const position = await runCorrection(deps, correction, plan).catch((error: unknown) => {
    if (error instanceof AccountsUnavailable) throw correctionError('CorrectionUnfinished')
    throw error
  })
  const changed = ['balances', 'call-log', 'corrected-calls', 'usage-by-hour', 'ledger'] as const
  await waitUntilVisible(deps, reply, [...changed, 'channels'], position)
}
