import { ANTHROPIC_ERRORS } from './dialects/anthropic-messages/error-format.ts'
import { ANTHROPIC_MESSAGES } from './dialects/anthropic-messages/messages-format.ts'
import { EMBEDDINGS } from './dialects/embeddings-rerank-moderations/embeddings-format.ts'
import {
  GEMINI_EMBEDDING,
  GEMINI_EMBEDDING_BATCH,
} from './dialects/embeddings-rerank-moderations/gemini-embedding-formats.ts'
import { MODERATIONS } from './dialects/embeddings-rerank-moderations/moderations-format.ts'
import { RERANK, RERANK_V2 } from './dialects/embeddings-rerank-moderations/rerank-format.ts'
import type { ErrorFormat } from './dialects/error-format.ts'
import { GEMINI_ERRORS } from './dialects/gemini/error-format.ts'
import { GEMINI } from './dialects/gemini/generate-content-format.ts'
import { GEMINI_IMAGES } from './dialects/gemini-images/imagen-predict-format.ts'
import { OPENAI_SPEECH } from './dialects/openai-audio/speech-format.ts'
import {
  OPENAI_TRANSCRIPTIONS,
  OPENAI_TRANSLATIONS,
} from './dialects/openai-audio/transcription-formats.ts'
import { OPENAI_CHAT } from './dialects/openai-chat/chat-format.ts'
import { OPENAI_ERRORS } from './dialects/openai-chat/error-format.ts'
import { OPENAI_COMPLETIONS } from './dialects/openai-completions/completions-format.ts'
import {
  OPENAI_IMAGE_EDITS,
  OPENAI_IMAGE_VARIATIONS,
  OPENAI_IMAGES,
} from './dialects/openai-images/image-formats.ts'
import { OPENAI_COMPACTION } from './dialects/openai-responses/compaction-format.ts'
import { RESPONSES_ERRORS } from './dialects/openai-responses/response-errors.ts'
import { OPENAI_RESPONSES } from './dialects/openai-responses/responses-format.ts'
import type { WireFormat } from './dialects/wire-format.ts'
import { decodedSegment, isGeminiRequest, readGeminiPath } from './gemini-paths.ts'
import type { CallWork } from './pipeline/execute-call.ts'
import type { CallRequest } from './pipeline/http-request-and-response-types.ts'

/** The paths of reranks outside `/v1`, which the clients of Cohere and Jina call. */
export const RERANK_PATHS: readonly string[] = ['/v2/rerank', '/rerank']

type CallAtPath = Pick<CallWork, 'format' | 'path'>

/** The paths of calls, each with the format of its requests and answers. */
const CALL_PATHS: readonly (readonly [path: string, format: WireFormat])[] = [
  ['/v1/chat/completions', OPENAI_CHAT],
  ['/v1/completions', OPENAI_COMPLETIONS],
  ['/v1/messages', ANTHROPIC_MESSAGES],
  ['/v1/responses', OPENAI_RESPONSES],
  ['/v1/images/generations', OPENAI_IMAGES],
  ['/v1/images/edits', OPENAI_IMAGE_EDITS],
  ['/v1/images/variations', OPENAI_IMAGE_VARIATIONS],
  ['/v1/responses/compact', OPENAI_COMPACTION],
  ['/v1/audio/speech', OPENAI_SPEECH],
  ['/v1/audio/transcriptions', OPENAI_TRANSCRIPTIONS],
  ['/v1/audio/translations', OPENAI_TRANSLATIONS],
  ['/v1/embeddings', EMBEDDINGS],
  ['/v1/moderations', MODERATIONS],
  ['/v1/rerank', RERANK],
  ['/v2/rerank', RERANK_V2],
  ['/rerank', RERANK],
]
const CALL_AT_PATH: ReadonlyMap<string, CallAtPath> = new Map(
  CALL_PATHS.map(([path, format]) => [path, { format, path: null }]),
)

/** Matches OpenAI's earlier path for embeddings, which contains the model's name. */
const ENGINE_PATH = /^\/v1\/engines\/([^/]+)\/embeddings$/

const GEMINI_FORMATS = {
  generateContent: GEMINI,
  streamGenerateContent: GEMINI,
  embedContent: GEMINI_EMBEDDING,
  batchEmbedContents: GEMINI_EMBEDDING_BATCH,
  predict: GEMINI_IMAGES,
} as const

/**
 * Returns the format in which a client expects errors. At a path of calls, the path alone decides.
 * At other paths, such as the list of models, Gemini's and Anthropic's clients are recognized by
 * the path or by their headers. Requests that belong to no other API get OpenAI's format.
 */
export function errorFormatOf(request: CallRequest): ErrorFormat {
  const { url = '', headers } = request
  const query = url.indexOf('?')
  const work = CALL_AT_PATH.get(query < 0 ? url : url.slice(0, query))
  if (work !== undefined) return work.format.errors
  if (isGeminiRequest(request)) return GEMINI_ERRORS
  if (url.startsWith('/v1/responses')) return RESPONSES_ERRORS
  const isAnthropicRequest =
    /^\/(?:v1\/messages|anthropic)/.test(url) || headers['anthropic-version'] !== undefined
  return isAnthropicRequest ? ANTHROPIC_ERRORS : OPENAI_ERRORS
}

/**
 * Returns the wire format of the calls at a path. The result's `path` contains the parameters in
 * the path, such as the model, or is null if there are none. Returns null if no calls are served at
 * the path.
 */
export function callAt(path: string): CallAtPath | null {
  const work = CALL_AT_PATH.get(path)
  if (work !== undefined) return work
  const engine = ENGINE_PATH.exec(path)?.[1]
  if (engine !== undefined) {
    return { format: EMBEDDINGS, path: { model: decodedSegment(engine), isStream: false } }
  }
  const gemini = readGeminiPath(path)
  if (gemini === null || gemini.method === 'countTokens') return null
  return { format: GEMINI_FORMATS[gemini.method], path: gemini }
}
