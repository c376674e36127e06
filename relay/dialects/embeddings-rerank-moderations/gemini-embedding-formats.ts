import { foldedName, namesByFoldedName } from '#domain/shared/fold-json-member-names.ts'
import { objectOrEmpty } from '#relay/canonical/json-values.ts'
import {
  invalidParameter,
  isRelayError,
  missingParameter,
  notOneOf,
  type RelayError,
  relayError,
} from '#relay/canonical/relay-error.ts'
import { applyEdits } from '../byte-edits.ts'
import { nestedMemberRules, type ObjectVisitor } from '../check-nested-json-members.ts'
import { bothSpellings, camelCased } from '../gemini/camel-case.ts'
import { GEMINI_ERRORS } from '../gemini/error-format.ts'
import { isOtherModel } from '../gemini/model-named-in-body.ts'
import { usageInGeneration } from '../gemini/usage-and-model-in-answer.ts'
import { ambiguousKey } from '../invalid-json-error.ts'
import { upstreamBody } from '../openai-chat/upstream-body.ts'
import {
  errorOfMisfit,
  integerOf,
  isModelName,
  OBJECTS,
  outOfRange,
} from '../read-common-request-members.ts'
import { scanObject } from '../scan-request-object.ts'
import type { ChatRequest, PathParameters, UpstreamChange, WireFormat } from '../wire-format.ts'
import {
  checkedMembers,
  type FieldKinds,
  inputFormat,
  inputReport,
  memberIn,
  WITHOUT_OUTPUT,
} from './base-of-formats-without-output.ts'
import { boundOfInputs } from './count-and-bound-inputs.ts'

const SINGLE_FIELDS: FieldKinds = new Map(
  bothSpellings(['content', 'model', 'taskType', 'title', 'outputDimensionality']).map((name) => [
    name,
    [name === 'content' ? 'object' : /dim/i.test(name) ? 'number' : 'string'] as const,
  ]),
)
const BATCH_FIELDS: FieldKinds = new Map([['requests', ['array']]])
const BATCH_RULES = nestedMemberRules('requests', {
  model: ['string', 'null'],
  content: ['object'],
})
const NAMES = namesByFoldedName([...SINGLE_FIELDS.keys(), ...BATCH_FIELDS.keys()])
const NO_NAMES = namesByFoldedName([])
const DIMENSIONS_MAX = 100_000
const MODEL_BYTES_MAX = 512
/** The depth of the elements of `requests` in a batch. */
const IN_REQUEST = 2

const QUOTE = 34

type ModelSpan = { readonly start: number; readonly end: number; readonly name: string }

/** Finds the model names in a batch, and counts the content parts with inline data. */
class ModelNameAndMediaFinder implements ObjectVisitor {
  readonly models: ModelSpan[] = []
  /** The number of requests in a batch that have a `content`. */
  contents = 0
  media = 0
  hasFile = false
  private readonly body: Buffer
  private root = ''

  constructor(body: Buffer) {
    this.body = body
  }

  begin(key: string): void {
    this.root = key
  }

  visits(): boolean {
    return true
  }

  enter(): void {}
  leave(): void {}
  mixedArray(): void {}

  member(depth: number, start: number, end: number, valueAt: number): void {
    const { body } = this
    const text = body.toString('utf8', start, end)
    const key = text.includes('\\') ? (JSON.parse(text) as string) : text.slice(1, -1)
    const name = foldedName(camelCased(key))
    if (name === 'inlinedata') this.media += 1
    if (name === 'filedata') this.hasFile = true
    if (depth !== IN_REQUEST || this.root !== 'requests') return
    if (name === 'content') this.contents += 1
    if (name !== 'model' || body[valueAt] !== QUOTE) return
    const close = body.indexOf(QUOTE, valueAt + 1)
    const isShort = close - valueAt <= MODEL_BYTES_MAX
    const model = isShort ? body.toString('utf8', valueAt + 1, close) : ''
    this.models.push({ start: valueAt, end: close + 1, name: model })
  }
}

/** The positions of the model names in each batch that was read. */
const MODELS = new WeakMap<ChatRequest, readonly ModelSpan[]>()

/**
 * Reads the body of `embedContent` or `batchEmbedContents` without parsing it into objects. The
 * path names the model. If the body names a model as well, it must be the same model. Member names
 * that resemble a name in `known` are refused. `known` is empty if a checked request is read again
 * after a change. Such a request may contain another model name.
 */
