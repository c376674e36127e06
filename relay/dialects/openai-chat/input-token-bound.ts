import { TOKENS_MAX } from '#relay/canonical/provider-usage-report.ts'
import type { Member } from '../scan-request-object.ts'
import type { BodyParts, PartKind } from './find-message-parts-and-tools.ts'

export type InputBound = {
  /**
   * The likely maximum number of input tokens. The call's hold (reserved quota) covers this number.
   */
  readonly tokens: number
  /**
   * The absolute maximum number of input tokens. A usage report with more input tokens is not
   * trusted.
   */
  readonly ceiling: number
  /** True if the request consists only of text, so that its tokens can be counted. */
  readonly isText: boolean
}

/**
 * The maximum number of tokens of each kind of message part, as published by providers. A detailed
 * picture has up to 5 000 tokens for most models and 48 169 for OpenAI's small models. An hour of
 * video has a million tokens. Sound is usually contained in the request, so the length of the
 * request already bounds its tokens.
 */
const BY_PIECE: Readonly<Record<PartKind, Omit<InputBound, 'isText'>>> = {
  picture: { tokens: 6_000, ceiling: 50_000 },
  video: { tokens: 300_000, ceiling: 2_000_000 },
  audio: { tokens: 0, ceiling: 500_000 },
  file: { tokens: 100_000, ceiling: 1_000_000 },
}

/** Members that make a provider search the web or other sources and read the results. */
const SEARCHES = new Set([
  ...['web_search_options', 'search_parameters', 'enable_search', 'search_options', 'web_search'],
  ...['plugins', 'enable_deep_search', 'force_search_enhancement', 'search_settings'],
])
const SEARCH_CEILING = 200_000
/** Members that refer to content of any length that the provider stores or fetches. */
const REMOTE = new Set([
  ...['files', 'file_ids', 'attachments', 'documents', 'images', 'videos', 'data_sources'],
  ...['previous_response_id', 'conversation', 'conversation_id', 'mcp_servers', 'extra_body'],
])

/**
 * The factor between the likely maximum of input tokens and the ceiling. `CEILING_BASE` is added as
 * well. The factor and the base allow for a provider's own system prompt and tokenizer.
 */
const CEILING_FACTOR = 2
const CEILING_BASE = 100_000

/**
 * Returns bounds of the input tokens. A token represents at least one byte, so the length of the
 * request is the basic bound. For each picture, video or file, the maximum of this kind of part is
 * added. A picture inside the request is also counted by its bytes, because only the provider
 * decides whether a text is a picture. If a part may have any number of tokens, the ceiling is
 * `TOKENS_MAX`.
 */
export function inputBoundOf(
  body: Buffer,
  members: readonly Member[],
  { counts, hasUnknown, tools }: BodyParts,
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
  const isSearching = tools.some(({ isProviders }) => isProviders)
  if (isSearching || members.some(({ folded }) => SEARCHES.has(folded))) extra += SEARCH_CEILING
  const isText = extra === 0
  const ceiling = tokens * CEILING_FACTOR + CEILING_BASE + extra
  return { tokens, ceiling: Math.min(TOKENS_MAX, ceiling), isText }
}
