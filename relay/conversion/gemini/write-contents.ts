import { isObject, type JsonObject, parsedObject } from '#relay/canonical/json-values.ts'
import { UNCHECKED_SIGNATURE } from '#relay/canonical/thinking-signature-prefixes.ts'
import type {
  CanonicalMessage,
  CanonicalRequest,
  ContentPart,
  ThinkingPart,
  ToolCallPart,
  ToolResultPart,
} from '../../canonical/canonical-request.ts'
import { addLoss } from '../collect-losses.ts'
import { JsonTextBudget } from '../limit-json-in-texts.ts'
import { writeMedia } from './convert-inline-and-file-data.ts'
import { isMadeUpCallId } from './create-tool-call-ids.ts'
import { isGemini3 } from './model-version.ts'
import { splitPictures } from './pictures-as-markdown.ts'
import { signatureForGemini } from './thought-signature.ts'

/**
 * The maximum length of the name of a function that is written in its results. Gemini accepts no
 * longer names. Without the limit, each result of a call would repeat the name.
 */
const RESULT_NAME_LENGTH_MAX = 64

/** A part of the canonical request, and its path in the request. */
type Located<Part = ContentPart> = { readonly part: Part; readonly path: string }
type Turn = { readonly role: 'user' | 'model'; readonly parts: Located[] }
type Contents = {
  readonly systemInstruction: JsonObject | null
  readonly contents: readonly JsonObject[]
}

/**
 * Writes the conversation. Gemini requires a turn with calls to follow a user's turn. Gemini also
 * requires the results of all these calls to follow immediately, in one content object without
 * other parts.
 */
export function writeContents(request: CanonicalRequest, losses: string[]): Contents {
  const writer = new ContentsWriter(request, losses)
  const system = writer.writeSystem(request.system)
  const contents = turnsOf(request.messages, losses).flatMap((turn) => writer.writeTurn(turn))
  const [first] = contents
  if (first === undefined) {
    // Gemini refuses a request without contents, so the instructions become a user's message.
    const onlySystem = system.length === 0 ? [] : [{ role: 'user', parts: system }]
    if (system.length > 0) addLoss(losses, 'system (as a user message)')
    return { systemInstruction: null, contents: onlySystem }
  }
  const systemInstruction = system.length === 0 ? null : { parts: system }
  if (first.role !== 'model' || !hasCall(first)) return { systemInstruction, contents }
  addLoss(losses, 'messages (an empty user message was added before the first call)')
  return { systemInstruction, contents: [{ role: 'user', parts: [{ text: ' ' }] }, ...contents] }
}

const locate = (parts: readonly ContentPart[], path: string): Located[] =>
  parts.map((part, index) => ({ part, path: `${path}[${index}]` }))

const hasCall = ({ parts }: JsonObject): boolean =>
  Array.isArray(parts) && parts.some((part) => isObject(part) && part.functionCall !== undefined)

/**
 * Joins consecutive messages of the same side. A `system` message becomes a user's message and is
 * reported as lost.
 */
function turnsOf(messages: readonly CanonicalMessage[], losses: string[]): Turn[] {
  const turns: Turn[] = []
  for (const [index, { role, parts }] of messages.entries()) {
    const path = `messages[${index}]`
    if (role === 'system') addLoss(losses, `${path} (system)`)
    const side = role === 'assistant' ? 'model' : 'user'
    const located = locate(parts, `${path}.parts`)
    const last = turns.at(-1)
    if (last?.role === side) for (const each of located) last.parts.push(each)
    else turns.push({ role: side, parts: located })
  }
  return turns
}

class ContentsWriter {
  private readonly isGemini3: boolean
  private readonly losses: string[]
  private readonly resultBudget = new JsonTextBudget()
  /** The tool calls that were written so far, by id. */
  private readonly calls = new Map<string, { readonly name: string; readonly order: number }>()

  constructor({ model }: CanonicalRequest, losses: string[]) {
    this.isGemini3 = isGemini3(model)
    this.losses = losses
  }

  /** Writes the parts of the system instruction. Parts other than texts are reported as lost. */
  writeSystem(parts: readonly ContentPart[]): JsonObject[] {
    const located = locate(parts, 'system')
    for (const { part, path } of located) {
      if (part.kind !== 'text') addLoss(this.losses, `${path} (${part.kind})`)
    }
    return this.writeParts(located.filter(({ part }) => part.kind === 'text'))
  }

  writeTurn({ role, parts }: Turn): readonly JsonObject[] {
    if (role === 'model') {
      const written = parts.flatMap((located) =>
        this.writeParts([located]).flatMap((part) => this.withPictures(part, located.path)),
      )
      this.signFirstCall(written)
      return written.length === 0 ? [] : [{ role, parts: written }]
    }
    const results = parts.filter(isResult).toSorted((a, b) => this.orderOf(a) - this.orderOf(b))
    const written = results.map((result) => this.writeResult(result))
    const others = [
      ...written.flatMap(({ media }) => media),
      ...this.writeParts(parts.filter((each) => !isResult(each))),
    ]
    return [
      ...(results.length > 0 ? [{ role, parts: written.map(({ part }) => part) }] : []),
      ...(others.length > 0 ? [{ role, parts: others }] : []),
    ]
  }

  /**
   * Returns the position of a result's call among all calls. Results are written in the order of
   * their calls, because older models match results to calls by this order. A result without a call
   * comes last.
   */
  private orderOf({ part }: Located<ToolResultPart>): number {
    return this.calls.get(part.callId)?.order ?? this.calls.size
  }

  writeParts(parts: readonly Located[]): JsonObject[] {
    return parts.flatMap((located) => {
      const written = this.writePart(located)
      return written === null ? [] : [written]
    })
  }

