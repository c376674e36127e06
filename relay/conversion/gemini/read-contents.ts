import {
  type CanonicalMessage,
  type ContentPart,
  ConversionError,
  type JsonObject,
  type ThinkingPart,
  type ToolResultPart,
} from '../canonical-request.ts'
import { addLoss } from '../collect-losses.ts'
import { isObject } from '../json-fields.ts'
import { withPlace } from '../paths-of-parts-in-caller-request.ts'
import { readFileData, readInlineData } from './convert-inline-and-file-data.ts'
import { TurnBuilder } from './join-model-contents.ts'
import {
  listOf,
  type Members,
  membersOf,
  reportOthers,
  textOf,
} from './members-in-either-spelling.ts'
import { readSignature, readThought, readThoughtsOfCall } from './thought-signature.ts'
import { callIdInRequest } from './tool-call-ids.ts'

const ROLES = new Map<string, 'user' | 'assistant'>([
  ['user', 'user'],
  ['model', 'assistant'],
  // Older SDKs send function responses with these roles.
  ['function', 'user'],
  ['tool', 'user'],
])
const CONTENT_NAMES = new Set(['role', 'parts'])
const DATA_NAMES = ['text', 'inlineData', 'fileData', 'functionCall', 'functionResponse']
const PART_NAMES = new Set([...DATA_NAMES, 'thought', 'thoughtSignature'])

/** Reads `contents`. An empty content has no effect and is left out. */
export function readContents(value: unknown, losses: string[]): readonly CanonicalMessage[] {
  const reader = new ContentsReader(losses)
  const turns = new TurnBuilder()
  for (const [index, content] of listOf(value, 'contents').entries()) {
    const path = `contents[${index}]`
    const members = membersOf(content, path)
    reportOthers(members, CONTENT_NAMES, path, losses)
    const role = ROLES.get(textOf(members, 'role', path) ?? 'user')
    if (role === undefined) {
      throw new ConversionError(`${path}.role`, `${path}.role must be user or model`)
    }
    const parts = listOf(members.get('parts'), `${path}.parts`).map((part, partIndex) =>
      reader.readPart(part, { role, content: index, part: partIndex }),
    )
    if (role === 'user') turns.addUserContent(parts.flatMap(({ part }) => part ?? []))
    else addModelContent(turns, parts)
  }
  return turns.messages
}

function addModelContent(turns: TurnBuilder, parts: readonly ReadPart[]): void {
  turns.beginModelContent()
  for (const [index, { part, thoughts }] of parts.entries()) {
    turns.addThoughtsOfCall(thoughts)
    if (part !== null) turns.addPart(part, index === 0)
  }
}

/** Reads `systemInstruction`, which is either a text or a content object with texts. */
export function readSystem(value: unknown, losses: string[]): readonly ContentPart[] {
  if (value === undefined) return []
  if (typeof value === 'string') return value === '' ? [] : [{ kind: 'text', text: value }]
  const path = 'systemInstruction'
  const members = membersOf(value, path)
  reportOthers(members, CONTENT_NAMES, path, losses)
  return listOf(members.get('parts'), `${path}.parts`).flatMap((part, index) => {
    const at = `${path}.parts[${index}]`
    const partMembers = membersOf(part, at)
    reportOthers(partMembers, new Set(['text']), at, losses)
    const text = textOf(partMembers, 'text', at)
    return text === null || text === '' ? [] : [{ kind: 'text' as const, text }]
  })
}

type PartPlace = {
  readonly role: 'user' | 'assistant'
  readonly content: number
  readonly part: number
}
type ReadPart = {
  readonly part: ContentPart | null
  /** The thoughts in the signature of a call: see `thoughtsForCaller`. */
  readonly thoughts: readonly ThinkingPart[]
}
type OpenCall = { readonly id: string; readonly name: string }

/** Reads parts in their order, and finds the call to which each function response belongs. */
class ContentsReader {
  private readonly losses: string[]
  /** The calls without a response so far. */
  private readonly openCalls: OpenCall[] = []

  constructor(losses: string[]) {
    this.losses = losses
  }

  readPart(value: unknown, place: PartPlace): ReadPart {
    const path = `contents[${place.content}].parts[${place.part}]`
    const members = membersOf(value, path)
    const kinds = DATA_NAMES.filter((name) => members.has(name))
    if (kinds.length > 1) {
      throw new ConversionError(path, `${path} has both ${kinds[0]} and ${kinds[1]}`)
    }
    reportOthers(members, PART_NAMES, path, this.losses)
    const part = this.readData(kinds[0] ?? null, members, path, place)
    if (part === null) return { part, thoughts: [] }
    const field = members.get('thoughtSignature')
    const isSigned = part.kind === 'text' || part.kind === 'thinking' || part.kind === 'tool-call'
    if (!isSigned && readSignature(field) !== null) addLoss(this.losses, `${path}.thoughtSignature`)
    const thoughts = part.kind === 'tool-call' ? readThoughtsOfCall(field) : []
    return { part: withPlace(part, path), thoughts }
  }

