import type { FormatConversion } from '../format-conversion.ts'
import { createStreamReader, readAnswer } from './read-answer-and-stream.ts'
import { readRequest } from './read-request.ts'
import { writeAnswer } from './write-answer.ts'
import { writeRequest } from './write-request.ts'
import { createStreamWriter } from './write-stream.ts'

export const GEMINI_CONVERSION: FormatConversion = {
  readRequest,
  writersFor: () => ({
    writeAnswer: (answer, id) => writeAnswer({ ...answer, id: answer.id || id }),
    createStreamWriter,
  }),
  writeRequest: (request, _target, requestBody) => writeRequest(request, requestBody),
  readAnswer,
  createStreamReader,
}