  private writePart({ part, path }: Located): JsonObject | null {
    if ('cache' in part && part.cache !== undefined) addLoss(this.losses, `${path}.cache`)
    switch (part.kind) {
      case 'text': {
        const { text, signature } = part
        if (signature !== undefined) return { text, thoughtSignature: signature }
        return text === '' ? null : { text }
      }
      case 'refusal':
        return part.text === '' ? null : { text: part.text }
      case 'thinking':
        return this.writeThinking(part, path)
      case 'tool-call':
        return this.writeCall(part, path)
      case 'tool-result':
        addLoss(this.losses, `${path} (tool-result)`)
        return null
      default:
        if (part.kind === 'document' && part.name !== undefined)
          addLoss(this.losses, `${path}.name`)
        if (part.kind === 'image' && part.detail !== undefined && part.detail !== 'auto') {
          addLoss(this.losses, `${path}.detail`)
        }
        return writeMedia(part)
    }
  }

  private writeThinking(part: ThinkingPart, path: string): JsonObject | null {
    const { text, redacted } = part
    if (redacted !== undefined) {
      addLoss(this.losses, `${path}.redacted`)
      return null
    }
    const signature = part.signature === undefined ? null : signatureForGemini(part.signature)
    if (part.signature !== undefined && signature === null)
      addLoss(this.losses, `${path}.signature`)
    if (signature !== null) return { text, thought: true, thoughtSignature: signature }
    return text === '' ? null : { text, thought: true }
  }

  private writeCall(call: ToolCallPart, path: string): JsonObject {
    this.calls.set(call.id, { name: call.name, order: this.calls.size })
    const args = parsedObject(call.argumentsJson)
    if (args === null && call.argumentsJson.trim() !== '') {
      addLoss(this.losses, `${path}.argumentsJson`)
    }
    return {
      functionCall: { ...this.idMember(call.id), name: call.name, args: args ?? {} },
      ...(call.signature !== undefined && { thoughtSignature: call.signature }),
    }
  }

  /**
   * Splits a text with pictures into texts and pictures. A text with a signature is not split,
   * because the signature belongs to the whole text.
   */
  private withPictures(part: JsonObject, path: string): readonly JsonObject[] {
    const { text, thought, thoughtSignature } = part
    if (typeof text !== 'string' || thought === true || thoughtSignature !== undefined)
      return [part]
    let hasSmallPicture = false
    const split = splitPictures(text, () => {
      hasSmallPicture = true
    })
    if (hasSmallPicture) addLoss(this.losses, `${path} (small pictures as text)`)
    if (!this.isGemini3) return split
    return split.map((each) =>
      each.inlineData === undefined ? each : { ...each, thoughtSignature: UNCHECKED_SIGNATURE },
    )
  }

  /** Returns the member `id` of a call. Models before Gemini 3 refuse this member. */
  private idMember(id: string): JsonObject {
    return this.isGemini3 && id !== '' && !isMadeUpCallId(id) ? { id } : {}
  }

  /**
   * Gives the first call a placeholder signature if the call has no signature and the model is
   * Gemini 3 or later. These models refuse a turn whose first call has no signature.
   */
  private signFirstCall(parts: JsonObject[]): void {
    const index = parts.findIndex((part) => part.functionCall !== undefined)
    const first = parts[index]
    if (!this.isGemini3 || first === undefined || first.thoughtSignature !== undefined) return
    parts[index] = { ...first, thoughtSignature: UNCHECKED_SIGNATURE }
  }

  /**
   * Writes a function's result. Also returns the media that the result can't contain. Models before
   * Gemini 3 accept no media in a result, and no model accepts the address of a file in a result.
   */
  private writeResult({ part, path }: Located<ToolResultPart>) {
    if (part.cache !== undefined) addLoss(this.losses, `${path}.cache`)
    const texts: string[] = []
    const nested: JsonObject[] = []
    const media: JsonObject[] = []
    for (const located of locate(part.parts, `${path}.parts`)) {
      const written = this.writePart(located)
      if (typeof written?.text === 'string' && written.thought !== true) texts.push(written.text)
      else if (written?.inlineData !== undefined && this.isGemini3) nested.push(written)
      else if (written?.inlineData !== undefined || written?.fileData !== undefined) {
        media.push(written)
      } else if (written !== null) addLoss(this.losses, located.path)
    }
    const name = part.name || this.calls.get(part.callId)?.name || part.callId
    const functionResponse = {
      ...this.idMember(part.callId),
      name: name.slice(0, RESULT_NAME_LENGTH_MAX),
      response: responseOf(texts.join('\n'), part.isError, this.resultBudget),
      ...(nested.length > 0 && { parts: nested }),
    }
    return { part: { functionResponse }, media }
  }
}

const isResult = (located: Located): located is Located<ToolResultPart> =>
  located.part.kind === 'tool-result'

/**
 * Returns the result of a function as an object. The text of a JSON object is parsed, unless
 * serializing the object again would change the text, the budget is used up, or the object has one
 * of Gemini's keys `output` and `error`. Any other text becomes the member `output`. The text of an
 * error becomes the member `error`.
 */
function responseOf(text: string, isError: boolean, budget: JsonTextBudget): JsonObject {
  if (isError) return { error: text }
  // A list is kept as text, so it need not be parsed.
  const value = text.startsWith('{') && budget.take(text) ? parsedObject(text) : null
  const isExact = value !== null && JSON.stringify(value) === text
  if (!isExact || Object.hasOwn(value, 'output') || Object.hasOwn(value, 'error')) {
    return { output: text }
  }
  return value
}
