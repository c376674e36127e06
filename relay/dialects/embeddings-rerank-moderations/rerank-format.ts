import { CALLS_MAX } from '#domain/pricing/charge.ts'
import { namesByFoldedName } from '#domain/shared/fold-json-member-names.ts'
import { objectOrEmpty } from '#relay/canonical/json-values.ts'
import { Counts, type UsageReport } from '#relay/canonical/provider-usage-report.ts'
import {
  isRelayError,
  missingParameter,
  notOneOf,
  type RelayError,
} from '#relay/canonical/relay-error.ts'
import { applyEdits } from '../byte-edits.ts'
import { integerOf, isMembers, modelOf, outOfRange } from '../read-common-request-members.ts'
import { type Member, scanObject } from '../scan-request-object.ts'
import type { ChatRequest, UsageContext, WireFormat } from '../wire-format.ts'
import {
  checkedMembers,
  type FieldKinds,
  inputFormat,
  inputReport,
  memberIn,
  WITHOUT_OUTPUT,
} from './base-of-formats-without-output.ts'
import { boundOfInputs, countInputs, limitToTokensMax } from './count-and-bound-inputs.ts'

const FIELDS: FieldKinds = new Map([
  ['query', ['string', 'object']],
  ['documents', ['array']],
  ['return_documents', ['true', 'false']],
  ['rank_fields', ['array']],
])
const COUNTS = ['top_n', 'max_chunks_per_doc', 'max_tokens_per_doc']
const NAMES = namesByFoldedName(['model', 'stream', ...FIELDS.keys(), ...COUNTS])
const NO_NAMES = namesByFoldedName([])
const COUNT_MAX = 1_000_000

/** A search unit of Cohere's API is one query with up to 100 documents. */
const DOCUMENTS_PER_UNIT = 100
/**
 * The minimum length of a chunk in bytes. Cohere splits a long document into chunks of 500 tokens,
 * which include the query. Each chunk counts as a document.
 */
const BYTES_PER_CHUNK = 250

/**
 * Reads a rerank request (documents to order by relevance) in the format of Jina and Cohere,
 * without parsing it into objects. If a model has a price per call, this price applies to each
 * search unit. `choices` is the maximum number of search units that the documents can have.
 * `returnedChoices` is the number of search units if no document is split into chunks.
 */
function readRerankRequest(
  format: WireFormat,
  body: Buffer,
  known = NAMES,
): ChatRequest | RelayError {
  const members = checkedMembers(body, scanObject(body, known), FIELDS)
  if (isRelayError(members)) return members
  const model = modelOf(body, memberIn(members, 'model'))
  if (typeof model !== 'string') return model
  const query = memberIn(members, 'query')
  if (query === undefined) return missingParameter('query')
  const documents = memberIn(members, 'documents')
  if (documents === undefined) return missingParameter('documents')
  const inputs = countInputs(body, documents)
  if (inputs === null || inputs.tokens !== null) return notOneOf('documents', ['["…", {…}]'])
  const misfit = COUNTS.find(
    (key) => integerOf(body, memberIn(members, key), 0, COUNT_MAX) === undefined,
  )
  if (misfit !== undefined) return outOfRange(misfit, 0, COUNT_MAX)
  const { count, objects } = inputs
  const chunks = count + Math.ceil((documents.valueEnd - documents.valueStart) / BYTES_PER_CHUNK)
  const ofDocuments = boundOfInputs(body, inputs)
  // The model reads each document together with the query.
  const ofQueries = count * (query.valueEnd - query.valueStart)
  return {
    ...WITHOUT_OUTPUT,
    format,
    body,
    members,
    model,
    choices: unitsOf(chunks),
    returnedChoices: unitsOf(count),
    inputBound: {
      tokens: limitToTokensMax((objects === 0 ? body.length : ofDocuments.tokens) + ofQueries),
      ceiling: limitToTokensMax(ofDocuments.ceiling + ofQueries),
      isText: false,
    },
  }
}

const unitsOf = (documents: number): number =>
  Math.min(CALLS_MAX, Math.max(1, Math.ceil(documents / DOCUMENTS_PER_UNIT)))

