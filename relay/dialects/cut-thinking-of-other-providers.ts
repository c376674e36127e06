import {
  DETAIL_AS_JSON,
  GEMINI_SIGNATURE,
  OPENAI_SIGNATURE,
  UNCHECKED_SIGNATURE,
  WRAPPED_SIGNATURE,
} from '#relay/canonical/thinking-signature-prefixes.ts'
import { applyEdits, type ByteEdit } from './byte-edits.ts'
import {
  type SignaturePlaces,
  type SignedElement,
  type SignedObject,
  SignedObjectFinder,
} from './find-thinking-signatures.ts'
import { quoted } from './openai-chat/find-message-parts-and-tools.ts'
import { removals } from './openai-chat/upstream-body.ts'
import { type Member, scanObject } from './scan-request-object.ts'
import type { ChatRequest, FormatName } from './wire-format.ts'

/** Returns the beginning of a JSON string, with the quote in front. */
const beginningOf = (text: string): Buffer => quoted(text).subarray(0, -1)

const PREFIXED = [GEMINI_SIGNATURE, OPENAI_SIGNATURE].map(beginningOf)
const WRAPPED = beginningOf(WRAPPED_SIGNATURE)
const PLACES: Readonly<Partial<Record<FormatName, SignaturePlaces>>> = {
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

/** A body without the thinking that its provider would refuse. */
export type CutBody = {
  readonly body: Buffer
  /** The paths of the removed members, as `X-Conversion-Loss` names them. */
  readonly losses: readonly string[]
}

/**
 * Removes the thinking of other formats' providers from a request that is not converted. A caller
 * keeps such thinking with a signature that only the gateway can read, and sends it back after a
 * change of the model or the channel. Returns null if there is none, which needs no scan.
 * `needsCallSignatures` is true for a model that refuses calls without a signature.
 */
export function cutForeignThinking(
  { body, format: { name: format }, members }: ChatRequest,
  needsCallSignatures: boolean,
): CutBody | null {
  const places = PLACES[format]
  if (places === undefined || !places.beginnings.some((one) => body.includes(one))) return null
  const finder = new SignedObjectFinder(body, places)
  scanObject(body, undefined, null, finder)
  const { elements, isMixed } = finder
  const isGone = goneElements(format)
  const gone = elements.filter(isGone)
  const kept = elements.filter((element) => !isGone(element))
  // Without any message the request would be refused, too.
  if (isMixed || gone.length === elements.length) return null
  const losses = lossesIn(elements, places)
  if (losses.length === 0) return null
  const edits: ByteEdit[] = removals(elements, gone, spanOf)
  for (const { parts } of kept) {
    if (format !== 'gemini') edits.push(...cutParts(parts, parts.filter(isSigned)))
    else {
      edits.push(...cutParts(parts, parts.filter(isEmptyThought)))
      const signed = parts.filter((part) => !isEmptyThought(part))
      edits.push(...signed.flatMap((part) => cutSignature(body, part, needsCallSignatures)))
    }
  }
  const unusable = format === 'messages' ? unusableMembers(body, members, elements) : []
  edits.push(...removals(members, unusable, spanOfMember))
  return {
    body: applyEdits(body, edits),
    losses: [...losses, ...unusable.map(({ key }) => key)],
  }
}

const isSigned = ({ signature }: SignedObject): boolean => signature !== null
/** A thought of Gemini's format without a text has nothing but its signature. */
const isEmptyThought = ({ signature, hasContent }: SignedObject): boolean =>
  signature !== null && !hasContent
const spanOf = ({ start, end }: SignedObject) => ({ start, end })
const spanOfMember = ({ keyStart, valueEnd }: Member) => ({ start: keyStart, end: valueEnd })

/**
 * Returns a function that selects the elements to remove: those without any content that the
 * provider accepts.
 */
function goneElements(format: FormatName): (element: SignedElement) => boolean {
  const all = (isCut: (part: SignedObject) => boolean) => {
    return ({ parts }: SignedElement) => parts.length > 0 && parts.every(isCut)
  }
  if (format === 'responses') return isSigned
  if (format === 'gemini') return all(isEmptyThought)
  // A message of a chat has other members than the details of its thinking.
  return format === 'chat' ? () => false : all(isSigned)
}

function cutParts(
  parts: readonly SignedObject[],
  cut: readonly SignedObject[],
): readonly ByteEdit[] {
  const [first, last] = [parts[0], parts.at(-1)]
  if (first === undefined || last === undefined || cut.length < parts.length) {
    return removals(parts, cut, spanOf)
  }
  return [{ start: first.start, end: last.end, text: '' }]
}

const QUOTE = 34
const COMMA = 44
const SPACES: ReadonlySet<number | undefined> = new Set([32, 9, 10, 13])

/** Removes the signature of a part, or replaces it with one that Gemini does not check. */
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
  // A part has another member, so a comma stands before its last one.
  return [{ start: body.lastIndexOf(COMMA, keyStart), end, text: '' }]
}

const lossesIn = (elements: readonly SignedElement[], { root, list }: SignaturePlaces) =>
  elements.flatMap((element, at) => {
    const path = `${root}[${at}]`
    if (list === null) return isSigned(element) ? [`${path} (thinking)`] : []
    return element.parts.flatMap((part, index) =>
      isSigned(part) ? [`${path}.${list}[${index}] (thinking)`] : [],
    )
  })

const CLEAR_THINKING = Buffer.from('"clear_thinking_')

/**
 * Returns the members that Anthropic refuses if no thinking is before the calls whose results end
 * the conversation: a budget of thinking, and edits that need thinking.
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
