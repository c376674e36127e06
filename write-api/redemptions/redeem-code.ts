import type { FastifyRequest } from 'fastify'
import { accountDecider } from '#domain/accounts/decide.ts'
import { accountStream } from '#domain/accounts/events.ts'
import {
  type RedemptionRecord,
  type RedemptionState,
  redemptionDecider,
} from '#domain/redemptions/decide.ts'
import { redemptionStream } from '#domain/redemptions/events.ts'
import { isCodedError } from '#domain/shared/coded-error.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { onlyUser, principalOf } from '#infra/http/access-checks.ts'
import { addressKey } from '#infra/http/client-address-hash.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { HttpError, httpError } from '#infra/http/http-error-class-and-catalogue.ts'
import { success } from '#infra/http/response-envelope.ts'
import { isFull, type Permit } from '#infra/limits/port.ts'
import { type Action, accepted, contextOf, type Deps, waitUntilVisible } from '../action.ts'
import { redemptionActions } from '../contract/redemptions.ts'
import { toHttpError } from '../domain-error-catalogue.ts'
import { redemptionError } from './redemption-errors.ts'

const WRONG_PER_MINUTE_MAX = 10
/**
 * The maximum number of wrong codes per minute and IP address. All users at an address share this
 * limit, because one person can have many accounts.
 */
const WRONG_PER_ADDRESS_MAX = 30
const MINUTE_MS = 60_000
const WRONG_PER_HOUR_MAX = 60
const HOUR_MS = 3_600_000

/**
 * Acquires a permit for one attempt to redeem a code. Wrong codes are limited per user and per IP
 * address, because custom keys could be guessed. Throws 429 if a limit is reached.
 */
async function acquireGuessPermit(
  { limits, vault }: Core,
  userId: number,
  ip: string,
): Promise<Permit> {
  const owner = `user:${userId}`
  const claim = (limit: string, max: number, periodMs: number, subject: number | string = userId) =>
    ({
      kind: 'rate',
      key: `wrong-code-${limit}:${subject}`,
      max,
      periodMs,
      isRefundable: true,
    }) as const
  const outcome = await limits.enter(owner, [
    claim('minute', WRONG_PER_MINUTE_MAX, MINUTE_MS),
    claim('hour', WRONG_PER_HOUR_MAX, HOUR_MS),
    claim('address', WRONG_PER_ADDRESS_MAX, MINUTE_MS, addressKey(vault, ip)),
  ])
  if (isFull(outcome)) throw httpError('TooManyRequests', {}, Math.ceil(outcome.waitMs / 1_000))
  return outcome
}

/**
 * The maximum number of attempts to redeem a code. An attempt fails if an admin changes the code at
 * the same time.
 */
const ATTEMPTS_MAX = 10

/**
 * POST /api/user/topup: redeems a code. The code's quota is credited to the caller exactly once.
 */
export const redeemCode: Action = (api, deps) => {
  api.route({
    ...endpoint(redemptionActions, 'POST /api/user/topup'),
    onRequest: onlyUser,
    handler: async (request, reply) => {
      const { userId } = principalOf(request)
      const key = request.body.key.trim()
      if (key === '') throw redemptionError('CodeRequired')
      // A user may send the same correct code several times at once. Only one of these requests can
      // redeem the code, and the other requests must not count as wrong codes. Requests of one user
      // are therefore handled one at a time.
      const done = await deps.runExclusive(`redeem-${userId}`, () => redeem(deps, request, key))
      await waitUntilVisible(deps, reply, ['balances', 'call-log', 'redemptions'], done.position)
      const { quota, isGift } = done.terms
      return success({ quota, is_gift: isGift })
    },
  })
}

const streamOf = ({ vault }: Deps['core'], key: string): string =>
  redemptionStream(vault.keyedHash('redemption-key', key))

/**
 * Redeems a code. The attempt counts as a wrong code only if the code is unknown, disabled, or
 * already used by another user.
 */
async function redeem(deps: Deps, request: FastifyRequest, key: string) {
  const { userId } = principalOf(request)
  const permit = await acquireGuessPermit(deps.core, userId, request.ip)
  let isWrong = false
  try {
    return await appendRedemption(deps, request, key)
  } catch (error) {
    const isInvalid = error instanceof HttpError && error.code === 'CodeInvalid'
    // If the user has already redeemed the code, the attempt does not count as wrong.
    isWrong = isInvalid && !(await hasRedeemed(deps, userId, key))
    throw error
  } finally {
    permit.release({ isRefunded: !isWrong })
  }
}

function hasRedeemed({ core }: Deps, userId: number, key: string): Promise<boolean> {
  const has = ({ code }: RedemptionState) => code?.userIds.has(userId) === true
  return core.actors.ask(redemptionDecider, streamOf(core, key), has)
}

async function appendRedemption(deps: Deps, request: FastifyRequest, key: string) {
  const { actors } = deps.core
  const { userId } = principalOf(request)
  const context = contextOf(deps, request)
  const stream = streamOf(deps.core, key)
  for (let attempt = 1; ; attempt += 1) {
    // The state is not copied, because the state of a gift can be large. The state contains the ids
    // of all users who redeemed the gift.
    const read = await actors.ask(redemptionDecider, stream, (state) => {
      if (state.code === null) return null
      const { id, terms } = state.code
      const steps = stepsFor(stream, { id, terms }, userId, Math.floor(context.at / 1_000))
      // The command is already decided here, although the append decides it again. If a code is
      // popular, most requests are rejected here without reading the account's stream.
      const decided = redemptionDecider.decide(steps[0].command, state)
      return { terms, steps, error: isCodedError(decided) ? decided : null }
    })
    if (read === null) throw redemptionError('CodeInvalid')
    const { terms, steps, error } = read
    if (error !== null) throw toHttpError(error)
    const outcome = await actors.handleTogether(steps, context)
    const isChanged = !outcome.isDone && outcome.error.code === 'CodeChanged'
    if (isChanged && attempt < ATTEMPTS_MAX) continue
    return { terms, position: accepted(outcome).position }
  }
}

type Code = Pick<RedemptionRecord, 'id' | 'terms'>

/**
 * Returns the steps (commands to single streams) that redeem a code. NOTE: the step for the code
 * comes first. In a store without atomic appends to several streams, this step decides whether the
 * code is redeemed. If this step succeeds, the quota is always granted, if necessary by a later
 * repair.
 */
function stepsFor(stream: string, code: Code, userId: number, now: number) {
  const { id: redemptionId, terms } = code
  const amount = BigInt(terms.quota)
  const grantId = `redemption-${redemptionId}`
  const redeem = { type: 'RedeemCode', redemptionId, userId, quota: amount, now } as const
  const grant = { type: 'GrantQuota', userId, grantId, amount, reason: 'redemption' } as const
  return [
    { decider: redemptionDecider, stream, command: redeem },
    { decider: accountDecider, stream: accountStream(userId), command: grant },
  ] as const
}
