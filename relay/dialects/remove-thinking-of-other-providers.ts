import {
  DETAIL_AS_JSON,
  GEMINI_SIGNATURE,
  OPENAI_SIGNATURE,
  UNCHECKED_SIGNATURE,
  WRAPPED_SIGNATURE,
} from '#relay/canonical/thinking-signature-prefixes.ts'
import { applyEdits, type ByteEdit } from './byte-edits.ts'
import {
  type SignatureLocations,
  type SignedElement,
  type SignedObject,
  SignedObjectFinder,
} from './find-thinking-signatures.ts'
import { quoted } from './openai-chat/find-message-parts-and-tools.ts'
import { editsToRemove } from './openai-chat/upstream-body.ts'
import { type Member, scanObject } from './scan-request-object.ts'
import type { ChatRequest, FormatName } from './wire-format.ts'

/** Returns the JSON form of the beginning of a string, with the opening quote. */
const beginningOf = (text: string): Buffer => quoted(text).subarray(0, -1)

const PREFIXED = [GEMINI_SIGNATURE, OPENAI_SIGNATURE].map(beginningOf)
const WRAPPED = beginningOf(WRAPPED_SIGNATURE)
const LOCATIONS: Readonly<Partial<Record<FormatName, SignatureLocations>>> = {
  chat: {
    ...{ root: 'messages', list: 'reasoning_details' },
    members: ['signature', 'data'].map(quoted),
    beginnings: PREFIXED,
  },
  messages: {
    ...{ root: 'messages', list: 'content' },
    members: ['signature', 'data'].map(quoted),
    beginnings: [...PREFIXED, beginningOf(DETAIL_AS_JSON), WRAPPED],
  },
  responses: {
    ...{ root: 'input', list: null },
    members: [quoted('encrypted_content')],
    beginnings: [WRAPPED],
  },
  gemini: {
    ...{ root: 'contents', list: 'parts' },
    members: ['thoughtSignature', 'thought_signature'].map(quoted),
    beginnings: [WRAPPED],
  },
}

/** The letters of English texts, the most frequent first. Capital letters are less frequent. */
const FREQUENT = 'etaoinshrdlcumwfgypbvkjxqz'
const rarityOf = (letter: string): number =>
  FREQUENT.includes(letter) ? FREQUENT.indexOf(letter) : FREQUENT.length

/**
 * The number of bytes of a text that are searched first. Node searches for a text of at most seven
 * bytes by its first byte, so the search is fast if this byte is rare. The search for a longer text
 * takes up to a millisecond per megabyte.
 */
const SEARCHED_FIRST = 7
/** The part of each text that is searched first. It begins with the text's rarest letter. */
const SEARCHED: ReadonlyMap<Buffer, Buffer> = new Map(
  Object.values(LOCATIONS).flatMap(({ beginnings }) =>
    beginnings.map((text) => [text, rarestPartOf(text)] as const),
  ),
)

function rarestPartOf(text: Buffer): Buffer {
  const letters = [...text.toString('latin1')].slice(0, 1 - SEARCHED_FIRST)
  const rarities = letters.map((letter) => (/[a-z]/i.test(letter) ? rarityOf(letter) : -1))
  const start = rarities.indexOf(Math.max(...rarities))
  return text.subarray(start, start + SEARCHED_FIRST)
}

/** Reports whether a body contains `text`, which is one of the `beginnings` in `LOCATIONS`. */
const isIn = (body: Buffer, text: Buffer): boolean =>
  body.includes(SEARCHED.get(text) ?? text) && body.includes(text)

/** A request body without the thinking that the provider would refuse. */
type ReducedBody = {
  readonly body: Buffer
  /** The paths of the removed members, in the form of the header `X-Conversion-Loss`. */
  readonly losses: readonly string[]
}

/**
 * Returns the body of a request that is sent without conversion, without the thinking that
 * providers of other formats made. When the gateway converts an answer, it gives the thinking a
 * signature that only the gateway can read. The caller sends this thinking back even after the
 * model or the channel has changed. Returns null if nothing is removed, if no message would remain,
 * or if a searched list contains values other than objects. `needsCallSignatures` is true for a
 * model that refuses tool calls without a signature.
 */
