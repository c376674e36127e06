import { objectOrEmpty, parsedObject } from '#relay/canonical/json-values.ts'
import { invalidParameter, isRelayError, type RelayError } from '#relay/canonical/relay-error.ts'
import type { ChatRequest, WireFormat } from '../wire-format.ts'
import { OPENAI_RESPONSES } from './responses-format.ts'

/**
 * The members that a compaction request can't have, because a compaction has no output limit and is
 * never streamed.
 */
const UNSUPPORTED = ['max_output_tokens', 'stream']

/**
 * Returns the request as a compaction. A compaction runs no provider tools, so these are marked as
 * unpriced and are not sent.
 */
function asCompaction(request: ChatRequest | RelayError): ChatRequest | RelayError {
  if (isRelayError(request)) return request
  const { toolLimits: _, ...unlimited } = request
  const tools = request.tools.map((tool) =>
    tool.isProviderTool ? { ...tool, isUnpriced: true } : tool,
  )
  return { ...unlimited, tools, format: OPENAI_COMPACTION }
}

function read(body: Buffer): ChatRequest | RelayError {
  const request = OPENAI_RESPONSES.readRequest(body, null)
  if (isRelayError(request)) return request
  const member = request.members.find(
    ({ key, kind }) => UNSUPPORTED.includes(key) && kind !== 'false' && kind !== 'null',
  )
  if (member !== undefined) return invalidParameter(member.key)
  return asCompaction(request)
}

/**
 * `POST /v1/responses/compact`, which summarizes a conversation. The answer repeats the user's
 * messages, so only its items of the type `compaction` count as output.
 */
export const OPENAI_COMPACTION: WireFormat = {
  ...OPENAI_RESPONSES,
  isCompaction: true,
  readRequest: read,
  readChangedRequest: (body, path) => asCompaction(OPENAI_RESPONSES.readChangedRequest(body, path)),
  outlineOf: (request) => ({ ...OPENAI_RESPONSES.outlineOf(request), format: OPENAI_COMPACTION }),
  upstreamBody: (request, change) =>
    OPENAI_RESPONSES.upstreamBody(request, { ...change, outputTokens: null }),
  readTexts: (json, sink) => {
    const output = parsedObject(json)?.output
    for (const item of Array.isArray(output) ? output : []) {
      const { type, encrypted_content: encrypted } = objectOrEmpty(item)
      if (type === 'compaction' && typeof encrypted === 'string') sink.data(encrypted.length)
    }
  },
}
