import type { User } from '#read-api/contract/user.ts'
import { request } from '../request.ts'

export const selfKey = ['self'] as const

/** One's own account, with the balance as of `afterPosition` at least. */
export async function readSelf(ask: {
  afterPosition?: number
  signal?: AbortSignal
}): Promise<User> {
  const { data } = await request<User>({
    path: '/api/user/self',
    ...(ask.afterPosition === undefined ? {} : { afterPosition: ask.afterPosition }),
    ...(ask.signal === undefined ? {} : { signal: ask.signal }),
  })
  return data
}