function readEmbedding(
  format: WireFormat,
  body: Buffer,
  path: PathParameters | null,
  known = NAMES,
): ChatRequest | RelayError {
  if (path === null || !isModelName(path.model)) return invalidParameter('model')
  const isBatch = format.name === 'gemini-embedding-batch'
  const finder = new ModelNameAndMediaFinder(body)
  const scanned = scanObject(body, known, isBatch ? BATCH_RULES : null, finder)
  const members = checkedMembers(body, scanned, isBatch ? BATCH_FIELDS : SINGLE_FIELDS)
  if (isRelayError(members)) return members
  if (finder.hasFile) return relayError('parameter_not_supported', { param: 'fileData.fileUri' })
  const name = isBatch ? 'requests' : 'content'
  const input = memberIn(members, name)
  if (input === undefined) return missingParameter(name)
  const dimensions = members.find(({ key }) => camelCased(key) === 'outputDimensionality')
  if (integerOf(body, dimensions, 1, DIMENSIONS_MAX) === undefined) {
    return outOfRange(dimensions?.key ?? 'outputDimensionality', 1, DIMENSIONS_MAX)
  }
  if (isBatch) {
    const { length, isAllObjects, ambiguity } = input
    if (length === 0 || !isAllObjects) return notOneOf(name, [OBJECTS])
    if (ambiguity !== null) return ambiguousKey(`${name}${ambiguity.path}`, ambiguity.other)
    const misfit = errorOfMisfit(input, name)
    if (misfit !== null) return misfit
    if (finder.contents !== length) return missingParameter(`${name}[].content`)
    const other = finder.models.findIndex((span) => isOtherModel(span.name, path))
    // After a change, a checked request may contain the provider's model name.
    if (other >= 0 && known.size > 0) return otherModel(`${name}[${other}].model`, path)
  }
  const ofBody = memberIn(members, 'model')
  const named = ofBody && JSON.parse(body.toString('utf8', ofBody.valueStart, ofBody.valueEnd))
  if (named !== undefined && isOtherModel(named, path) && known.size > 0) {
    return otherModel('model', path)
  }
  const count = isBatch ? input.length : 1
  const bound = boundOfInputs(body, { count, tokens: null, objects: finder.media })
  const request = { ...WITHOUT_OUTPUT, format, body, members, model: path.model, inputBound: bound }
  MODELS.set(request, finder.models)
  return request
}

const otherModel = (param: string, { model }: PathParameters): RelayError =>
  notOneOf(param, [`models/${model}`])

/**
 * Builds the body for the provider. The body of a single request does not name the model, because
 * the path does. In a batch, each request must name the model, and its name is replaced by the
 * provider's name for the model.
 */
function embeddingBody(request: ChatRequest, change: UpstreamChange) {
  const { model } = change
  const isSame = model === request.model && request.fallbackFor === undefined
  const spans = isSame ? [] : (MODELS.get(request) ?? modelsIn(request))
  const text = JSON.stringify(`models/${model}`)
  const edits = spans.map(({ start, end }) => ({ start, end, text }))
  const renamed = edits.length === 0 ? request : again(request, applyEdits(request.body, edits))
  const removed = new Set([...(change.removed ?? []), 'model'])
  const overrides = new Map([...change.overrides].filter(([name]) => name !== 'model'))
  const plain = { ...change, model: request.model, forcesUsage: false, outputTokens: null }
  return upstreamBody(renamed, { ...plain, removed, overrides })
}

function again(request: ChatRequest, body: Buffer): ChatRequest {
  const { format, model } = request
  const read = readEmbedding(format, body, { model, isStream: false }, NO_NAMES)
  return isRelayError(read) ? request : read
}

/**
 * Finds the model names by scanning the body. Used if a request was copied after it was read, for
 * example with another model, because `MODELS` has no entry for a copy.
 */
function modelsIn({ body }: ChatRequest): readonly ModelSpan[] {
  const finder = new ModelNameAndMediaFinder(body)
  scanObject(body, NO_NAMES, null, finder)
  return finder.models
}

const CLIENT_HEADER = 'x-goog-api-client'

const geminiFormat = (
  name: 'gemini-embedding' | 'gemini-embedding-batch',
  promptMember: string,
  answerMember: string,
  shortBody: WireFormat['shortBody'],
): WireFormat => {
  const format: WireFormat = inputFormat({
    name,
    promptMember,
    answerMember,
    resultsIn: ({ embedding, embeddings = objectOrEmpty(embedding).values ?? [] }) => embeddings,
    shortBody,
    readRequest: (body, path) => readEmbedding(format, body, path),
    readChangedRequest: (body, path) => readEmbedding(format, body, path, NO_NAMES),
    upstreamBody: embeddingBody,
    passedHeaders: ({ [CLIENT_HEADER]: client }) =>
      client === undefined ? [] : [CLIENT_HEADER, String(client)],
    // Only newer models report their usage. It has the same form as the usage of `generateContent`.
    usageInAnswer: usageInGeneration,
    readUsage: (raw, bounds) => inputReport(objectOrEmpty(raw).promptTokenCount, bounds),
    // The answers do not name the model.
    modelName: { find: () => null, replace: (bytes) => bytes },
    errors: GEMINI_ERRORS,
  })
  return format
}

const CONTENT = { parts: [{ text: 'hi' }] }

/** Gemini's `embedContent`. */
export const GEMINI_EMBEDDING = geminiFormat('gemini-embedding', 'content', 'embedding', () => ({
  content: CONTENT,
}))

/** Gemini's `batchEmbedContents`. Google's client library uses it even for a single content. */
export const GEMINI_EMBEDDING_BATCH = geminiFormat(
  'gemini-embedding-batch',
  'requests',
  'embeddings',
  ({ model }) => ({ requests: [{ model: `models/${model}`, content: CONTENT }] }),
)
