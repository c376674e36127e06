import { CALLS_MAX } from '#domain/pricing/charge.ts'
import {
  foldedName,
  type NamesByFoldedName,
  namesByFoldedName,
} from '#domain/shared/fold-json-member-names.ts'
import { readGeminiUsage } from '#relay/canonical/read-gemini-usage-for-billing.ts'
import {
  invalidParameter,
  isRelayError,
  missingParameter,
  notOneOf,
  type RelayError,
  relayError,
} from '#relay/canonical/relay-error.ts'
import { nestedMemberRules } from '../check-nested-json-members.ts'
import { type AnswerFault, answerListCheck, hasCounts } from '../check-successful-answer.ts'
import { ambiguousKey, jsonError } from '../invalid-json-error.ts'
import { TOOLS_MAX } from '../openai-chat/find-message-parts-and-tools.ts'
import { inputBoundOf } from '../openai-chat/input-token-bound.ts'
import {
  errorOfMisfit,
  integerOf,
  isMembers,
  isModelName,
  listTooLong,
  notOfKinds,
  OBJECTS,
  outOfRange,
  RESERVED,
  validOutline,
} from '../read-common-request-members.ts'
import type { JsonKind } from '../scan-json-tokens.ts'
import { type Member, scanObject } from '../scan-request-object.ts'
import {
  type ChatRequest,
  OUTPUT_TOKENS_MAX,
  type PathParameters,
  type WireFormat,
} from '../wire-format.ts'
import { bothSpellings, camelCased } from './camel-case.ts'
import { GEMINI_ERRORS } from './error-format.ts'
import { PartAndToolFinder } from './find-content-parts-and-tools.ts'
import { limitTools } from './limit-provider-tools.ts'
import { isOtherModel } from './model-named-in-body.ts'
import { readCandidateTexts } from './read-candidate-texts.ts'
import { GEMINI_STREAM, streamOfGeneration } from './stream-events.ts'
import { upstreamBody } from './upstream-body.ts'
import { answeredModel, usageInGeneration, withModelVersion } from './usage-and-model-in-answer.ts'

const LIST: readonly JsonKind[] = ['array', 'object']
/**
 * The JSON kinds that each field may have. A field of another kind is refused. The provider checks
 * the values. A null counts as an absent field. Where the API expects a list, it also accepts a
 * single object.
 */
const FIELDS: ReadonlyMap<string, readonly JsonKind[]> = new Map<string, readonly JsonKind[]>([
  ['contents', LIST],
  ['tools', LIST],
  ['safetySettings', LIST],
  ['systemInstruction', ['object', 'string']],
  ['toolConfig', ['object']],
  ['generationConfig', ['object']],
  ['model', ['string']],
])
const CONTENT_RULES = nestedMemberRules('contents', {
  role: ['string', 'null'],
  parts: ['array', 'object', 'null'],
})
const NAMES = namesByFoldedName(bothSpellings([...FIELDS.keys(), 'cachedContent', 'serviceTier']))
const MODALITIES = 'responseModalities'
const CONFIG_NAMES = namesByFoldedName(
  bothSpellings(['maxOutputTokens', 'candidateCount', MODALITIES]),
)
const NO_NAMES = namesByFoldedName([])

/**
 * Finds a member by its name in camelCase. The request may spell the name in camelCase or in
 * snake_case.
 */
const memberIn = (members: readonly Member[], name: string): Member | undefined =>
  members.find(({ key }) => camelCased(key) === name)

function errorInKind({ key, kind, length, isAllObjects }: Member): RelayError | null {
  const kinds = FIELDS.get(camelCased(key))
  if (kinds === undefined || kind === 'null') return null
  if (!kinds.includes(kind)) return notOfKinds(key, kinds)
  if (kind !== 'array') return null
  if (!isAllObjects) return notOneOf(key, [OBJECTS])
  return key === 'tools' && length > TOOLS_MAX ? listTooLong(key, TOOLS_MAX) : null
}

/**
 * Returns an error if a field occurs in camelCase and in snake_case. The API reads both spellings
 * as the same field, so the gateway and the provider could read different values.
 */
function errorInSpellings(members: readonly Member[], path = ''): RelayError | null {
  const seen = new Map<string, string>()
  for (const { key } of members) {
    const name = foldedName(camelCased(key))
    const other = seen.get(name)
    if (other !== undefined) return ambiguousKey(`${path}${key}`, `${path}${other}`)
    seen.set(name, key)
  }
  return null
}

