import type { RecoveryCodes } from '#write-api/contract/credentials.ts'
import { request } from '../request.ts'

/** Answers the recovery codes that came with it; none where there were some. */
export async function confirmTotp(code: string): Promise<string[]> {
  const { data } = await request<RecoveryCodes>({
    method: 'POST',
    path: '/api/user/totp',
    body: { code },
  })
  return data.recovery_codes
}
