import { NO_USAGE } from '#domain/pricing/usage.ts'
import { type JsonObject, objectOrEmpty } from '#relay/canonical/json-values.ts'
import {
  Counts,
  type UsageBounds,
  type UsageReport,
} from '#relay/canonical/provider-usage-report.ts'
import { invalidParameter, notOneOf, type RelayError } from '#relay/canonical/relay-error.ts'
import { answerCheck, hasCounts, lacksResult } from '../check-successful-answer.ts'
import { jsonError } from '../invalid-json-error.ts'
import { OPENAI_ERRORS } from '../openai-chat/error-format.ts'
import { OPENAI_STREAM } from '../openai-chat/stream-events.ts'
import { upstreamBody } from '../openai-chat/upstream-body.ts'
import { usageInAnswer } from '../openai-chat/usage-in-answer.ts'
import {
  flagOf,
  isMembers,
  notOfKinds,
  RESERVED,
  validOutline,
} from '../read-common-request-members.ts'
import type { JsonKind } from '../scan-json-tokens.ts'
import type { InvalidJson, Member } from '../scan-request-object.ts'
import type { ChatRequest, WireFormat } from '../wire-format.ts'

/** The JSON kinds that each field may have. A null counts as an absent field. */
export type FieldKinds = ReadonlyMap<string, readonly JsonKind[]>

/** Returns the member with this key. Returns undefined if it is absent or null. */
export const memberIn = (members: readonly Member[], key: string): Member | undefined =>
  members.find((member) => member.key === key && member.kind !== 'null')

/**
 * Returns the members of a request. Returns an error if the JSON is invalid, a field has a wrong
 * kind, a member is called `__proto__` (`RESERVED`), or the request asks for a stream.
 */
export function checkedMembers(
  body: Buffer,
  scanned: readonly Member[] | InvalidJson,
  fields: FieldKinds,
): readonly Member[] | RelayError {
  if (!isMembers(scanned)) return jsonError(body, scanned)
  for (const { key, kind } of scanned) {
    if (key === RESERVED) return invalidParameter(key)
    const kinds = fields.get(key)
    if (kind !== 'null' && kinds?.includes(kind) === false) return notOfKinds(key, kinds)
  }
  const isStream = flagOf(memberIn(scanned, 'stream'))
  return isStream === false ? scanned : notOneOf('stream', ['false'])
}

/**
 * The properties that requests for embeddings, moderations and reranking have in common: no stream
 * and no output tokens. Reranking sets `choices` itself.
 */
export const WITHOUT_OUTPUT = {
  isStream: false,
  wantsUsage: false,
  choices: 1,
  outputTokensMax: 0,
  reasoningEffort: null,
  tools: [],
} as const

/**
 * Reads the usage of an answer that has only input tokens, such as OpenAI's `prompt_tokens` for
 * embeddings.
 */
function readInputUsage(raw: unknown, bounds: UsageBounds): UsageReport {
  const { prompt_tokens: prompt, total_tokens: total } = objectOrEmpty(raw)
  // Some servers report the input tokens only in the total.
  const isInTotal = prompt === undefined || prompt === null || (prompt === 0 && total !== 0)
  return inputReport(isInTotal ? (total ?? prompt) : prompt, bounds)
}

/**
 * Returns a usage report with only input tokens. `tokens` is the count that the provider reported.
 */
export function inputReport(tokens: unknown, { inputCeiling }: UsageBounds): UsageReport {
  const counts = new Counts()
  const inputUncached = counts.required(tokens, inputCeiling)
  const { anomaly } = counts
  const usage = { ...NO_USAGE, inputUncached }
  return { usage, otherInterpretation: null, isTrusted: anomaly === null, anomaly }
}

/**
 * Builds the body for the provider. If neither the request nor an override names the model, the
 * model's name is added.
 */
export const namedBody: WireFormat['upstreamBody'] = (request, change) => {
  const plain = { ...change, forcesUsage: false, outputTokens: null }
  const { overrides, model } = change
  const isNamed = memberIn(request.members, 'model') !== undefined || overrides.has('model')
  if (isNamed) return upstreamBody(request, plain)
  const named = new Map([...overrides, ['model', JSON.stringify(model)]])
  return upstreamBody(request, { ...plain, overrides: named })
}

type InputFormat = Pick<WireFormat, 'name' | 'readRequest' | 'readChangedRequest'> &
  Pick<WireFormat, 'shortBody'> &
  Partial<WireFormat> & {
    readonly promptMember: string
    /** The member that every valid answer has. An answer without this member is invalid. */
    readonly answerMember: string
    /**
     * Returns the list of results in an answer. An answer with an empty list is an error. Omitted
     * if the list may be empty.
     */
    readonly resultsIn?: (answer: JsonObject) => unknown
  }

/**
 * Returns the complete format of an API whose answers are results and no generated text, such as
 * embeddings. Each property that `given` lacks gets the value for OpenAI's APIs.
 */
export function inputFormat({ answerMember, resultsIn, ...given }: InputFormat): WireFormat {
  const { readChangedRequest, shortBody, usageInAnswer: findUsage = usageInAnswer } = given
  const errorOfMembers = answerCheck(answerMember)
  const isEmpty = (body: Buffer): boolean => resultsIn !== undefined && lacksResult(body, resultsIn)
  return {
    outlineOf: ({ model, choices, returnedChoices }: ChatRequest) => {
      const path = { model, isStream: false }
      const body = Buffer.from(JSON.stringify(shortBody(path, 0)))
      return {
        ...validOutline(readChangedRequest(body, path)),
        choices,
        ...(returnedChoices === undefined ? {} : { returnedChoices }),
      }
    },
    upstreamBody: namedBody,
    passedHeaders: () => [],
    usageInAnswer,
    readUsage: readInputUsage,
    errorOfAnswer: (body) => {
      const isFree = isEmpty(body) && !hasCounts(findUsage(body))
      return errorOfMembers(body) ?? (isFree ? 'no-result' : null)
    },
    errorWithoutResult: (body) => (isEmpty(body) ? 'upstream_format' : null),
    // Calls in these formats never stream.
    streamOfAnswer: (body) => `data: ${body.toString('utf8').replace(/[\r\n]+/g, ' ')}\n\n`,
    hasTextlessAnswers: true,
    readTexts: () => {},
    stream: OPENAI_STREAM,
    errors: OPENAI_ERRORS,
    ...given,
  }
}
