import { queryOptions } from '@tanstack/react-query'
import type { User } from '#read-api/contract/users.ts'
import type { Unbind } from '#write-api/contract/oauth.ts'
import { fetchData, request } from './request.ts'

export const selfKey = ['self'] as const

/** One's own account, with profile, balance and settings. */
export const selfQuery = queryOptions({
  queryKey: selfKey,
  queryFn: ({ signal }) => readSelf({ signal }),
})

/** Refused when nobody could come in as this user any more. */
export async function unbind(provider: Unbind['provider']): Promise<void> {
  await request({ method: 'POST', path: '/api/user/unbind', body: { provider } })
}

/** One's own account, with the balance as of `afterPosition` at least. */
export const readSelf = (ask: { afterPosition?: number; signal?: AbortSignal }): Promise<User> =>
  fetchData({
    path: '/api/user/self',
    afterPosition: ask.afterPosition,
    signal: ask.signal,
  })
