/**
 * The prefix of the ids that the gateway creates for tool calls. They are needed because Gemini
 * reports calls without an id. An id has only characters that all formats allow, and at most 40
 * characters, which is OpenAI's limit.
 */
const PREFIX = 'gemini_call_'
const ANSWER_ID_LENGTH = 18

/** Reports whether the gateway created this id. Gemini does not know such an id. */
export const isMadeUpCallId = (id: string): boolean => id.startsWith(PREFIX)

/**
 * Returns an id for a tool call in the history of a request. The id is unique within the request.
 */
export const callIdInRequest = (content: number, part: number): string =>
  `${PREFIX}${content}_${part}`

/**
 * Returns an id for a tool call in an answer. The id contains the beginning of the answer's id,
 * because callers send back the calls of several answers in one history.
 */
export const callIdInAnswer = (answerId: string, choice: number, part: number): string =>
  `${PREFIX}${answerId.replace(/[^\w-]/g, '').slice(0, ANSWER_ID_LENGTH)}_${choice}_${part}`
