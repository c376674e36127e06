import type { BatchApi } from '#domain/batches/events.ts'
import type { RelayError } from '../canonical/relay-error.ts'
import { ANTHROPIC_MESSAGES } from '../dialects/anthropic-messages/messages-format.ts'
import { GEMINI } from '../dialects/gemini/generate-content-format.ts'
import type { PathParameters, WireFormat } from '../dialects/wire-format.ts'
import { droppedBetas } from '../pipeline/build-provider-call.ts'
import type { Exchange } from '../pipeline/http-exchange.ts'
import { BETA_HEADER, betasIn, headerIn, headersByName } from '../providers/header-list.ts'
import { ANTHROPIC_BATCHES, BATCHES_PATH, VERSION_HEADERS } from './anthropic-batches.ts'
import type { BatchProtocol } from './batch-protocol.ts'
import {
  GEMINI_BATCHES,
  type GeminiBatchRequest,
  inGeminiRequest,
  readGeminiBatch,
} from './gemini-batches.ts'
import {
  type BatchLine,
  inRequest,
  readAnthropicBatchRequest,
} from './read-anthropic-batch-request.ts'

/** The contents of a request that submits a batch. */
export type InlineSubmission = {
  readonly lines: readonly BatchLine[]
  /**
   * The members of the submission that later descriptions of the batch repeat; null if there are
   * none.
   */
  readonly shown: object | null
  /** The members of the submission, outside of its lines, that no provider gets. */
  readonly dropped: readonly string[]
}

/** A batch API in which the request that submits a batch contains all lines of the batch. */
export type InlineBatches = {
  readonly api: BatchApi
  readonly format: WireFormat & { readonly name: 'messages' | 'gemini' }
  readonly protocol: BatchProtocol
  /**
   * The parameters in the path of the submission, such as the model; null if each line names a
   * model.
   */
  readonly path: PathParameters | null
  readonly read: (body: Buffer) => Promise<InlineSubmission | RelayError>
  /** Returns the error with the JSON path of the faulty line before its parameter name. */
  readonly inLine: (error: RelayError, index: number) => RelayError
  /**
   * The pieces of the body that is sent to the provider: the text before all lines, the bytes of
   * each line, and the text after all lines.
   */
  readonly write: {
    readonly begin: (shown: object | null) => string
    readonly line: (line: BatchLine, sent: Buffer) => readonly Buffer[]
    readonly end: string
  }
  /**
   * Returns the path to which the batch is submitted. `model` is the provider's name for the model
   * of the first line.
   */
  readonly pathOf: (model: string) => string
  readonly headersOf: (exchange: Exchange) => Readonly<Record<string, string>>
  /**
   * Returns the names of the betas that the caller's headers request but the provider does not get.
   */
  readonly droppedHeaders: (exchange: Exchange) => readonly string[]
}

export const ANTHROPIC_INLINE: InlineBatches = {
  api: 'anthropic',
  format: ANTHROPIC_MESSAGES as InlineBatches['format'],
  protocol: ANTHROPIC_BATCHES,
  path: null,
  read: async (body) => {
    const lines = await readAnthropicBatchRequest(body)
    return 'code' in lines ? lines : { lines, shown: null, dropped: [] }
  },
  inLine: (error, index) => inRequest(error, index, 'params'),
  write: {
    begin: () => '{"requests":[',
    line: ({ customId }, sent) => [
      ...[Buffer.from(`{"custom_id":"${customId}","params":`), sent, Buffer.from('}')],
    ],
    end: ']}',
  },
  pathOf: () => BATCHES_PATH,
  headersOf: ({ request }) => {
    const passed = ANTHROPIC_MESSAGES.passedHeaders(request.headers)
    return passed.length === 0 ? VERSION_HEADERS : headersByName(passed)
  },
  droppedHeaders: ({ request: { headers } }) =>
    droppedBetas(
      headers,
      betasIn(headerIn(ANTHROPIC_MESSAGES.passedHeaders(headers), BETA_HEADER)),
    ),
}

export const geminiInline = (model: string): InlineBatches => ({
  api: 'gemini',
  format: GEMINI as InlineBatches['format'],
  protocol: GEMINI_BATCHES,
  path: { model, isStream: false },
  read: async (body) => {
    const read = await readGeminiBatch(body, model)
    if ('code' in read) return read
    const { lines, displayName, dropped } = read
    return { lines, dropped, shown: { model, displayName } satisfies GeminiBatchRequest }
  },
  inLine: (error, index) => inGeminiRequest(error, index, 'request'),
  write: {
    begin: (shown) => {
      const { displayName } = shown as GeminiBatchRequest
      const name = JSON.stringify(displayName === '' ? 'batch' : displayName)
      return `{"batch":{"displayName":${name},"inputConfig":{"requests":{"requests":[`
    },
    line: ({ metadata }, sent) => [
      ...[Buffer.from('{"request":'), sent],
      ...(metadata === undefined ? [] : [Buffer.from(',"metadata":'), metadata]),
      Buffer.from('}'),
    ],
    end: ']}}}}',
  },
  pathOf: (name) => `/v1beta/models/${encodeURIComponent(name)}:batchGenerateContent`,
  headersOf: () => ({}),
  droppedHeaders: () => [],
})
