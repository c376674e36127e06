import { type JsonObject, objectOrEmpty } from '#relay/canonical/json-values.ts'
import {
  invalidParameter,
  isRelayError,
  type RelayError,
  relayError,
} from '#relay/canonical/relay-error.ts'
import { shortPath } from '#relay/conversion/collect-losses.ts'
import { faultWithoutResult } from '../check-successful-answer.ts'
import { camelCased } from '../gemini/camel-case.ts'
import { upstreamBody } from '../openai-chat/upstream-body.ts'
import { isMembers } from '../read-common-request-members.ts'
import { scanObject } from '../scan-request-object.ts'
import type { ChatRequest, PathParameters, WireFormat } from '../wire-format.ts'
import { inputReport, memberIn } from './base-of-formats-without-output.ts'
import { boundOfInputs } from './count-and-bound-inputs.ts'
import { EMBEDDINGS } from './embeddings-format.ts'
import { GEMINI_EMBEDDING, GEMINI_EMBEDDING_BATCH } from './gemini-embedding-formats.ts'
import { base64Of, requestsBase64 } from './vectors-as-base64.ts'

/**
 * The maximum length in bytes of a request that is converted. Conversion requires parsing, which is
 * slow for long requests.
 */
const CONVERTED_BYTES_MAX = 1024 * 1024
/**
 * The maximum length in bytes of an answer that is converted. The API returns at most 250 vectors.
 */
const ANSWER_BYTES_MAX = 16 * 1024 * 1024

/** A text in the format of Vertex AI's `predict`. */
type Instance = {
  readonly content: string
  readonly task_type?: unknown
  readonly title?: unknown
}

type Predict = { readonly instances: readonly Instance[]; readonly dimensions?: unknown }

/**
 * Returns the format of Vertex AI's `predict`, which serves Vertex AI's older embedding models. The
 * format has the name of the caller's format, because the gateway finds the endpoint by this name.
 */
const predictFormat = ({ name, errors, promptMember, ...caller }: WireFormat): WireFormat => {
  const format: WireFormat = {
    ...caller,
    name,
    errors,
    ...(promptMember === undefined ? {} : { promptMember }),
    readChangedRequest: (body, path) => readPredict(format, body, path),
    // The path names the model, so the body does not.
    upstreamBody: (request, change) => {
      const overrides = new Map([...change.overrides].filter(([key]) => key !== 'model'))
      const plain = { model: request.model, forcesUsage: false, outputTokens: null, overrides }
      // The conversion wrote the member `parameters`. Callers can't send it.
      const allowed = new Set([...change.allowed, 'parameters'])
      return upstreamBody(request, { ...change, ...plain, allowed })
    },
    usageInAnswer: (body) => ({ tokens: tokensIn(predictionsIn(body)) }),
    readUsage: (raw, bounds) => inputReport(objectOrEmpty(raw).tokens, bounds),
    errorOfAnswer: (body) => {
      const predictions = predictionsIn(body)
      if (predictions === null) return faultWithoutResult(body)
      return predictions.length === 0 ? 'no-result' : null
    },
    errorWithoutResult: () => null,
    modelName: { find: () => null, replace: (bytes) => bytes },
  }
  return format
}

const FORMATS: ReadonlyMap<string, WireFormat> = new Map(
  [EMBEDDINGS, GEMINI_EMBEDDING, GEMINI_EMBEDDING_BATCH].map((caller) => [
    caller.name,
    predictFormat(caller),
  ]),
)

function readPredict(
  format: WireFormat,
  body: Buffer,
  { model }: PathParameters,
): ChatRequest | RelayError {
  const members = scanObject(body)
  const instances = isMembers(members) ? memberIn(members, 'instances') : undefined
  if (!isMembers(members) || instances?.kind !== 'array') return invalidParameter('instances')
  const bound = boundOfInputs(body, { count: instances.length, tokens: null, objects: 0 })
  const limits = { isStream: false, wantsUsage: false, choices: 1, outputTokensMax: 0 }
  return { format, body, members, model, ...limits, ...NO_ANSWER, inputBound: bound }
}

const NO_ANSWER = { reasoningEffort: null, tools: [] } as const

/**
 * Converts an embeddings request to `predict`. Returns an error if the request can't be converted.
 */
export function convertToPredict(request: ChatRequest) {
  const { body, format, model } = request
  const target = FORMATS.get(format.name)
  if (target === undefined) return relayError('not_convertible', { param: 'model' })
  if (body.length > CONVERTED_BYTES_MAX) {
    const subject = `${CONVERTED_BYTES_MAX / 1024 / 1024}`
    return relayError('request_too_large_to_convert', { subject })
  }
  const parsed: JsonObject = JSON.parse(body.toString('utf8'))
  const predict = predictOf(format.name, parsed)
  if (predict === null) {
    return relayError('not_convertible', { param: format.promptMember ?? 'input' })
  }
  const { instances, dimensions } = predict
  const parameters =
    dimensions === undefined ? {} : { parameters: { outputDimensionality: dimensions } }
  const converted = Buffer.from(JSON.stringify({ instances, ...parameters }))
  const changed = target.readChangedRequest(converted, { model, isStream: false })
  if (isRelayError(changed)) return changed
  const conversion = {
    body: converted,
    losses: lossesIn(format.name, parsed),
    lossesInAnswer: { list: [] },
    convertAnswer: (answer: Buffer) => answerFor(request, answer),
    createStream: () => {
      throw new Error('embeddings are not streamed')
    },
  }
  return { request: { ...changed, model }, conversion }
}

