import { namesByFoldedName } from '#domain/shared/fold-json-member-names.ts'
import {
  invalidParameter,
  isRelayError,
  missingParameter,
  notOneOf,
  type RelayError,
} from '#relay/canonical/relay-error.ts'
import { integerOf, isModelName, modelOf, outOfRange } from '../read-common-request-members.ts'
import { type Member, scanObject } from '../scan-request-object.ts'
import type { ChatRequest, PathParameters } from '../wire-format.ts'
import {
  checkedMembers,
  type FieldKinds,
  inputFormat,
  memberIn,
  namedBody,
  WITHOUT_OUTPUT,
} from './base-of-formats-without-output.ts'
import { boundOfInputs, countInputs } from './count-and-bound-inputs.ts'
import { vectorsAsBase64 } from './vectors-as-base64.ts'

const FIELDS: FieldKinds = new Map([
  ['input', ['string', 'array']],
  ['encoding_format', ['string', 'array']],
  ['user', ['string']],
])
/**
 * Members of other formats. They are refused, because a provider may read their values as
 * additional inputs.
 */
const REFUSED = ['messages', 'prompt', 'texts', 'images', 'inputs']
const NAMES = namesByFoldedName([
  ...['model', 'stream', 'dimensions', ...FIELDS.keys(), ...REFUSED],
])
const NO_NAMES = namesByFoldedName([])
const DIMENSIONS_MAX = 100_000
/**
 * The maximum length of an answer in bytes. Some clients request a thousand vectors of 1 536
 * decimal numbers at once. Such an answer has 34 MB.
 */
const ANSWER_BYTES_MAX = 48 * 1024 * 1024

/**
 * Reads an embeddings request in OpenAI's format without parsing it into objects. The input is
 * text, token numbers, or objects such as the pictures of Jina's API. Member names that resemble a
 * name in `known` are refused. `known` is empty if a checked request is read again after a change.
 * In an older API, the path names the model, and the body may omit the model.
 */
function readEmbeddingsRequest(
  body: Buffer,
  path: PathParameters | null = null,
  known = NAMES,
): ChatRequest | RelayError {
  const members = checkedMembers(body, scanObject(body, known), FIELDS)
  if (isRelayError(members)) return members
  const named = memberIn(members, 'model')
  const inPath = path !== null && isModelName(path.model) ? path.model : null
  const model = named === undefined && inPath !== null ? inPath : modelOf(body, named)
  if (typeof model !== 'string') return model
  if (known.size > 0 && inPath !== null && model !== inPath) return invalidParameter('model')
  const error = errorInMembers(body, members)
  if (error !== null) return error
  const input = memberIn(members, 'input')
  if (input === undefined) return missingParameter('input')
  const inputs = countInputs(body, input)
  if (inputs === null) return notOneOf('input', ['"…"', '["…", {…}]', '[1, …]', '[[1, …]]'])
  const inputBound = boundOfInputs(body, inputs)
  return { ...WITHOUT_OUTPUT, format: EMBEDDINGS, body, members, model, inputBound }
}

function errorInMembers(body: Buffer, members: readonly Member[]): RelayError | null {
  const refused = members.find(({ key, kind }) => REFUSED.includes(key) && kind !== 'null')
  if (refused !== undefined) return invalidParameter(refused.key)
  const dimensions = integerOf(body, memberIn(members, 'dimensions'), 1, DIMENSIONS_MAX)
  return dimensions === undefined ? outOfRange('dimensions', 1, DIMENSIONS_MAX) : null
}

/** OpenAI's embeddings API, which most providers of embeddings offer. */
export const EMBEDDINGS = inputFormat({
  name: 'embeddings',
  promptMember: 'input',
  answerMember: 'data',
  resultsIn: ({ data }) => data,
  answerBytesMax: ANSWER_BYTES_MAX,
  adaptAnswer: vectorsAsBase64,
  readRequest: readEmbeddingsRequest,
  readChangedRequest: (body, path) => readEmbeddingsRequest(body, path, NO_NAMES),
  shortBody: ({ model }) => ({ model, input: 'hi' }),
  upstreamBody: namedBody,
})
