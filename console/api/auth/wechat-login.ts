import type { WeChatQuery } from '#write-api/contract/oauth.ts'
import type { Entered } from '#write-api/contract/session.ts'
import { request } from '../request.ts'

/** Logs in by the code that the account of the QR code answers with. */
export async function weChatLogin(query: WeChatQuery): Promise<Entered> {
  return (await request<Entered>({ path: '/api/oauth/wechat', query })).data
}
