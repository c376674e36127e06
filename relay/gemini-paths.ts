import { JsonArrayStream } from './dialects/gemini/write-stream-as-json-array.ts'
import type { PathParameters } from './dialects/wire-format.ts'
import type { CallRequest } from './pipeline/http-request-and-response-types.ts'

const METHODS = [
  'generateContent',
  'streamGenerateContent',
  'countTokens',
  'embedContent',
  'batchEmbedContents',
  'predict',
] as const
type Method = (typeof METHODS)[number]

/** The model, the kind of answer and the method that a path of Gemini's API names. */
type GeminiPath = PathParameters & { readonly method: Method }

/** Matches the path of a method. The name of a model may contain slashes and colons. */
const METHOD_PATH = new RegExp(`^/v1(?:beta)?/(models|tunedModels)/(.+):(${METHODS.join('|')})$`)
/** Matches the path of the submission of a batch. */
const BATCH_SUBMISSION = /^\/v1(?:beta)?\/models\/(.+):batchGenerateContent$/
/** Matches the paths of the list of batches, of one batch and of an action on a batch. */
const BATCHES_PATH = /^\/v1(?:beta)?\/batches(?:\/(.*))?$/
/**
 * Matches the text after `batches/` in a path, if it begins with the id of a batch of Gemini's API.
 */
const BATCH_ID = /^[0-9a-f]{32}(?::|$)/
/**
 * Matches the paths of the list of models, with or without a slash at its end, and of one model.
 */
const MODELS_PATH = /^\/v1(?:beta)?\/models(?:\/(.+)?)?$/
const TUNED_MODEL_PATH = /^\/v1(?:beta)?\/(tunedModels\/.+)$/

/** Matches the paths of Google's other resources, which the gateway does not serve. */
const GOOGLE_RESOURCES =
  /^\/v1\/(?:cachedContents|fileSearchStores|interactions|tunedModels)(?:\/|$)/

/** Returns the method and the model of a path of Gemini's API. Returns null for any other path. */
export function readGeminiPath(path: string): GeminiPath | null {
  const [, collection, name, method] = METHOD_PATH.exec(path) ?? []
  if (name === undefined) return null
  const isStream = method === 'streamGenerateContent'
  return { method: method as Method, model: modelNamed(`${collection}/${name}`), isStream }
}

/** Returns the model in a path at which a batch is submitted. Returns null for any other path. */
export function modelOfBatch(path: string): string | null {
  const name = BATCH_SUBMISSION.exec(path)?.[1]
  return name === undefined ? null : modelNamed(name)
}

/**
 * Returns the path of a request about Gemini's batches, with the version `v1beta`. Returns null for
 * any other request. OpenAI's batches also have the path `/v1/batches`, but their ids differ, and
 * OpenAI's clients send their key in another header.
 */
export function geminiBatchPath({
  url = '',
  headers,
}: Pick<CallRequest, 'url' | 'headers'>): string | null {
  const [path = '', query = ''] = url.split('?', 2)
  const match = BATCHES_PATH.exec(path)
  if (match === null) return null
  const isOwn =
    path.startsWith('/v1beta') ||
    headers['x-goog-api-key'] !== undefined ||
    BATCH_ID.test(match[1] ?? '') ||
    (headers.authorization === undefined && new URLSearchParams(query).has('key'))
  return isOwn ? path.replace(/^\/v1(?:beta)?/, '/v1beta') : null
}

/**
 * Returns the name of the model whose description is requested. Returns null for the path of the
 * list, and undefined for any other path.
 */
export function modelInPath(path: string): string | null | undefined {
  const [match, id] = MODELS_PATH.exec(path) ?? []
  if (match !== undefined) return id === undefined ? null : modelNamed(id)
  const [, tuned] = TUNED_MODEL_PATH.exec(path) ?? []
  return tuned === undefined ? undefined : modelNamed(tuned)
}

/**
 * Returns the name of a model without the collection `models/`. The name of a tuned model keeps the
 * collection `tunedModels/`.
 */
function modelNamed(segments: string): string {
  const name = decodedSegment(segments)
  return name.replace(/^(?:models\/)+/, '')
}

/** Decodes the percent-encoding of a part of a path. Returns an invalid text unchanged. */
export function decodedSegment(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Reports whether the request belongs to Gemini's API, whose errors have Google's format. */
export function isGeminiRequest({ url = '', headers }: CallRequest): boolean {
  const [path = ''] = url.split('?', 1)
  if (/^\/(?:upload\/v1|v1(?:alpha|beta))/.test(path) || readGeminiPath(path) !== null) return true
  if (modelOfBatch(path) !== null || geminiBatchPath({ url, headers }) !== null) return true
  const isResource = modelInPath(path) !== undefined || GOOGLE_RESOURCES.test(path)
  return isResource && headers['x-goog-api-key'] !== undefined
}

/**
 * Returns the object that renders a stream as a JSON array, for a caller that expects such an
 * array. Returns null for a caller that expects server-sent events, or no stream.
 */
export function jsonArrayFor({ url = '' }: CallRequest): JsonArrayStream | null {
  const at = url.indexOf('?')
  const path = at < 0 ? url : url.slice(0, at)
  if (!path.endsWith(':streamGenerateContent')) return null
  const parameters = new URLSearchParams(at < 0 ? '' : url.slice(at))
  const isSse = (parameters.get('alt') ?? parameters.get('$alt')) === 'sse'
  return isSse ? null : new JsonArrayStream()
}
