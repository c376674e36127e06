import { sendChat } from '#test/support/send-chat.ts'

/** The record of a caller about one call. */
export type CallRecord = {
  readonly mark: string
  readonly requestId: string | null
  readonly outcome: 'acknowledged' | 'refused' | 'unknown'
  readonly status: number | null
}

type Options = {
  readonly url: string
  readonly key: string
  readonly total: number
  readonly atOnce: number
  readonly isOver: () => boolean
  /** The callers continue until this many calls were acknowledged, even on a slow machine. */
  readonly acknowledgedMin?: number
}

/**
 * Calls the relay with plain and streamed calls, `atOnce` at a time. Callers continue after a
 * failed call.
 */
export async function callInStorm(options: Options): Promise<CallRecord[]> {
  const records: CallRecord[] = []
  const { total, isOver, acknowledgedMin = 0 } = options
  let next = 0
  let acknowledged = 0
  const caller = async () => {
    while (next < total || !isOver() || acknowledged < acknowledgedMin) {
      const number = next
      next += 1
      const record = await callOnce(options, number)
      records.push(record)
      if (record.outcome === 'acknowledged') acknowledged += 1
      else await new Promise((resume) => setTimeout(resume, 25))
    }
  }
  await Promise.all(Array.from({ length: options.atOnce }, caller))
  return records
}

async function callOnce({ url, key }: Options, number: number): Promise<CallRecord> {
  const mark = `mark-${number}`
  const isStream = number % 3 === 0
  let requestId: string | null = null
  let status: number | null = null
  try {
    const messages = [{ role: 'user', content: mark }]
    const response = await sendChat(url, key, { stream: isStream, max_tokens: 8, messages })
    status = response.status
    requestId = response.headers.get('x-request-id')
    const text = await response.text()
    if (status !== 200) return { mark, requestId, outcome: 'refused', status }
    const isWhole = isStream ? text.includes('data: [DONE]') : text.trimEnd().endsWith('}')
    return { mark, requestId, outcome: isWhole ? 'acknowledged' : 'unknown', status }
  } catch {
    return { mark, requestId, outcome: 'unknown', status }
  }
}
