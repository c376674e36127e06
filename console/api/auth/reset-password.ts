import type { ResetPassword } from '#write-api/contract/entry.ts'
import { request } from '../request.ts'

/** The new password, by the link of a mail; told this once. */
export async function resetPassword(link: ResetPassword): Promise<string> {
  const { data } = await request<string>({ method: 'POST', path: '/api/user/reset', body: link })
  return data
}
