import { isObject, type JsonObject } from '#relay/canonical/json-values.ts'
import type {
  AnswerPart,
  CanonicalAnswer,
  CanonicalChoice,
} from '../../canonical/canonical-answer.ts'
import type { ThinkingPart, ToolCallPart } from '../../canonical/canonical-request.ts'
import { isMadeUpCallId } from './create-tool-call-ids.ts'
import { writeFinishReason } from './finish-reason.ts'
import { writeLogprobs } from './logprobs.ts'
import { signatureForCaller, thoughtsForCaller } from './thought-signature.ts'
import { writeUsage } from './usage-metadata.ts'

/** Writes the answer of `generateContent`. */
export function writeAnswer(answer: CanonicalAnswer): JsonObject {
  return {
    candidates: answer.choices.map(writeChoice),
    ...(answer.usage !== null && { usageMetadata: writeUsage(answer.usage) }),
    modelVersion: answer.model,
    responseId: answer.id,
  }
}

function writeChoice({ parts, stop, logprobs }: CanonicalChoice, index: number): JsonObject {
  const written = withThoughtsInCalls(parts).flatMap((part) => writeAnswerPart(part))
  return {
    // Client libraries drop a content object without parts from the history, together with the
    // message before it. Therefore, an empty answer contains an empty text.
    content: { parts: written.length > 0 ? written : [{ text: '' }], role: 'model' },
    finishReason: writeFinishReason(stop),
    index,
    ...(logprobs !== null && { logprobsResult: writeLogprobs(logprobs) }),
  }
}

/** Stores the thoughts before each tool call in the signature of the call. */
function withThoughtsInCalls(parts: readonly AnswerPart[]): AnswerPart[] {
  const thoughts: ThinkingPart[] = []
  return parts.map((part) => {
    if (part.kind === 'thinking') thoughts.push(part)
    return part.kind === 'tool-call' ? withThoughts(part, thoughts.splice(0)) : part
  })
}

/**
 * Stores the thoughts before a tool call in the call's signature. Returns the call unchanged if it
 * already has a signature, or if no provider other than Gemini needs the thoughts again.
 */
export function withThoughts(call: ToolCallPart, thoughts: readonly ThinkingPart[]): ToolCallPart {
  const signature = call.signature ?? thoughtsForCaller(thoughts)
  return signature === undefined ? call : { ...call, signature }
}

/**
 * Writes one part of an answer. A thought with encrypted data and also a text or a signature
 * becomes two parts.
 */
export function writeAnswerPart(part: AnswerPart): readonly JsonObject[] {
  switch (part.kind) {
    case 'text':
      return [{ text: part.text, ...(part.signature && { thoughtSignature: part.signature }) }]
    case 'refusal':
      return [{ text: part.text }]
    case 'thinking':
      return writeThought(part)
    case 'tool-call': {
      const { id, name, argumentsJson, signature } = part
      const functionCall = {
        ...(id !== '' && !isMadeUpCallId(id) && { id }),
        name,
        args: parseArguments(argumentsJson),
      }
      return [{ functionCall, ...(signature !== undefined && { thoughtSignature: signature }) }]
    }
  }
}

function writeThought({ text, signature, redacted }: ThinkingPart): JsonObject[] {
  const thoughts: JsonObject[] = []
  if (signature !== undefined) {
    const thoughtSignature = signatureForCaller({ signature })
    thoughts.push({ text, thought: true, thoughtSignature })
  } else if (text !== '') thoughts.push({ text, thought: true })
  if (redacted !== undefined) {
    const thoughtSignature = signatureForCaller({ redacted })
    thoughts.push({ text: '', thought: true, thoughtSignature })
  }
  return thoughts
}

/**
 * Returns a tool call's arguments as an object, which the format requires. A JSON value that is not
 * an object becomes the member `value` of an object. Invalid JSON becomes the member `invalidJson`.
 */
function parseArguments(json: string): JsonObject {
  if (json.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(json)
    return isObject(value) ? value : { value }
  } catch {
    return { invalidJson: json }
  }
}
