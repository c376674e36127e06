import type { FastifyReply, FastifyRequest } from 'fastify'
import { accountDecider } from '#domain/accounts/decide.ts'
import { accountStream } from '#domain/accounts/events.ts'
import {
  CORRECTIONS_STREAM,
  type CorrectionScope,
  correctionsDecider,
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
} from './correction-preview.ts'
import { type CorrectionPlan, type PlannedAccount, planCorrection } from './plan-correction.ts'
import { checkRange } from './scan-ended-calls.ts'

const USERS_MAX = 100
const CALLS_SHOWN_MAX = 100
const FRESH_WITHIN_MS = 5_000
/** The number of calls in one event. */
const BATCH_CALLS = 100

/** POST /api/audit/corrections/preview: shows which charges a correction would change. */
export const previewCorrection: Action = (api, deps) => {
  api.route({
    ...endpoint(correctionActions, 'POST /api/audit/corrections/preview'),
    onRequest: onlyRoot,
    handler: async ({ body }) => {
      checkRange(body)
      const { model, group = null, from, to } = body
      const price = priceChangeOf(body.price)
      const { corrections } = await stateOf(deps)
      const running = corrections.find(({ finishedAt }) => finishedAt === null)
      if (running !== undefined) throw correctionError('CorrectionRunning', { id: running.id })
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

/** Plans once the usage log, which names the users, includes all calls of the scope. */
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
 * must be the confirmed one. A request that was interrupted is repeated with the same preview: it
 * continues, because each account applies each batch of a correction once.
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
      const { planned: sums } = (await findCorrection(deps, confirmed.id)) ?? {}
      const { calls = 0, accounts = 0 } = sums ?? {}
      return success({ id: confirmed.id, calls, accounts })
    },
  })
}

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
  for (const account of plan.accounts) await correctAccount(deps, request, id, scope, account)
  const finish = { type: 'FinishCorrection', id, finishedAt: now() } as const
  const finished = await actors.handle(correctionsDecider, CORRECTIONS_STREAM, finish, context)
  const { position } = accepted(finished)
  await waitUntilVisible(deps, reply, ['balances', 'call-log'], position)
}

async function correctAccount(
  deps: Deps,
  request: FastifyRequest,
  correctionId: string,
  { model }: CorrectionScope,
  { userId, calls }: PlannedAccount,
): Promise<void> {
  const context = contextOf(deps, request)
  for (let batch = 0; batch * BATCH_CALLS < calls.length; batch += 1) {
    const part = calls.slice(batch * BATCH_CALLS, (batch + 1) * BATCH_CALLS)
    const ids = { userId, correctionId, batch, model }
    const command = { type: 'CorrectCharges', ...ids, calls: part } as const
    const stream = accountStream(userId)
    accepted(await deps.core.actors.handle(accountDecider, stream, command, context))
  }
}
