/**
 * Ids for tool calls that Gemini reports without an id. They contain only characters that all
 * formats allow, and at most 40 of them, which is the limit of OpenAI.
 */
const PREFIX = 'gemini_call_'
const ANSWER_ID_LENGTH = 18

/** True for an id that was made up here, so that Gemini does not know it. */
export const isMadeUpCallId = (id: string): boolean => id.startsWith(PREFIX)

/** Returns the id of a call in the history of a request. It is unique within the request. */
export const callIdInRequest = (content: number, part: number): string =>
  `${PREFIX}${content}_${part}`

/**
 * Returns the id of a call in an answer. It contains the id of the answer, because the caller sends
 * the calls of several answers in one history.
 */
export const callIdInAnswer = (answerId: string, choice: number, part: number): string =>
  `${PREFIX}${answerId.replace(/[^\w-]/g, '').slice(0, ANSWER_ID_LENGTH)}_${choice}_${part}`
