import { namesByFoldedName } from '#domain/shared/fold-json-member-names.ts'
import {
  invalidParameter,
  isRelayError,
  missingParameter,
  notOneOf,
  type RelayError,
} from '#relay/canonical/relay-error.ts'
import { modelOf } from '../read-common-request-members.ts'
import { scanObject } from '../scan-request-object.ts'
import type { ChatRequest } from '../wire-format.ts'
import {
  checkedMembers,
  type FieldKinds,
  inputFormat,
  memberIn,
  namedBody,
  WITHOUT_OUTPUT,
} from './base-of-formats-without-output.ts'
import { boundOfInputs, countInputs } from './count-and-bound-inputs.ts'

const FIELDS: FieldKinds = new Map([
  ['model', ['string']],
  ['input', ['string', 'array']],
])
const NAMES = namesByFoldedName(['stream', 'messages', ...FIELDS.keys()])
const NO_NAMES = namesByFoldedName([])
/**
 * OpenAI's default model. If a request names no model, this name is sent, because providers other
 * than OpenAI have no default.
 */
const DEFAULT_MODEL = 'omni-moderation-latest'

/** Reads a request to classify texts and pictures, without parsing it into objects. */
function readModerationRequest(body: Buffer, known = NAMES): ChatRequest | RelayError {
  const members = checkedMembers(body, scanObject(body, known), FIELDS)
  if (isRelayError(members)) return members
  const named = memberIn(members, 'model')
  const model = named === undefined ? DEFAULT_MODEL : modelOf(body, named)
  if (typeof model !== 'string') return model
  if (memberIn(members, 'messages') !== undefined) return invalidParameter('messages')
  const input = memberIn(members, 'input')
  if (input === undefined) return missingParameter('input')
  const inputs = countInputs(body, input)
  if (inputs === null || inputs.tokens !== null) return notOneOf('input', ['"…"', '["…", {…}]'])
  const inputBound = boundOfInputs(body, inputs)
  return { ...WITHOUT_OUTPUT, format: MODERATIONS, body, members, model, inputBound }
}

/** OpenAI's moderations API. Models without a price are free: see `moderationPriceOf`. */
export const MODERATIONS = inputFormat({
  name: 'moderations',
  promptMember: 'input',
  answerMember: 'results',
  resultsIn: ({ results }) => results,
  readRequest: (body) => readModerationRequest(body),
  readChangedRequest: (body) => readModerationRequest(body, NO_NAMES),
  shortBody: ({ model }) => ({ model, input: 'hi' }),
  upstreamBody: namedBody,
})
