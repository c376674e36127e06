import type { Authorize, AuthorizeQuery, StateQuery } from '#write-api/contract/oauth.ts'
import { fetchData } from './request.ts'

/** What Telegram's widget is shown with, and has to come back with. */
export const oauthState = (query: StateQuery): Promise<string> =>
  fetchData({ path: '/api/oauth/state', query })

const KEY = 'oauth_return_to'

/** Sends this tab to the other site; coming back ends at `returnTo`. */
export async function sendAway(query: AuthorizeQuery, returnTo: string | null): Promise<void> {
  const { url } = await oauthAuthorize(query)
  rememberReturn(returnTo)
  window.location.assign(url)
}

/** Where this tab goes once it is back from another site; null: where logins go. */
export function rememberReturn(returnTo: string | null): void {
  if (returnTo === null) sessionStorage.removeItem(KEY)
  else sessionStorage.setItem(KEY, returnTo)
}

export const rememberedReturn = (): string | null => sessionStorage.getItem(KEY)

/** Where to send this browser, which gets a cookie that it has to come back with. */
const oauthAuthorize = (query: AuthorizeQuery): Promise<Authorize> =>
  fetchData({ path: '/api/oauth/authorize', query })
