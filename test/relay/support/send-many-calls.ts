import { sendChat } from '#test/support/send-chat.ts'

/** A streamed call. The outcome is `cut` if the response is incomplete. */
export type Call = {
  readonly outcome: 'whole' | 'refused' | 'cut'
  readonly status: number | null
  readonly requestId: string
}

/** Sends them all now, to the addresses in turn. */
export const callAtOnce = (count: number, urls: readonly string[], key: string): Promise<Call>[] =>
  Array.from({ length: count }, (_, index) => callOnce(urls[index % urls.length] ?? '', key))

async function callOnce(url: string, key: string): Promise<Call> {
  let status: number | null = null
  let requestId = ''
  try {
    const response = await sendChat(url, key, { stream: true })
    status = response.status
    requestId = response.headers.get('x-request-id') ?? ''
    const text = await response.text()
    if (status !== 200) return { outcome: 'refused', status, requestId }
    const outcome = text.includes('data: [DONE]') ? 'whole' : 'cut'
    return { outcome, status, requestId }
  } catch {
    return { outcome: 'cut', status, requestId }
  }
}
