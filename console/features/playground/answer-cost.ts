import { listLogs } from '#console/api/logs/list-logs.ts'
import type { LogEntry } from '#read-api/contract/log.ts'
import type { AnswerCost } from './conversation.ts'

/** The log follows the books in a moment; after a stop, once the provider has let go. */
const LOOK_AFTER_MS = [100, 300, 600, 1_000, 2_000, 4_000] as const
const GIVE_UP_MS = 15_000

/** What the call was charged, from its own row of the log; null where it has none. */
export async function costOf(call: string): Promise<AnswerCost | null> {
  if (call === '') return null
  const signal = AbortSignal.timeout(GIVE_UP_MS)
  for (const afterMs of LOOK_AFTER_MS) {
    await new Promise((resume) => setTimeout(resume, afterMs))
    const cost = await costAtOnce(call, signal)
    if (cost !== null) return cost
  }
  return null
}

/** As the log has it now; null where it has no row of the call. */
export async function costAtOnce(
  call: string,
  signal = AbortSignal.timeout(GIVE_UP_MS),
): Promise<AnswerCost | null> {
  const row = await loggedCall(call, signal).catch(() => null)
  if (row === null) return null
  return {
    logId: row.id,
    quota: String(row.quota),
    promptTokens: row.prompt_tokens,
    completionTokens: row.completion_tokens,
  }
}

/** One's own call as it is in the log; null while it is not there yet. */
async function loggedCall(call: string, signal: AbortSignal): Promise<LogEntry | null> {
  const params = { request_id: call }
  const { items } = await listLogs({ scope: 'self', params, page: 0, pageSize: 1, signal })
  return items[0] ?? null
}
