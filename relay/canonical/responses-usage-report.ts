import type { UsageContext } from '#relay/dialects/wire-format.ts'
import { withLongWrites } from './count-cache-writes-as-one-hour.ts'
import { objectOrEmpty } from './json-values.ts'
import { readOpenAiUsage, type UsageReport } from './provider-usage-report.ts'

/**
 * Reads the usage of OpenAI's Responses API. It has the same counts as the usage of chat
 * completions, under other names.
 */
export function readResponsesUsage(
  raw: unknown,
  { isOutputTotalLessPrompt, body, ...bounds }: UsageContext,
): UsageReport {
  if (typeof raw !== 'object' || raw === null) return readOpenAiUsage(raw, bounds)
  const reported = raw as Record<string, unknown>
  const details = objectOrEmpty(reported.input_tokens_details)
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
  return withLongWrites(report, details, body)
}
