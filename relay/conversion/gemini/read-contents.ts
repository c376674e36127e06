import { isObject, type JsonObject } from '#relay/canonical/json-values.ts'
import {
  type CanonicalMessage,
  type ContentPart,
  ConversionError,
  type ThinkingPart,
  type ToolResultPart,
} from '../../canonical/canonical-request.ts'
import { withCallerPath } from '../caller-paths-of-canonical-parts.ts'
import { addLoss } from '../collect-losses.ts'
import { readFileData, readInlineData } from './convert-inline-and-file-data.ts'
import { callIdInRequest } from './create-tool-call-ids.ts'
import { TurnBuilder } from './join-model-contents.ts'
import {
  listOrSingle,
  type Members,
  membersOf,
  reportUnknownMembers,
  textMember,
} from './members-in-either-spelling.ts'
import { readSignature, readThought, readThoughtsOfCall } from './thought-signature.ts'

const ROLES = new Map<string, 'user' | 'assistant'>([
  ['user', 'user'],
  ['model', 'assistant'],
  // Older client libraries send function responses with these roles.
  ['function', 'user'],
  ['tool', 'user'],
])
const CONTENT_NAMES = new Set(['role', 'parts'])
const DATA_NAMES = ['text', 'inlineData', 'fileData', 'functionCall', 'functionResponse']
const PART_NAMES = new Set([...DATA_NAMES, 'thought', 'thoughtSignature'])

