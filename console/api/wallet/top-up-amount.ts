import type { AskAmount } from '#write-api/contract/top-up.ts'
import { request } from '../request.ts'

/** Exact, as `7.30`, in a currency of ISO 4217. */
export type Money = { money: string; currency: string }

/** What a top-up would cost. Throws with the server's words where it can't be had. */
export async function topUpAmount(asked: AskAmount, signal: AbortSignal): Promise<Money> {
  const call = { method: 'POST', path: '/api/user/amount', body: asked, signal } as const
  const { data, envelope } = await request<string>(call)
  return { money: data, currency: String(envelope.currency ?? '') }
}
