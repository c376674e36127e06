import { quotaAvailableToToken } from '#domain/accounts/affordable-terms.ts'
import { accountDecider } from '#domain/accounts/decide.ts'
import { accountStream } from '#domain/accounts/events.ts'
import type { AccountState } from '#domain/accounts/state.ts'
import { type PriceList, zeroPrices } from '#domain/pricing/price-list.ts'
import type { Views } from '#relay/views/start-views.ts'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import type { Caller } from './authenticate.ts'
import type { RelayDeps } from './relay-deps.ts'

/**
 * Returns an error if the caller can't pay for any call and no chat model is free. This check saves
 * work on large requests that would be refused later. If the account can't be read, returns null.
 */
export async function errorWithoutQuota(
  { actors, views }: Pick<RelayDeps, 'actors' | 'views'>,
  { user: { userId }, token: { tokenId } }: Caller,
): Promise<RelayError | null> {
  if (isAnyChatFree(views)) return null
  const stream = accountStream(userId)
  const errorIn = (state: AccountState) => {
    if (state.balance <= 0n) return 'insufficient_quota'
    return quotaAvailableToToken(state, tokenId) <= 0n ? 'token_exhausted' : null
  }
  const canPay = (state: AccountState): boolean => errorIn(state) === null
  if (actors.askRecent(accountDecider, stream, canPay) === true) return null
  try {
    const error = await actors.ask(accountDecider, stream, errorIn)
    return error === null ? null : relayError(error)
  } catch {
    return null
  }
}

/** The free models of each price list. They are cached, because price lists are immutable. */
const ZERO_PRICES = new WeakMap<PriceList, ReturnType<typeof zeroPrices>>()

/** Reports whether at least one model is free for chats in at least one group. */
function isAnyChatFree({ options: { prices }, channels }: Views): boolean {
  const cached = ZERO_PRICES.get(prices)
  const freeModels = cached ?? zeroPrices(prices)
  if (cached === undefined) ZERO_PRICES.set(prices, freeModels)
  return freeModels === 'any' || freeModels.some((model) => channels.isKnown(model))
}
