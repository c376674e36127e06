import { request } from '../request.ts'

/** A new system access token, told this once; the old one is void. */
export async function resetAccessToken(): Promise<string> {
  return (await request<string>({ path: '/api/user/token' })).data
}
