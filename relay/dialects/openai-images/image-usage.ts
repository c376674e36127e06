import { objectOrEmpty } from '#relay/canonical/json-values.ts'
import { readOpenAiUsage, type UsageReport } from '#relay/canonical/provider-usage-report.ts'
import type { UsageContext } from '../wire-format.ts'

/**
 * Reads the usage of OpenAI's images API. All output tokens are image tokens, unless the details of
 * the output say otherwise. Some providers report no input tokens.
 */
export function readImageUsage(raw: unknown, bounds: UsageContext): UsageReport {
  if (typeof raw !== 'object' || raw === null) return readOpenAiUsage(raw, bounds)
  const reported = raw as Record<string, unknown>
  const output = reported.output_tokens ?? reported.completion_tokens
  const isWithoutInput = reported.generated_images !== undefined
  const input = reported.input_tokens ?? reported.prompt_tokens ?? (isWithoutInput ? 0 : undefined)
  const details = objectOrEmpty(reported.output_tokens_details)
  const { image_tokens: ofImages, text_tokens: ofText } = details
  const isSplit = ofImages !== undefined || ofText !== undefined
  return readOpenAiUsage(
    {
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: reported.total_tokens,
      prompt_tokens_details: reported.input_tokens_details,
      completion_tokens_details: isSplit ? details : { image_tokens: output },
    },
    bounds,
  )
}
