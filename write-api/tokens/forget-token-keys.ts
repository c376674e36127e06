import type { Recorded } from '#domain/shared/event.ts'
import { type TokenEvent, tokensStream } from '#domain/token/events.ts'
import type { Core } from '#infra/core.ts'

/**
 * Once a user was erased: the keys of all tokens there ever were. By the events, so that one whose
 * removal was cut short is gone too; again and again, if need be.
 */
export async function forgetTokenKeys(
  { store, vault }: Pick<Core, 'store' | 'vault'>,
  userId: number,
): Promise<void> {
  const events = (await store.readStream(tokensStream(userId))) as Recorded<TokenEvent>[]
  for (const { type, data } of events) {
    if (type !== 'TokensCreated') continue
    for (const { keyRef } of data.tokens) await vault.deleteSecret(keyRef)
  }
}
