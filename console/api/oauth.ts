import type { AuthorizeQuery } from '#write-api/contract/oauth.ts'
import { call } from './client.ts'

const KEY = 'oauth_return_to'

/** Sends this tab to the other site; coming back ends at `returnTo`. */
export async function sendAway(query: AuthorizeQuery, returnTo: string | null): Promise<void> {
  const { url } = await call('GET /api/oauth/authorize', { query })
  rememberReturn(returnTo)
  window.location.assign(url)
}

/** Where this tab goes once it is back from another site; null: where logins go. */
export function rememberReturn(returnTo: string | null): void {
  if (returnTo === null) sessionStorage.removeItem(KEY)
  else sessionStorage.setItem(KEY, returnTo)
}

export const rememberedReturn = (): string | null => sessionStorage.getItem(KEY)
