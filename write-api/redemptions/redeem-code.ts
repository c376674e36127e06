import type { FastifyRequest } from 'fastify'
import { accountDecider } from '#domain/account/decide.ts'
import { accountStream } from '#domain/account/events.ts'
import { redemptionDecider } from '#domain/redemption/decide.ts'
import { redemptionStream } from '#domain/redemption/events.ts'
import type { KnownRedemption, RedemptionState } from '#domain/redemption/evolve.ts'
import { isCodedError } from '#domain/shared/coded-error.ts'
import type { Core } from '#infra/core.ts'
import { onlyUser, principalOf } from '#infra/http/access.ts'
import { addressKey } from '#infra/http/address-key.ts'
import { success } from '#infra/http/envelope.ts'
import { HttpError, httpError } from '#infra/http/http-errors.ts'
import { isFull, type Permit } from '#infra/limits/port.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { type Action, accepted, contextOf, type Deps, waitUntilVisible } from '../action.ts'
import { RedeemCode, Redeemed } from '../contract/redemptions.ts'
import { toHttpError } from '../error-catalogue.ts'
import { redemptionError } from './redemption-errors.ts'

const OF_MINUTE_MAX = 10
/** Of one address, whoever asks: accounts cost a guesser nothing. */
const OF_ADDRESS_MAX = 30
const MINUTE_MS = 60_000
const OF_HOUR_MAX = 60
const HOUR_MS = 3_600_000

/**
 * A user has so many wrong codes a minute, and an hour: keys that an admin made up can be guessed.
 * Leave it refunded unless `CodeInvalid` is answered, which says of a code that was disabled or
 * used no more than of one that never was. Throws when there were too many.
 */
async function enterGuess({ limits, vault }: Core, userId: number, ip: string): Promise<Permit> {
  const owner = `user:${userId}`
  const claim = (of: string, max: number, periodMs: number, who: number | string = userId) =>
    ({
      kind: 'rate',
      key: `wrong-code-${of}:${who}`,
      max,
      periodMs,
      isRefundable: true,
    }) as const
  const outcome = await limits.enter(owner, [
    claim('minute', OF_MINUTE_MAX, MINUTE_MS),
    claim('hour', OF_HOUR_MAX, HOUR_MS),
    claim('address', OF_ADDRESS_MAX, MINUTE_MS, addressKey(vault, ip)),
  ])
  if (isFull(outcome)) throw httpError('TooManyRequests', {}, Math.ceil(outcome.waitMs / 1_000))
  return outcome
}

/** Tries while admins change the code at the same time. */
const TRIES_MAX = 10

/** POST /api/user/topup: a code becomes quota of the caller, exactly once. */
export const redeemCode: Action = (api, deps) => {
  api.post(
    '/api/user/topup',
    {
      onRequest: onlyUser,
      schema: {
        summary: 'Redeem a code; answers what it gave',
        body: RedeemCode,
        response: { 200: Envelope(Redeemed) },
      },
    },
    async (request, reply) => {
      const { userId } = principalOf(request)
      const key = request.body.key.trim()
      if (key === '') throw redemptionError('CodeRequired')
      // One at a time of each user, so that a code that is known never counts as a wrong try.
      const done = await deps.runExclusive(`redeem-${userId}`, () => redeem(deps, request, key))
      await waitUntilVisible(deps, reply, ['balances', 'call-log', 'redemptions'], done.position)
      const { quota, isGift } = done.terms
      return success({ quota, is_gift: isGift })
    },
  )
}

const streamOf = ({ vault }: Deps['core'], key: string): string =>
  redemptionStream(vault.keyedHash('redemption-key', key))

/** The code and the account decide in one append. */
async function redeem(deps: Deps, request: FastifyRequest, key: string) {
  const { userId } = principalOf(request)
  const guess = await enterGuess(deps.core, userId, request.ip)
  let isWrong = false
  try {
    return await tryRedeeming(deps, request, key)
  } catch (error) {
    const isInvalid = error instanceof HttpError && error.code === 'CodeInvalid'
    // Who sends a code again that they had guesses nothing.
    isWrong = isInvalid && !(await wasHadBy(deps, userId, key))
    throw error
  } finally {
    guess.release({ isRefunded: !isWrong })
  }
}

function wasHadBy({ core }: Deps, userId: number, key: string): Promise<boolean> {
  const has = ({ code }: RedemptionState) => code?.userIds.has(userId) === true
  return core.actors.ask(redemptionDecider, streamOf(core, key), has)
}

async function tryRedeeming(deps: Deps, request: FastifyRequest, key: string) {
  const { actors } = deps.core
  const { userId } = principalOf(request)
  const context = contextOf(deps, request)
  const stream = streamOf(deps.core, key)
  for (let attempt = 1; ; attempt += 1) {
    // Asked in place: a gift knows as many users as had it.
    const read = await actors.ask(redemptionDecider, stream, (state) => {
      if (state.code === null) return null
      const { id, terms } = state.code
      const steps = stepsFor(stream, { id, terms }, userId, Math.floor(context.at / 1_000))
      // What is read refuses most of a rush, without a turn on both streams for each.
      const foreseen = redemptionDecider.decide(steps[0].command, state)
      return { terms, steps, error: isCodedError(foreseen) ? foreseen : null }
    })
    if (read === null) throw redemptionError('CodeInvalid')
    const { terms, steps, error } = read
    if (error !== null) throw toHttpError(error)
    const outcome = await actors.handleTogether(steps, context)
    const isChanged = !outcome.isDone && outcome.error.code === 'CodeChanged'
    if (isChanged && attempt < TRIES_MAX) continue
    return { terms, position: accepted(outcome).position }
  }
}

/**
 * NOTE: the code comes first: where a store can't write both at once, its event is the decision,
 * and the grant, which nothing forbids once that stands, follows or is healed.
 */
type Code = Pick<KnownRedemption, 'id' | 'terms'>

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
