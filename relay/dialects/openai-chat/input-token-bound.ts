import { TOKENS_MAX } from '#relay/canonical/provider-usage-report.ts'
import type { Member } from '../scan-request-object.ts'
import type { MessagePartAndToolFinder, PartKind } from './find-message-parts-and-tools.ts'

/** The limits of the number of input tokens that a request can have. */
export type InputBound = {
  /**
   * The likely maximum number of input tokens. The call's hold (the reserved quota) covers these
   * tokens.
   */
  readonly tokens: number
  /**
   * The absolute maximum number of input tokens. A usage report with more input tokens is not
   * trusted.
   */
  readonly ceiling: number
  /**
   * True if the request consists only of text and makes the provider search nothing. The gateway
   * can't count the tokens of other requests exactly.
   */
  readonly isText: boolean
}

/**
 * The likely maximum (`tokens`) and the absolute maximum (`ceiling`) of the tokens that one message
 * part adds to the request's length, by its kind, as providers document it. A detailed picture has
 * up to 5 000 tokens, or 48 169 for OpenAI's small models. An hour of video has a million tokens.
 * Audio data is usually in the request, so the request's length already covers the audio. The
 * reasoning before one tool call usually has at most 10 000 tokens.
 */
const BY_PIECE: Readonly<Record<PartKind, Omit<InputBound, 'isText'>>> = {
  picture: { tokens: 6_000, ceiling: 50_000 },
  video: { tokens: 300_000, ceiling: 2_000_000 },
  audio: { tokens: 0, ceiling: 500_000 },
  file: { tokens: 100_000, ceiling: 1_000_000 },
  storedReasoning: { tokens: 10_000, ceiling: 300_000 },
}

/** Members that make a provider search the web or other sources and read the results. */
const SEARCHES = new Set([
  ...['web_search_options', 'search_parameters', 'enable_search', 'search_options', 'web_search'],
  ...['plugins', 'enable_deep_search', 'force_search_enhancement', 'search_settings'],
])
const SEARCH_CEILING = 200_000
/**
 * Members that refer to content outside the request. The length of such content has no known bound.
 */
const REMOTE = new Set([
  ...['files', 'file_ids', 'attachments', 'documents', 'images', 'videos', 'data_sources'],
  ...['previous_response_id', 'conversation', 'conversation_id', 'mcp_servers', 'extra_body'],
])

/**
 * The ceiling is the likely maximum number of input tokens times this factor, plus `CEILING_BASE`.
 * The margin allows for a provider's own system prompt and tokenizer.
 */
const CEILING_FACTOR = 2
export const CEILING_BASE = 100_000

/**
 * Returns the bounds of the number of input tokens. The basic bound is the length of the request in
 * bytes, because a token has at least one byte. Each message part in `BY_PIECE`, such as a picture,
 * adds the maximum of its kind. The maximum is added even if the data is in the request and its
 * bytes are already counted, because the provider may count the data either as a picture or as
 * text. If the number of tokens of a part has no known bound, or if a member in `REMOTE` refers to
 * other content, the ceiling is `TOKENS_MAX`.
 */
export function inputBoundOf(
  body: Buffer,
  members: readonly Member[],
  { counts, hasUnknown, tools }: Pick<MessagePartAndToolFinder, 'counts' | 'hasUnknown' | 'tools'>,
): InputBound {
  let tokens = body.length
  let extra = 0
  for (const kind in BY_PIECE) {
    const count = counts[kind as PartKind]
    tokens += count * BY_PIECE[kind as PartKind].tokens
    extra += count * BY_PIECE[kind as PartKind].ceiling
  }
  if (hasUnknown || members.some(({ folded }) => REMOTE.has(folded))) {
    return { tokens, ceiling: TOKENS_MAX, isText: false }
  }
  const isSearching = tools.some(({ isProviderTool }) => isProviderTool)
  if (isSearching || members.some(({ folded }) => SEARCHES.has(folded))) extra += SEARCH_CEILING
  const isText = extra === 0
  const ceiling = tokens * CEILING_FACTOR + CEILING_BASE + extra
  return { tokens, ceiling: Math.min(TOKENS_MAX, ceiling), isText }
}
