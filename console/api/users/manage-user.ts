import type { ManageUser } from '#write-api/contract/user.ts'
import { request } from '../request.ts'

/** Answers the status and the role that are now so. */
export async function manageUser(act: ManageUser): Promise<{ status: number; role: number }> {
  const call = { method: 'POST', path: '/api/user/manage', body: act } as const
  return (await request<{ status: number; role: number }>(call)).data
}
