import type { UsageContext } from '#relay/dialects/wire-format.ts'
import {
  readOpenAiUsage,
  recordOf,
  type UsageReport,
  withLongWrites,
} from './provider-usage-report.ts'

/**
 * Reads the usage of OpenAI's Responses API, which has the meaning of the usage of chats with other
 * names.
 */
export function readResponsesUsage(
  raw: unknown,
  { isOutputTotalLessPrompt, ...bounds }: UsageContext,
): UsageReport {
  if (typeof raw !== 'object' || raw === null) return readOpenAiUsage(raw, bounds)
  const reported = raw as Record<string, unknown>
  const details = recordOf(reported.input_tokens_details)
  const report = readOpenAiUsage(
    {
      ...reported,
      prompt_tokens: reported.input_tokens,
      completion_tokens: reported.output_tokens,
      prompt_tokens_details: details,
      completion_tokens_details: reported.output_tokens_details,
    },
    bounds,
    isOutputTotalLessPrompt,
  )
  return withLongWrites(report, details)
}
