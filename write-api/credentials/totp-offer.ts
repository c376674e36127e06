import type { Sealed } from '#domain/shared/event.ts'
import type { Deps } from '../act.ts'

const KIND = 'totp-offer'
const OFFER_MS = 10 * 60_000

/** Sealed, since these values may be kept by another server. The latest offer counts. */
export async function keepTotpOffer({ core }: Deps, userId: number, secret: string) {
  const sealed = await core.vault.seal(userId, secret)
  await core.shortLived.put(KIND, String(userId), sealed, OFFER_MS)
}

/** null once ten minutes are over. */
export async function totpOffer({ core }: Deps, userId: number): Promise<string | null> {
  const sealed = await core.shortLived.peek(KIND, String(userId))
  return sealed === null ? null : core.vault.open(userId, sealed as Sealed)
}

export async function endTotpOffer({ core }: Deps, userId: number): Promise<void> {
  await core.shortLived.take(KIND, String(userId))
}
