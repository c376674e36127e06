import type { Authorize, AuthorizeQuery, StateQuery } from '#write-api/contract/oauth.ts'
import { request } from './request.ts'

/** What Telegram's widget is shown with, and has to come back with. */
export async function oauthState(query: StateQuery): Promise<string> {
  return (await request<string>({ path: '/api/oauth/state', query })).data
}

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
async function oauthAuthorize(query: AuthorizeQuery): Promise<Authorize> {
  return (await request<Authorize>({ path: '/api/oauth/authorize', query })).data
}
