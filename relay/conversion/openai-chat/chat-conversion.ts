import type { FormatConversion } from '../format-conversion.ts'
import { readAnswer } from './read-answer.ts'
import { readAnswerSettings, readRequest } from './read-request.ts'
import { createStreamReader } from './read-stream.ts'
import { writeAnswer } from './write-answer.ts'
import { writeRequest } from './write-request.ts'
import { createStreamWriter } from './write-stream.ts'

export const CHAT_CONVERSION: FormatConversion = {
  readRequest,
  writersFor: (requestBody) => {
    const settings = readAnswerSettings(requestBody)
    const options = { ...settings, createdAt: Math.floor(Date.now() / 1_000) }
    return {
      writeAnswer: (answer, id) => writeAnswer({ ...answer, id: answer.id || id }, options),
      createStreamWriter: (id) => createStreamWriter(options, id),
    }
  },
  writeRequest: (request, { vendor }) => writeRequest(request, vendor),
  readAnswer,
  createStreamReader,
}
