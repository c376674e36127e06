import { request } from '../request.ts'

/** Binds the WeChat account that the code is of. */
export async function weChatBind(code: string): Promise<void> {
  await request({ path: '/api/oauth/wechat/bind', query: { code } })
}
