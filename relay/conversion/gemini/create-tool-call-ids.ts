/**
 * Creates ids for tool calls that Gemini reports without an id. The ids have only characters that
 * all formats allow, and at most 40 characters, which is OpenAI's limit.
 */
const PREFIX = 'gemini_call_'
const ANSWER_ID_LENGTH = 18

/** Reports whether the gateway created this id, so that Gemini does not know it. */
export const isMadeUpCallId = (id: string): boolean => id.startsWith(PREFIX)

/** Returns an id for a tool call in the history of a request. It is unique within the request. */
export const callIdInRequest = (content: number, part: number): string =>
  `${PREFIX}${content}_${part}`

/**
 * Returns an id for a tool call in an answer. It contains the answer's id, because callers send the
 * calls of several answers in one history.
 */
export const callIdInAnswer = (answerId: string, choice: number, part: number): string =>
  `${PREFIX}${answerId.replace(/[^\w-]/g, '').slice(0, ANSWER_ID_LENGTH)}_${choice}_${part}`