/** Reads `contents`. An empty content object has no effect and is left out. */
export function readContents(value: unknown, losses: string[]): readonly CanonicalMessage[] {
  const reader = new ContentsReader(losses)
  const turns = new TurnBuilder()
  for (const [index, content] of listOrSingle(value, 'contents').entries()) {
    const path = `contents[${index}]`
    const members = membersOf(content, path)
    reportUnknownMembers(members, CONTENT_NAMES, path, losses)
    const role = ROLES.get(textMember(members, 'role', path) ?? 'user')
    if (role === undefined) {
      throw new ConversionError(`${path}.role`, `${path}.role must be user or model`)
    }
    const parts = listOrSingle(members.get('parts'), `${path}.parts`).map((part, partIndex) =>
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

/** Reads `systemInstruction`, which is a text or a content object with texts. */
export function readSystem(value: unknown, losses: string[]): readonly ContentPart[] {
  if (value === undefined) return []
  if (typeof value === 'string') return value === '' ? [] : [{ kind: 'text', text: value }]
  const path = 'systemInstruction'
  const members = membersOf(value, path)
  reportUnknownMembers(members, CONTENT_NAMES, path, losses)
  return listOrSingle(members.get('parts'), `${path}.parts`).flatMap((part, index) => {
    const at = `${path}.parts[${index}]`
    const partMembers = membersOf(part, at)
    reportUnknownMembers(partMembers, new Set(['text']), at, losses)
    const text = textMember(partMembers, 'text', at)
    return text === null || text === '' ? [] : [{ kind: 'text' as const, text }]
  })
}

type PartPosition = {
  readonly role: 'user' | 'assistant'
  readonly content: number
  readonly part: number
}
type ReadPart = {
  readonly part: ContentPart | null
  /** The thoughts that are stored in the signature of a tool call: see `thoughtsForCaller`. */
  readonly thoughts: readonly ThinkingPart[]
}
type OpenCall = { readonly id: string; readonly name: string }

/** Reads the parts in order, and finds the tool call to which each function response belongs. */
class ContentsReader {
  private readonly losses: string[]
  /** The tool calls that have no response so far. */
  private readonly openCalls: OpenCall[] = []

  constructor(losses: string[]) {
    this.losses = losses
  }

  readPart(value: unknown, position: PartPosition): ReadPart {
    const path = `contents[${position.content}].parts[${position.part}]`
    const members = membersOf(value, path)
    const kinds = DATA_NAMES.filter((name) => members.has(name))
    if (kinds.length > 1) {
      throw new ConversionError(path, `${path} has both ${kinds[0]} and ${kinds[1]}`)
    }
    reportUnknownMembers(members, PART_NAMES, path, this.losses)
    const part = this.readData(kinds[0] ?? null, members, path, position)
    if (part === null) return { part, thoughts: [] }
    const field = members.get('thoughtSignature')
    const isSigned = part.kind === 'text' || part.kind === 'thinking' || part.kind === 'tool-call'
    if (!isSigned && readSignature(field) !== null) addLoss(this.losses, `${path}.thoughtSignature`)
    const thoughts = part.kind === 'tool-call' ? readThoughtsOfCall(field) : []
    return { part: withCallerPath(part, path), thoughts }
  }

  private readData(
    kind: string | null,
    members: Members,
    path: string,
    position: PartPosition,
  ): ContentPart | null {
    switch (kind) {
      case 'inlineData':
        return readInlineData(members.get(kind), `${path}.${kind}`, this.losses)
      case 'fileData':
        return readFileData(members.get(kind), `${path}.${kind}`, this.losses)
      case 'functionCall':
        requireRole('assistant', position, `${path}.${kind}`)
        return this.readCall(members, `${path}.${kind}`, position)
      case 'functionResponse':
        requireRole('user', position, `${path}.${kind}`)
        return this.readResponse(members.get(kind), `${path}.${kind}`, position)
      case 'text':
        return readText(members, path, position.role)
      default:
        // Some client libraries send a signature in a part without data.
        return members.has('thoughtSignature') ? readText(members, path, position.role) : null
    }
  }

  private readCall(part: Members, path: string, position: PartPosition): ContentPart {
    const call = membersOf(part.get('functionCall'), path)
    reportUnknownMembers(call, new Set(['id', 'name', 'args']), path, this.losses)
    const name = textMember(call, 'name', path)
    if (name === null || name === '') {
      throw new ConversionError(`${path}.name`, `${path} needs a name`)
    }
    const args = call.get('args') ?? {}
    if (!isObject(args)) {
      throw new ConversionError(`${path}.args`, `${path}.args must be an object`)
    }
    const id = textMember(call, 'id', path) || callIdInRequest(position.content, position.part)
    this.openCalls.push({ id, name })
    const signature = readSignature(part.get('thoughtSignature'))
    const argumentsJson = JSON.stringify(args)
    return { kind: 'tool-call', id, name, argumentsJson, ...(signature !== null && { signature }) }
  }

  private readResponse(value: unknown, path: string, position: PartPosition): ToolResultPart {
    const response = membersOf(value, path)
    reportUnknownMembers(response, new Set(['id', 'name', 'response', 'parts']), path, this.losses)
    const call = this.takeCall(
      textMember(response, 'id', path) || null,
      textMember(response, 'name', path),
    )
    const { text, isError } = readOutput(response.get('response') ?? {}, `${path}.response`)
    const media = listOrSingle(response.get('parts'), `${path}.parts`).flatMap((part, index) => {
      const at = `${path}.parts[${index}]`
      const members = membersOf(part, at)
      reportUnknownMembers(members, new Set(['inlineData', 'fileData']), at, this.losses)
      const read = members.has('inlineData')
        ? readInlineData(members.get('inlineData'), `${at}.inlineData`, this.losses)
        : readFileData(members.get('fileData') ?? {}, `${at}.fileData`, this.losses)
      return read === null ? [] : [read]
    })
    const texts: ContentPart[] = text === '' ? [] : [{ kind: 'text', text }]
    return {
      kind: 'tool-result',
      callId: call?.id ?? callIdInRequest(position.content, position.part),
      name: call?.name ?? '',
      parts: [...texts, ...media],
      isError,
    }
  }

  /**
   * Finds and removes the open call to which a response belongs: the call with the response's id
   * or, if the response has no id, the first open call of the same function. If no call is found,
   * returns the response's id and name, or null if the response has no id. Such a response is still
   * converted, and the provider reports the error.
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

function requireRole(role: PartPosition['role'], position: PartPosition, path: string): void {
  if (position.role === role) return
  const name = role === 'user' ? 'user' : 'model'
  throw new ConversionError(path, `${path} must be in a content with the role ${name}`)
}

/**
 * Reads a text or a thought. Users have no thoughts, so a thought in a user's content is read as
 * text. Returns null for an empty text without a signature.
 */
function readText(members: Members, path: string, role: PartPosition['role']): ContentPart | null {
  const text = textMember(members, 'text', path) ?? ''
  const field = members.get('thoughtSignature')
  const isThought = members.get('thought') === true && role === 'assistant'
  if (isThought) return readThought(text, field)
  const signature = readSignature(field)
  if (signature !== null) return { kind: 'text', text, signature }
  return text === '' ? null : { kind: 'text', text }
}

/**
 * Reads the value that a function returned. An object with the single key `error` is a failure, and
 * the value of `error` is the output. If the single key is `output` or `result` and the value is a
 * text, this text is the output. `output` and `error` are Gemini's keys, and many of Google's
 * examples use `result`. Any other object is itself the output.
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
