import type { EnteredOrBound } from '#write-api/contract/oauth.ts'
import { request } from '../request.ts'

/** Ends a journey to another site, by what it sent the browser back with; null: it was bound. */
export async function oauthReturn(
  type: string,
  query: Readonly<Record<string, string>>,
): Promise<EnteredOrBound> {
  return (await request<EnteredOrBound>({ path: `/api/oauth/${type}`, query })).data
}