const USAGE_MEMBERS = new Set(['usage', 'meta', 'tokens'])
const USAGE_BYTES_MAX = 65_536

/**
 * Returns the top-level members of the answer that contain its usage. Other members are not
 * searched, because they may repeat documents of the caller.
 */
function usageInAnswer(body: Buffer): unknown {
  const members = scanObject(body)
  if (!isMembers(members)) return undefined
  const usageMembers = members.flatMap(({ key, kind, valueStart, valueEnd }) => {
    const isUsage = USAGE_MEMBERS.has(key) && kind === 'object'
    if (!isUsage || valueEnd - valueStart > USAGE_BYTES_MAX) return []
    return [[key, JSON.parse(body.toString('utf8', valueStart, valueEnd))] as const]
  })
  const usage = Object.fromEntries(usageMembers)
  const { tokens, units } = countsIn(usage)
  return tokens === undefined && units === undefined ? undefined : usage
}

type RawCounts = { readonly tokens: unknown; readonly units: unknown }

/**
 * Finds the token count in the usage of Jina, Cohere, SiliconFlow and others, and Cohere's count of
 * search units. The counts are not checked.
 */
function countsIn(raw: unknown): RawCounts {
  const { usage, meta, tokens } = objectOrEmpty(raw)
  const { total_tokens: total, prompt_tokens: prompt } = objectOrEmpty(usage)
  const { tokens: inMeta, billed_units: billed } = objectOrEmpty(meta)
  const { search_units: units, input_tokens: billedTokens } = objectOrEmpty(billed)
  const { input_tokens: counted } = objectOrEmpty(inMeta)
  const { input_tokens: outermost } = objectOrEmpty(tokens)
  return {
    tokens: total ?? prompt ?? billedTokens ?? counted ?? outermost,
    units: units === 0 || units === null ? undefined : units,
  }
}

/**
 * Reads the tokens and the search units of a usage. If the usage has only search units, the report
 * is not trusted, and the gateway counts the tokens itself.
 */
function readUsage(raw: unknown, context: UsageContext): UsageReport {
  const { tokens, units } = countsIn(raw)
  const report = inputReport(tokens, context)
  if (units === undefined) return report
  const counts = new Counts()
  const searchUnits = counts.optional(units, context.choices ?? 1)
  const isCounted = tokens === undefined || tokens === null
  const anomaly = counts.anomaly ?? (isCounted ? null : report.anomaly)
  return { ...report, usage: { ...report.usage, searchUnits }, anomaly }
}

function modelMember(bytes: Buffer): Member | null {
  const members = scanObject(bytes)
  const member = isMembers(members) ? memberIn(members, 'model') : undefined
  return member?.kind === 'string' ? member : null
}

/**
 * Finds and replaces the top-level `model` of an answer. Nested members with this name stay
 * unchanged, because they may belong to documents of the caller.
 */
const modelName: WireFormat['modelName'] = {
  find: (bytes) => {
    const member = modelMember(bytes)
    if (member === null) return null
    return JSON.parse(bytes.toString('utf8', member.valueStart, member.valueEnd)) as string
  },
  replace: (bytes, model) => {
    const member = modelMember(bytes)
    if (member === null) return bytes
    const { valueStart: start, valueEnd: end } = member
    return applyEdits(bytes, [{ start, end, text: JSON.stringify(model) }])
  },
}

const rerankFormat = (version: Pick<WireFormat, 'isSecondVersion'>): WireFormat => {
  const format: WireFormat = inputFormat({
    name: 'rerank',
    promptMember: 'documents',
    answerMember: 'results',
    readRequest: (body) => readRerankRequest(format, body),
    readChangedRequest: (body) => readRerankRequest(format, body, NO_NAMES),
    shortBody: ({ model }) => ({ model, query: 'hi', documents: ['hello'] }),
    usageInAnswer,
    readUsage,
    modelName,
    ...version,
  })
  return format
}

/**
 * The rerank APIs of Jina and Cohere, which have the same members in their requests and answers.
 */
export const RERANK = rerankFormat({})

/** The second version of Cohere's rerank API. */
export const RERANK_V2 = rerankFormat({ isSecondVersion: true })