  private readData(
    kind: string | null,
    members: Members,
    path: string,
    place: PartPlace,
  ): ContentPart | null {
    switch (kind) {
      case 'inlineData':
        return readInlineData(members.get(kind), `${path}.${kind}`, this.losses)
      case 'fileData':
        return readFileData(members.get(kind), `${path}.${kind}`, this.losses)
      case 'functionCall':
        requireRole('assistant', place, `${path}.${kind}`)
        return this.readCall(members, `${path}.${kind}`, place)
      case 'functionResponse':
        requireRole('user', place, `${path}.${kind}`)
        return this.readResponse(members.get(kind), `${path}.${kind}`, place)
      case 'text':
        return readText(members, path, place.role)
      default:
        // Some SDKs send a signature in a part without data.
        return members.has('thoughtSignature') ? readText(members, path, place.role) : null
    }
  }

  private readCall(part: Members, path: string, place: PartPlace): ContentPart {
    const call = membersOf(part.get('functionCall'), path)
    reportOthers(call, new Set(['id', 'name', 'args']), path, this.losses)
    const name = textOf(call, 'name', path)
    if (name === null || name === '') {
      throw new ConversionError(`${path}.name`, `${path} needs a name`)
    }
    const args = call.get('args') ?? {}
    if (!isObject(args)) {
      throw new ConversionError(`${path}.args`, `${path}.args must be an object`)
    }
    const id = textOf(call, 'id', path) || callIdInRequest(place.content, place.part)
    this.openCalls.push({ id, name })
    const signature = readSignature(part.get('thoughtSignature'))
    const argumentsJson = JSON.stringify(args)
    return { kind: 'tool-call', id, name, argumentsJson, ...(signature !== null && { signature }) }
  }

  private readResponse(value: unknown, path: string, place: PartPlace): ToolResultPart {
    const response = membersOf(value, path)
    reportOthers(response, new Set(['id', 'name', 'response', 'parts']), path, this.losses)
    const call = this.takeCall(textOf(response, 'id', path) || null, textOf(response, 'name', path))
    const { text, isError } = readOutput(response.get('response') ?? {}, `${path}.response`)
    const media = listOf(response.get('parts'), `${path}.parts`).flatMap((part, index) => {
      const at = `${path}.parts[${index}]`
      const members = membersOf(part, at)
      reportOthers(members, new Set(['inlineData', 'fileData']), at, this.losses)
      const read = members.has('inlineData')
        ? readInlineData(members.get('inlineData'), `${at}.inlineData`, this.losses)
        : readFileData(members.get('fileData') ?? {}, `${at}.fileData`, this.losses)
      return read === null ? [] : [read]
    })
    const texts: ContentPart[] = text === '' ? [] : [{ kind: 'text', text }]
    return {
      kind: 'tool-result',
      callId: call?.id ?? callIdInRequest(place.content, place.part),
      name: call?.name ?? '',
      parts: [...texts, ...media],
      isError,
    }
  }

  /**
   * Finds the call of a response by its id, or the first call with its name. A response without a
   * call is passed on, so that the provider reports it.
   */
  private takeCall(id: string | null, name: string | null): OpenCall | null {
    const index = this.openCalls.findIndex((call) =>
      id === null ? call.name === name : call.id === id,
    )
    const [call] = index < 0 ? [] : this.openCalls.splice(index, 1)
    if (call !== undefined) return call
    return id === null ? null : { id, name: name ?? '' }
  }
}

function requireRole(role: PartPlace['role'], place: PartPlace, path: string): void {
  if (place.role === role) return
  const name = role === 'user' ? 'user' : 'model'
  throw new ConversionError(path, `${path} must be in a content with the role ${name}`)
}

/** A user has no thoughts, so that a thought in a content of the user is a text. */
function readText(members: Members, path: string, role: PartPlace['role']): ContentPart | null {
  const text = textOf(members, 'text', path) ?? ''
  const field = members.get('thoughtSignature')
  const isThought = members.get('thought') === true && role === 'assistant'
  if (isThought) return readThought(text, field)
  const signature = readSignature(field)
  if (signature !== null) return { kind: 'text', text, signature }
  return text === '' ? null : { kind: 'text', text }
}

/**
 * Reads what a function returned. Gemini's keys for an output and for an error are `output` and
 * `error`; `result` is the key in many of Google's examples. Any other object is the output itself.
 */
function readOutput(value: unknown, path: string): { text: string; isError: boolean } {
  if (!isObject(value)) throw new ConversionError(path, `${path} must be an object`)
  const names = Object.keys(value)
  if (names.length === 0) return { text: '', isError: false }
  const [name = ''] = names
  const isError = names.length === 1 && name === 'error'
  if (isError || (names.length === 1 && isPlainOutput(name, value))) {
    const output = value[name]
    return { text: typeof output === 'string' ? output : JSON.stringify(output), isError }
  }
  return { text: JSON.stringify(value), isError: false }
}

const isPlainOutput = (name: string, value: JsonObject): boolean =>
  (name === 'output' || name === 'result') && typeof value[name] === 'string'
