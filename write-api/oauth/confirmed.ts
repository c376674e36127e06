import type { IdentityProvider } from '#domain/identity/events.ts'
import type { Deps } from '../act.ts'
import { refused } from '../refusals.ts'
import { ProviderFailed } from './provider.ts'

/** What a provider answers; its failures are told to the visitor in one way, and to the log. */
export async function confirmed<T>(
  { core }: Pick<Deps, 'core'>,
  provider: IdentityProvider,
  ask: () => Promise<T>,
): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (!(error instanceof ProviderFailed)) throw error
    // NOTE: the message alone: what caused it may quote a request, with its code or secret.
    core.log.warn({ provider, why: error.message }, 'a way in by another site failed')
    throw refused('OAuthFailed', { provider })
  }
}
