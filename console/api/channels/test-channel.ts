import type { ChannelTest } from '#read-api/contract/channel-action.ts'
import { ApiError } from '../api-error.ts'
import { request } from '../request.ts'

export type TestOutcome =
  | { readonly isSuccess: true; readonly seconds: number }
  | { readonly isSuccess: false; readonly message: string }

/** Asks a channel's provider for a word from one model; never throws for a provider's sake. */
export async function testChannel(
  id: number,
  model: string,
  signal: AbortSignal,
): Promise<TestOutcome> {
  try {
    const call = { path: `/api/channel/test/${id}`, query: { model }, signal }
    const { data } = await request<ChannelTest>(call)
    return { isSuccess: true, seconds: data.time }
  } catch (error) {
    if (signal.aborted) return { isSuccess: false, message: '' }
    if (!(error instanceof ApiError)) throw error
    return { isSuccess: false, message: error.message }
  }
}
