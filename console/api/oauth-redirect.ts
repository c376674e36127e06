import type { AuthorizeQuery } from '#write-api/contract/oauth.ts'
import { call } from './client.ts'

const KEY = 'oauth_return_to'

export async function redirectToProvider(
  query: AuthorizeQuery,
  returnTo: string | null,
): Promise<void> {
  const { url } = await call('GET /api/oauth/authorize', { query })
  storeReturnPath(returnTo)
  window.location.assign(url)
}

export function storeReturnPath(returnTo: string | null): void {
  if (returnTo === null) sessionStorage.removeItem(KEY)
  else sessionStorage.setItem(KEY, returnTo)
}

export const storedReturnPath = (): string | null => sessionStorage.getItem(KEY)
