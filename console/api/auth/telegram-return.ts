import type { EnteredOrBound } from '#write-api/contract/oauth.ts'
import { request } from '../request.ts'

/** Logs in, or binds, by what Telegram's widget said; null: it was bound. */
export async function telegramReturn(
  act: 'login' | 'bind',
  query: Readonly<Record<string, string>>,
): Promise<EnteredOrBound> {
  return (await request<EnteredOrBound>({ path: `/api/oauth/telegram/${act}`, query })).data
}