/**
 * Reads the body of `generateContent` or `streamGenerateContent` without parsing it into objects.
 * The path names the model and decides whether the answer is a stream. Member names that resemble a
 * name in `known` are refused. `known` is empty if a checked request is read again after a change.
 */
export function readGenerateRequest(
  body: Buffer,
  path: PathParameters | null,
  known: NamesByFoldedName = NAMES,
): ChatRequest | RelayError {
  if (path === null || !isModelName(path.model)) {
    return invalidParameter('model')
  }
  const finder = new PartAndToolFinder(body)
  const members = scanObject(body, known, CONTENT_RULES, finder)
  if (!isMembers(members)) return jsonError(body, members)
  const error = errorInMembers(members) ?? errorInContents(memberIn(members, 'contents'))
  if (error !== null) return error
  const config = readConfig(body, memberIn(members, 'generationConfig'), known)
  if (isRelayError(config)) return config
  const toolLimits = limitTools(path.model, finder.pricedTools)
  return {
    format: GEMINI,
    body,
    members,
    model: path.model,
    isStream: path.isStream,
    // The format's chunks contain the usage, so every caller receives the usage.
    wantsUsage: true,
    ...config,
    reasoningEffort: null,
    inputBound: inputBoundOf(body, members, finder),
    tools: finder.tools,
    ...(namesOtherModel(body, memberIn(members, 'model'), path) ? { namesOtherModel: true } : {}),
    ...(toolLimits === undefined ? {} : { toolLimits }),
    ...(finder.files.length === 0 ? {} : { fileReferences: finder.files }),
  }
}

const namesOtherModel = (body: Buffer, member: Member | undefined, path: PathParameters): boolean =>
  member?.kind === 'string' &&
  isOtherModel(JSON.parse(body.toString('utf8', member.valueStart, member.valueEnd)), path)

function errorInMembers(members: readonly Member[]): RelayError | null {
  const spelling = errorInSpellings(members)
  if (spelling !== null) return spelling
  if (memberIn(members, RESERVED) !== undefined) {
    return invalidParameter(RESERVED)
  }
  const cached = memberIn(members, 'cachedContent')
  // A cache belongs to the operator's account at the provider. A caller could read the cache of
  // another caller, and nothing in the request limits the length of the cached content.
  if (cached !== undefined && cached.kind !== 'null') {
    return relayError('parameter_not_supported', { param: cached.key })
  }
  for (const member of members) {
    const error = errorInKind(member)
    if (error !== null) return error
  }
  return null
}

function errorInContents(contents: Member | undefined): RelayError | null {
  if (contents === undefined || contents.kind === 'null') {
    return missingParameter('contents')
  }
  if (contents.kind !== 'array') return null
  if (contents.length === 0) return notOneOf('contents', [OBJECTS])
  if (contents.ambiguity !== null) {
    const { path, other } = contents.ambiguity
    return ambiguousKey(`contents${path}`, other)
  }
  return errorOfMisfit(contents, 'contents')
}

/** Reads the limits and the modalities of the answer from `generationConfig`. */
function readConfig(
  body: Buffer,
  member: Member | undefined,
  known: NamesByFoldedName,
): Pick<ChatRequest, 'choices' | 'outputTokensMax' | 'hasNoImageAnswer'> | RelayError {
  if (member?.kind !== 'object') return { choices: 1, outputTokensMax: null }
  const bytes = body.subarray(member.valueStart, member.valueEnd)
  const members = scanObject(bytes, known.size === 0 ? NO_NAMES : CONFIG_NAMES)
  if (!isMembers(members)) {
    if (members.error === 'ambiguous')
      return ambiguousKey(`${member.key}.${members.key}`, members.other)
    if (members.error !== 'duplicate') return jsonError(bytes, members)
    return relayError('duplicate_key', { param: `${member.key}.${members.key}`.slice(0, 64) })
  }
  const error = errorInSpellings(members, `${member.key}.`)
  if (error !== null) return error
  const limit = memberIn(members, 'maxOutputTokens')
  const outputTokensMax = integerOf(bytes, limit, 1, OUTPUT_TOKENS_MAX)
  const count = memberIn(members, 'candidateCount')
  const choices = integerOf(bytes, count, 1, CALLS_MAX)
  if (outputTokensMax === undefined) {
    return outOfRange(`${member.key}.${limit?.key}`, 1, OUTPUT_TOKENS_MAX)
  }
  if (choices === undefined) return outOfRange(`${member.key}.${count?.key}`, 1, CALLS_MAX)
  const limits = { choices: choices ?? 1, outputTokensMax }
  const isWithoutImages = excludesImages(bytes, memberIn(members, MODALITIES))
  return isWithoutImages ? { ...limits, hasNoImageAnswer: true } : limits
}

