import type { ResetSecondFactor } from '#write-api/contract/user.ts'
import { request } from '../request.ts'

/** Takes every second factor of a user away, and ends that user's logins. */
export async function resetSecondFactor(reset: ResetSecondFactor): Promise<void> {
  await request({ method: 'POST', path: '/api/user/reset_second_factor', body: reset })
}