function predictOf(name: string, body: JsonObject): Predict | null {
  if (name === 'embeddings') {
    const { input, dimensions } = body
    const texts = typeof input === 'string' ? [input] : (input as unknown[])
    if (!texts.every((text) => typeof text === 'string')) return null
    return { instances: texts.map((content) => ({ content })), dimensions }
  }
  const requests = name === 'gemini-embedding' ? [body] : (body.requests as JsonObject[])
  const instances = requests.map(instanceOf)
  const dimensions = requests.map(dimensionsIn)
  // The API accepts one number of dimensions for all texts.
  if (new Set(dimensions).size > 1 || instances.includes(null)) return null
  return { instances: instances.filter((instance) => instance !== null), dimensions: dimensions[0] }
}

/** The members of a request that are converted, or that do not change the vectors. */
const CONVERTED: ReadonlySet<string> = new Set([
  ...['model', 'input', 'dimensions', 'encoding_format', 'stream'],
  ...['requests', 'content', 'taskType', 'title', 'outputDimensionality'],
])
const LOSSES_MAX = 100

/** Returns the paths of the members that `predict` does not have. A null counts as absent. */
function lossesIn(name: string, body: JsonObject): readonly string[] {
  const unread = (object: JsonObject, path = ''): string[] =>
    Object.entries(object)
      .filter(([key, value]) => value !== null && !CONVERTED.has(camelCasedIn(name, key)))
      .map(([key]) => shortPath(`${path}${key}`))
  if (name !== 'gemini-embedding-batch') return unread(body).slice(0, LOSSES_MAX)
  const requests = body.requests as JsonObject[]
  const ofRequests = requests.flatMap((request, index) => unread(request, `requests[${index}].`))
  return [...unread(body), ...ofRequests].slice(0, LOSSES_MAX)
}

/**
 * Returns the member name `key` as the list `CONVERTED` spells it. Gemini's API accepts names in
 * camelCase and in snake_case, so its names are returned in camelCase. The names of OpenAI's API
 * (the format `embeddings`) are returned unchanged.
 */
const camelCasedIn = (name: string, key: string): string =>
  name === 'embeddings' ? key : camelCased(key)

const dimensionsIn = (request: JsonObject): unknown =>
  request.outputDimensionality ?? request.output_dimensionality ?? undefined

function instanceOf(request: JsonObject): Instance | null {
  const { content, taskType = request.task_type, title } = request
  const { parts } = objectOrEmpty(content)
  const texts = (Array.isArray(parts) ? parts : [parts]).map((part) => objectOrEmpty(part).text)
  if (!texts.every((text) => typeof text === 'string')) return null
  return { content: texts.join(''), task_type: taskType ?? undefined, title: title ?? undefined }
}

type Predictions = readonly { readonly values: readonly number[]; readonly tokens: unknown }[]

/**
 * The predictions of each answer that was parsed, or null for an invalid answer. They are kept
 * because the check, the conversion and the usage of an answer all need them.
 */
const READ = new WeakMap<Buffer, Predictions | null>()

function predictionsIn(body: Buffer): Predictions | null {
  const cached = READ.get(body)
  if (cached !== undefined) return cached
  const predictions = readPredictions(body)
  READ.set(body, predictions)
  return predictions
}

function readPredictions(body: Buffer): Predictions | null {
  if (body.length > ANSWER_BYTES_MAX) return null
  try {
    const { predictions } = JSON.parse(body.toString('utf8')) as JsonObject
    if (!Array.isArray(predictions)) return null
    return predictions.map((prediction) => {
      const { values, statistics } = objectOrEmpty(objectOrEmpty(prediction).embeddings)
      return { values: values as readonly number[], tokens: objectOrEmpty(statistics).token_count }
    })
  } catch {
    return null
  }
}

/**
 * Returns the sum of the token counts of all texts. If a count is not a valid number, returns the
 * invalid count in place of the sum, so that the usage is not trusted.
 */
function tokensIn(predictions: Predictions | null): unknown {
  let sum = 0
  for (const { tokens } of predictions ?? []) {
    if (typeof tokens !== 'number' || tokens < 0) return tokens
    sum += tokens
  }
  return sum
}

/** Returns the answer in the caller's format. Returns null if the answer is invalid. */
function answerFor(request: ChatRequest, answer: Buffer): Buffer | null {
  const predictions = predictionsIn(answer)
  if (predictions === null) return null
  const { format, model } = request
  const vectors = predictions.map(({ values }) => ({ values }))
  if (format.name === 'gemini-embedding') return json({ embedding: vectors[0] })
  if (format.name === 'gemini-embedding-batch') return json({ embeddings: vectors })
  const isBase64 = requestsBase64(request)
  const data = vectors.map(({ values }, index) => {
    const embedding = isBase64 ? (base64Of(values) ?? values) : values
    return { object: 'embedding', index, embedding }
  })
  const tokens = tokensIn(predictions)
  const usage = { prompt_tokens: tokens, total_tokens: tokens }
  return json({ object: 'list', data, model, usage })
}

const json = (value: object): Buffer => Buffer.from(JSON.stringify(value))
