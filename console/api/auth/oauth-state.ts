import type { StateQuery } from '#write-api/contract/oauth.ts'
import { request } from '../request.ts'

/** What Telegram's widget is shown with, and has to come back with. */
export async function oauthState(query: StateQuery): Promise<string> {
  return (await request<string>({ path: '/api/oauth/state', query })).data
}
