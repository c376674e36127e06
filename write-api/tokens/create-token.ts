import Type from 'typebox'
import { accountDecider } from '#domain/account/decide.ts'
import { accountStream } from '#domain/account/events.ts'
import { tokenDecider } from '#domain/token/decide.ts'
import { type TokenTerms, tokenStream } from '#domain/token/events.ts'
import type { ActContext, AnyStep } from '#infra/event-store/actors-port.ts'
import { onlyUser, principalOf } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { listTokens } from '#projections/tokens/query.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { CreateToken } from '#write-api/contract/token.ts'
import { type Act, accepted, contextOf, type Parts, visibleIn } from '../act.ts'
import { refused } from '../refusals.ts'
import { newTokenKey, tokenKeyOwner } from './token-key.ts'
import { checkRemain, DEFAULT_REMAIN, DEFAULT_TERMS, termsWith } from './token-terms.ts'
import { checkUsableGroup } from './usable-group.ts'

const TOKENS_MAX = 1_000

const Created = Type.Object({ id: Type.Integer(), name: Type.String(), key: Type.String() })

/** POST /api/token/: a key of the caller's own, with its budget; answers the key. */
export const createToken: Act = (api, parts) => {
  api.post(
    '/api/token/',
    {
      onRequest: onlyUser,
      schema: {
        summary: 'Create a token; answers its key',
        body: CreateToken,
        response: { 200: Envelope(Created) },
      },
    },
    async (request, reply) => {
      const user = principalOf(request)
      const { remain_quota = DEFAULT_REMAIN, unlimited_quota = false } = request.body
      checkRemain(remain_quota)
      const terms = await termsWith(parts.core.vault, user.userId, DEFAULT_TERMS, request.body)
      await checkUsableGroup(parts, user, terms.group)
      await checkRoom(parts, user.userId)
      const budget = { remain: BigInt(remain_quota), isUnlimited: unlimited_quota }
      const made = await create(parts, user.userId, terms, budget, contextOf(parts, request))
      await visibleIn(parts, reply, ['tokens', 'balances'], made.position)
      return success({ id: made.id, name: terms.name, key: made.key })
    },
  )
}

async function checkRoom({ core }: Parts, userId: number): Promise<void> {
  const all = { userId, keyword: '', key: null, limit: 1, offset: 0 }
  const { total } = await listTokens(core.db, all)
  if (total >= TOKENS_MAX) throw refused('TooManyTokens', { limit: TOKENS_MAX })
}

async function create(
  { core, nextIds }: Parts,
  userId: number,
  terms: TokenTerms,
  budget: { readonly remain: bigint; readonly isUnlimited: boolean },
  context: ActContext,
): Promise<{ id: number; key: string; position: number }> {
  const key = newTokenKey()
  const keyLookup = core.vault.keyedHash('token-key', key)
  const { id, outcome } = await nextIds('token', async (tokenId) => {
    const keyRef = await core.vault.putSecret('token-key', tokenKeyOwner(tokenId), key)
    const command = { type: 'CreateToken', tokenId, userId, terms, keyLookup, keyRef }
    const steps: AnyStep[] = [
      {
        decider: tokenDecider,
        stream: tokenStream(tokenId),
        command: { ...command, keyHint: key.slice(-4) },
      },
      {
        decider: accountDecider,
        stream: accountStream(userId),
        command: { type: 'SetTokenBudget', userId, tokenId, ...budget },
      },
    ]
    const outcome = await core.actors.handleTogether(steps, context)
    if (!outcome.isDone) await core.vault.deleteSecret(keyRef)
    return outcome
  })
  return { id, key, position: accepted(outcome).position }
}
