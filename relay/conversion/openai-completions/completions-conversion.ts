import type { CallerConversion } from '../format-conversion.ts'
import { readAnswerSettings } from '../openai-chat/read-request.ts'
import { readRequest } from './read-request.ts'
import { CompletionWriter, writeAnswer } from './write-answer.ts'

/**
 * Converts requests from the completions format, and answers to this format. No request is
 * converted to this format, because every provider that offers completions offers chats too.
 */
export const COMPLETIONS_CONVERSION: CallerConversion = {
  readRequest,
  writersFor: (requestBody) => {
    const { hasStreamUsage } = readAnswerSettings(requestBody)
    const options = { hasStreamUsage, createdAt: Math.floor(Date.now() / 1_000) }
    return {
      writeAnswer: (answer, id) => writeAnswer({ ...answer, id: answer.id || id }, options),
      createStreamWriter: (id) => new CompletionWriter(id, options),
    }
  },
}
