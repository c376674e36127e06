import type { FormatConversion } from '../format-conversion.ts'
import { readAnswer } from './read-answer.ts'
import { readAnswerSettings, readRequest } from './read-request.ts'
import { createStreamReader } from './read-stream.ts'
import { writeAnswer } from './write-answer.ts'
import { writeRequest } from './write-request.ts'
import { createStreamWriter } from './write-stream.ts'

/**
 * Returns the id of a call without hyphens. The ids of the call's response and of the response's
 * items contain this form.
 */
const keyOfCall = (id: string): string => id.replaceAll('-', '')

export const RESPONSES_CONVERSION: FormatConversion = {
  readRequest,
  writersFor: (requestBody, isStored) => {
    const settings = readAnswerSettings(requestBody)
    const options = { ...settings, isStored, createdAt: Math.floor(Date.now() / 1_000) }
    // The gateway may store the response, so its id must be unique. Some providers send no id or
    // the same id with each answer.
    return {
      writeAnswer: (answer, id) => writeAnswer({ ...answer, id: keyOfCall(id) }, options),
      createStreamWriter: (id) => createStreamWriter({ ...options, id: keyOfCall(id) }),
    }
  },
  writeRequest: (request, { vendor }) => writeRequest(request, vendor),
  readAnswer,
  createStreamReader,
}
