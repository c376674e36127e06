import type { FormatConversion } from '../format-conversion.ts'
import { readAnswer } from './read-answer.ts'
import { createStreamReader } from './read-answer-stream.ts'
import { readRequest } from './read-request.ts'
import { writeAnswer } from './write-answer.ts'
import { createStreamWriter } from './write-answer-stream.ts'
import { writeRequest } from './write-request.ts'

export const MESSAGES_CONVERSION: FormatConversion = {
  readRequest,
  writersFor: () => ({
    writeAnswer,
    createStreamWriter,
  }),
  writeRequest: (request, target) =>
    writeRequest(request, {
      default: target.outputTokensMax,
      max: target.outputTokensCovered ?? null,
    }),
  readAnswer,
  createStreamReader,
}
