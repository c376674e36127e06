import { isRelayError, type RelayError, relayError } from '#relay/canonical/relay-error.ts'
import { recordOf } from '../openai-chat/usage-in-answer.ts'
import type { ChatRequest, WireFormat } from '../wire-format.ts'
import { parsedResponse } from './error-events.ts'
import { OPENAI_RESPONSES } from './responses-request.ts'

/** A compaction has no limit of its output and is never streamed. */
const UNSUPPORTED = ['max_output_tokens', 'stream']

/** A compaction runs no tool of the provider, so these tools are removed. */
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
  if (member !== undefined) return relayError('invalid_parameter', { param: member.key })
  return asCompaction(request)
}

/**
 * `POST /v1/responses/compact`, which summarizes a conversation. The answer repeats the messages of
 * the user, so only its last item counts as output.
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
    const output = parsedResponse(Buffer.from(json))?.output
    for (const item of Array.isArray(output) ? output : []) {
      const { type, encrypted_content: encrypted } = recordOf(item) ?? {}
      if (type === 'compaction' && typeof encrypted === 'string') sink.data(encrypted.length)
    }
  },
}