/**
 * The maximum length in bytes of a list of modalities that is read. A longer list does not exclude
 * images.
 */
const MODALITIES_BYTES_MAX = 256
/** The modalities other than images. */
const WITHOUT_IMAGES: ReadonlySet<unknown> = new Set(['TEXT', 'AUDIO'])

/**
 * Reports whether the requested modalities exclude images. An empty list does not exclude images,
 * because it selects the model's defaults. A list with an unknown modality does not exclude images
 * either, because the modality may be a kind of image.
 */
function excludesImages(body: Buffer, modalities: Member | undefined): boolean {
  if (modalities?.kind !== 'array') return false
  const { valueStart, valueEnd } = modalities
  if (valueEnd - valueStart > MODALITIES_BYTES_MAX) return false
  const list = JSON.parse(body.toString('utf8', valueStart, valueEnd)) as unknown[]
  return list.length > 0 && list.every((modality) => WITHOUT_IMAGES.has(modality))
}

/**
 * Reads a request to count tokens. The body either is a request with contents, or has the member
 * `generateContentRequest` with a complete request. In the second case, the complete request is
 * returned.
 */
export function readGeminiCountRequest(
  body: Buffer,
  path: PathParameters,
): ChatRequest | RelayError {
  const members = scanObject(body)
  const inner = isMembers(members) ? memberIn(members, 'generateContentRequest') : undefined
  if (inner === undefined) return readGenerateRequest(body, path)
  if (inner.kind !== 'object') return notOfKinds(inner.key, ['object'])
  return readGenerateRequest(body.subarray(inner.valueStart, inner.valueEnd), path)
}

const shortBody: WireFormat['shortBody'] = (_path, outputTokens) => ({
  contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
  generationConfig: { maxOutputTokens: outputTokens },
})

function outlineOf({ model, isStream, outputTokensMax, choices }: ChatRequest): ChatRequest {
  const limit = outputTokensMax === null ? {} : { maxOutputTokens: outputTokensMax }
  const text = {
    contents: [{ role: 'user', parts: [{ text: 'x' }] }],
    generationConfig: { ...limit, candidateCount: choices },
  }
  const body = Buffer.from(JSON.stringify(text))
  return validOutline(readGenerateRequest(body, { model, isStream }, NO_NAMES))
}

const errorOfMembers = answerListCheck({
  list: 'candidates',
  // The answer to a prompt that was blocked has no candidates.
  substitute: 'promptFeedback',
  usageIn: usageInGeneration,
})

/**
 * Checks the body of an answer with status 200. Google omits empty lists, so an answer with only a
 * usage is an answer without candidates, for which Google charges.
 */
function errorOfGeneration(body: Buffer): AnswerFault | null {
  const error = errorOfMembers(body)
  return error === 'format' && hasCounts(usageInGeneration(body)) ? null : error
}

const CLIENT_HEADER = 'x-goog-api-client'

/** Gemini's `generateContent` and `streamGenerateContent`. */
export const GEMINI: WireFormat = {
  name: 'gemini',
  promptMember: 'contents',
  readRequest: (body, path) => readGenerateRequest(body, path),
  readChangedRequest: (body, path) => readGenerateRequest(body, path, NO_NAMES),
  shortBody,
  outlineOf,
  upstreamBody,
  passedHeaders: ({ [CLIENT_HEADER]: client }) =>
    client === undefined ? [] : [CLIENT_HEADER, String(client)],
  usageInAnswer: usageInGeneration,
  readUsage: readGeminiUsage,
  errorOfAnswer: errorOfGeneration,
  modelName: { find: answeredModel, replace: withModelVersion },
  streamOfAnswer: streamOfGeneration,
  readTexts: readCandidateTexts,
  stream: GEMINI_STREAM,
  errors: GEMINI_ERRORS,
}
