import type { Authorize, AuthorizeQuery } from '#write-api/contract/oauth.ts'
import { request } from '../request.ts'

/** Where to send this browser, which gets a cookie that it has to come back with. */
export async function oauthAuthorize(query: AuthorizeQuery): Promise<Authorize> {
  return (await request<Authorize>({ path: '/api/oauth/authorize', query })).data
}
