import type { BatchRecord } from '#domain/batches/decide.ts'
import { jsonOrEmpty } from '#relay/canonical/json-values.ts'
import { relayError } from '../canonical/relay-error.ts'
import type { Exchange } from '../pipeline/http-exchange.ts'
import type { RelayDeps } from '../pipeline/relay-deps.ts'
import { answerScreen } from '../screening/word-screening.ts'
import { protocolOf } from './ask-provider-about-batch.ts'
import type { FindShownLine, WithheldError } from './batch-protocol.ts'

/**
 * Checks a result for screened words. Resolves to the error that the caller gets in place of the
 * answer, or to null if the result may be shown. Of a long result, `result` is the outline, and
 * `beginning` is that part of it that is in memory.
 */
export type ScreenResult = (
  result: string,
  lineOf: FindShownLine,
  beginning?: Buffer,
) => Promise<WithheldError | null>

/**
 * Returns the check for the results of a batch, or null if they are not screened. The lines of a
 * batch are calls of the group that submitted it, so this group decides whether they are exempt.
 * The error is the one that a single call gets for such an answer.
 */
export function resultScreen(
  { views }: Pick<RelayDeps, 'views'>,
  { errors, language, call }: Exchange,
  record: BatchRecord,
): ScreenResult | null {
  const screen = answerScreen(views.options.options.screening, record.submitted.group)
  if (screen === null) return null
  const protocol = protocolOf(record)
  const withheld = errors.errorBody(relayError('sensitive_answer'), language, call)
  return async (result, lineOf, beginning) => {
    const { customId = '', answer = null } = protocol.readResult(result, 0) ?? {}
    const line = answer === null ? null : lineOf(customId)
    if (line === null || !line.isBilled) return null
    const { readTexts, hasTextlessAnswers } = protocol.formatOf(line.format)
    if (hasTextlessAnswers) return null
    const isClean =
      beginning === undefined
        ? await screen.isCleanLongAnswer(jsonOrEmpty(answer), readTexts)
        : await screen.hasCleanStrings(beginning)
    return isClean ? null : withheld
  }
}
