import { randomInt } from 'node:crypto'
import { accountDecider } from '#domain/accounts/decide.ts'
import { accountStream } from '#domain/accounts/events.ts'
import type { Sealed } from '#domain/shared/event.ts'
import { tokenDecider, tokenIdsDecider } from '#domain/tokens/decide.ts'
import {
  type NewToken,
  type SharedTerms,
  TOKEN_IDS_STREAM,
  tokensStream,
} from '#domain/tokens/events.ts'
import { completeKey, KEY_ALPHABET, KEY_RANDOM_CHARACTERS } from '#domain/tokens/key-format.ts'
import type { AnyStep, CommandContext } from '#infra/event-store/stream-actors-port.ts'
import { onlyUser, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { success } from '#infra/http/response-envelope.ts'
import { TOKEN_FIELDS } from '#read-api/contract/token-fields.ts'
import { type Action, accepted, contextOf, type Deps, waitUntilVisible } from '../action.ts'
import { tokenActions } from '../contract/tokens.ts'
import { userMustExist } from '../users/user-must-exist.ts'
import { nameOf, namesFor } from './token-names.ts'
import {
  applyTokenFields,
  checkRemainingQuota,
  checkUsableGroup,
  INITIAL_TERMS,
} from './token-terms-from-request.ts'

type TokenBatch = {
  readonly names: readonly string[]
  readonly terms: SharedTerms
  /** The budget of each token: the quota that the token may spend. */
  readonly budget: { readonly remain: bigint; readonly isUnlimited: boolean }
}

type CreatedTokens = {
  readonly ids: readonly number[]
  readonly keys: readonly string[]
  readonly position: number
}

/**
 * The maximum number of attempts to assign ids. An attempt fails if another process has assigned
 * the same ids.
 */
const ATTEMPTS_MAX = 100

/** Assigns the ids, creates the tokens and opens their budgets in one append. */
export async function createTokens(
  deps: Pick<Deps, 'core' | 'runExclusive'>,
  userId: number,
  batch: TokenBatch,
  context: CommandContext,
): Promise<CreatedTokens> {
  const { actors, vault } = deps.core
  const keys = batch.names.map(newTokenKey)
  const names = await Promise.all(batch.names.map((name) => vault.seal(userId, name)))
  // The lock only applies to this process. If another process chooses the same ids, only one of
  // them can append to the stream that assigns ids.
  return deps.runExclusive('token-ids', async () => {
    for (let attempt = 1; ; attempt += 1) {
      const { highest } = await actors.stateOf(tokenIdsDecider, TOKEN_IDS_STREAM)
      const tokens = await newTokens(deps, names, keys, highest + 1)
      const ids = tokens.map(({ tokenId }) => tokenId)
      const steps = stepsFor(userId, tokens, batch)
      const outcome = await actors.handleTogether(steps, context)
      if (outcome.isDone) return { ids, keys, position: outcome.position }
      await Promise.all(tokens.map(({ keyRef }) => vault.deleteSecret(keyRef)))
      const isIdTaken = outcome.error.code === 'TokenExists'
      if (!isIdTaken || attempt >= ATTEMPTS_MAX) accepted(outcome)
    }
  })
}

function newTokens(
  { core: { vault } }: Pick<Deps, 'core'>,
  names: readonly Sealed[],
  keys: readonly string[],
  first: number,
): Promise<NewToken[]> {
  return Promise.all(
    names.map(async (name, index) => {
      const tokenId = first + index
      const key = keys[index] ?? ''
      const keyRef = await vault.putSecret('token-key', tokenKeyOwner(tokenId), key)
      const keyLookup = vault.keyedHash('token-key', key)
      return { tokenId, name, keyLookup, keyRef, keyHint: key.slice(-4) }
    }),
  )
}

/**
 * Returns the steps (commands to single streams) that create tokens. NOTE: the step that assigns
 * the ids comes first. A store without atomic appends to several streams must assign ids before it
 * creates tokens.
 */
function stepsFor(userId: number, tokens: readonly NewToken[], { terms, budget }: TokenBatch) {
  const tokenIds = tokens.map(({ tokenId }) => tokenId)
  const [first = 0] = tokenIds
  const steps: AnyStep[] = [
    userMustExist(userId),
    {
      decider: tokenIdsDecider,
      stream: TOKEN_IDS_STREAM,
      command: { type: 'AssignTokenIds', userId, first, count: tokenIds.length },
    },
    {
      decider: tokenDecider,
      stream: tokensStream(userId),
      command: { type: 'CreateTokens', userId, terms, tokens },
    },
    {
      decider: accountDecider,
      stream: accountStream(userId),
      command: { type: 'OpenTokenBudgets', userId, tokenIds, ...budget },
    },
  ]
  return steps
}

/** Returns a new key of 250 random bits and a checksum. The prefix `sk-` is not included. */
function newTokenKey(): string {
  const characters = Array.from(
    { length: KEY_RANDOM_CHARACTERS },
    () => KEY_ALPHABET[randomInt(KEY_ALPHABET.length)],
  )
  return completeKey(characters.join(''))
}

const tokenKeyOwner = (tokenId: number): string => `token:${tokenId}`

/** POST /api/token/: creates one token, or `count` tokens. Each token has a separate budget. */
export const createToken: Action = (api, deps) => {
  api.route({
    ...endpoint(tokenActions, 'POST /api/token/'),
    onRequest: onlyUser,
    handler: async (request, reply) => {
      const user = principalOf(request)
      const {
        remain_quota = TOKEN_FIELDS.remainQuota.initial,
        unlimited_quota = false,
        count = 1,
      } = request.body
      checkRemainingQuota(remain_quota)
      const name = nameOf(request.body.name, '')
      const terms = await applyTokenFields(deps.core, user.userId, INITIAL_TERMS, request.body)
      await checkUsableGroup(deps, user, terms.group)
      const names = namesFor(name, count)
      const budget = { remain: BigInt(remain_quota), isUnlimited: unlimited_quota }
      const context = contextOf(deps, request)
      const created = await createTokens(deps, user.userId, { names, terms, budget }, context)
      await waitUntilVisible(deps, reply, ['tokens', 'balances'], created.position)
      const { ids, keys } = created
      const [id = 0] = ids
      const [key = ''] = keys
      return success({ id, name, key, ids: [...ids], names: [...names], keys: [...keys] })
    },
  })
}
