import { request } from '../request.ts'

/** A mail by the saved settings; the refusal says what is wrong with them. */
export async function sendTestMail(to: string): Promise<void> {
  await request<unknown>({ method: 'POST', path: '/api/option/test_mail', body: { to } })
}