export function removeForeignThinking(
  { body, format: { name: format }, members }: ChatRequest,
  needsCallSignatures: boolean,
): ReducedBody | null {
  const locations = LOCATIONS[format]
  if (locations === undefined || !locations.beginnings.some((one) => isIn(body, one))) return null
  const finder = new SignedObjectFinder(body, locations)
  scanObject(body, undefined, null, finder)
  const { elements, isMixed } = finder
  const isRemoved = removalTestFor(format)
  const removed = elements.filter(isRemoved)
  const kept = elements.filter((element) => !isRemoved(element))
  // If no message remained, the provider would refuse the request anyway.
  if (isMixed || removed.length === elements.length) return null
  const losses = lossesIn(elements, locations)
  if (losses.length === 0) return null
  const edits: ByteEdit[] = editsToRemove(elements, removed, spanOf)
  for (const { parts } of kept) {
    if (format !== 'gemini') edits.push(...cutParts(parts, parts.filter(isSigned)))
    else {
      edits.push(...cutParts(parts, parts.filter(isEmptyThought)))
      const signed = parts.filter((part) => !isEmptyThought(part))
      edits.push(...signed.flatMap((part) => cutSignature(body, part, needsCallSignatures)))
    }
  }
  const unusable = format === 'messages' ? unusableMembers(body, members, elements) : []
  edits.push(...editsToRemove(members, unusable, spanOfMember))
  return {
    body: applyEdits(body, edits),
    losses: [...losses, ...unusable.map(({ key }) => key)],
  }
}

const isSigned = ({ signature }: SignedObject): boolean => signature !== null
/**
 * Reports whether a part is a Gemini thought that has a signature of the gateway and no content.
 */
const isEmptyThought = ({ signature, hasContent }: SignedObject): boolean =>
  signature !== null && !hasContent
const spanOf = ({ start, end }: SignedObject) => ({ start, end })
const spanOfMember = ({ keyStart, valueEnd }: Member) => ({ start: keyStart, end: valueEnd })

/**
 * Returns a function that reports whether a whole element is removed, because the provider would
 * accept none of its content.
 */
function removalTestFor(format: FormatName): (element: SignedElement) => boolean {
  const all = (isCut: (part: SignedObject) => boolean) => {
    return ({ parts }: SignedElement) => parts.length > 0 && parts.every(isCut)
  }
  if (format === 'responses') return isSigned
  if (format === 'gemini') return all(isEmptyThought)
  // A chat message has content besides the details of its thinking, so the message is never
  // removed.
  return format === 'chat' ? () => false : all(isSigned)
}

function cutParts(
  parts: readonly SignedObject[],
  cut: readonly SignedObject[],
): readonly ByteEdit[] {
  const [first, last] = [parts[0], parts.at(-1)]
  if (first === undefined || last === undefined || cut.length < parts.length) {
    return editsToRemove(parts, cut, spanOf)
  }
  return [{ start: first.start, end: last.end, text: '' }]
}

const QUOTE = 34
const COMMA = 44
const SPACES: ReadonlySet<number | undefined> = new Set([32, 9, 10, 13])

/**
 * Returns the edit that removes the signature of a part, if it has one. If the model refuses tool
 * calls without a signature, the signature of a tool call is replaced by a value that Gemini does
 * not check.
 */
function cutSignature(
  body: Buffer,
  { signature, hasCall }: SignedObject,
  needsCallSignatures: boolean,
): readonly ByteEdit[] {
  if (signature === null) return []
  const { keyStart, valueStart } = signature
  const end = body.indexOf(QUOTE, valueStart + 1) + 1
  if (hasCall && needsCallSignatures) {
    return [{ start: valueStart, end, text: JSON.stringify(UNCHECKED_SIGNATURE) }]
  }
  let next = end
  while (SPACES.has(body[next])) next += 1
  if (body[next] === COMMA) return [{ start: keyStart, end: next + 1, text: '' }]
  // The signature is the last of several members, so a comma precedes it.
  return [{ start: body.lastIndexOf(COMMA, keyStart), end, text: '' }]
}

const lossesIn = (elements: readonly SignedElement[], { root, list }: SignatureLocations) =>
  elements.flatMap((element, at) => {
    const path = `${root}[${at}]`
    if (list === null) return isSigned(element) ? [`${path} (thinking)`] : []
    return element.parts.flatMap((part, index) =>
      isSigned(part) ? [`${path}.${list}[${index}] (thinking)`] : [],
    )
  })

const CLEAR_THINKING = Buffer.from('"clear_thinking_')

/**
 * Returns the members that Anthropic would refuse after the removal: a thinking budget, and edits
 * that clear thinking. Anthropic refuses these members if the conversation ends with tool results,
 * and no thinking precedes the calls of these tools.
 */
function unusableMembers(
  body: Buffer,
  members: readonly Member[],
  elements: readonly SignedElement[],
): readonly Member[] {
  const [answer, results] = elements.slice(-2)
  const endsWithResults = results?.parts.some(({ type }) => type === '"tool_result"') === true
  const [first] = answer?.parts.filter((part) => !isSigned(part)) ?? []
  const isCut = answer?.parts.some(isSigned) === true
  if (!endsWithResults || !isCut || /thinking/.test(first?.type ?? '')) return []
  const membersWith = (name: string, value: string | Buffer) =>
    members.filter(
      ({ key, valueStart, valueEnd }) =>
        key === name && body.subarray(valueStart, valueEnd).includes(value),
    )
  const thinking = membersWith('thinking', '"enabled"')
  if (thinking.length === 0) return []
  return [...thinking, ...membersWith('context_management', CLEAR_THINKING)]
}
