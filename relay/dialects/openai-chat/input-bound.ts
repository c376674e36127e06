import { TOKENS_MAX } from '#relay/canonical/usage-report.ts'
import type { Member } from '../json-scan.ts'
import type { BodyParts, PartKind } from './body-parts.ts'

/** How many input tokens a request can stand for. */
export type InputBound = {
  /** No more than this in all likelihood: what the hold covers. */
  readonly tokens: number
  /** No provider counts more than this: a larger count is not believed. */
  readonly ceiling: number
}

/**
 * The largest counts that providers publish: a picture in fine detail is up to 5 000 tokens for
 * most models and 48 169 for the small ones of OpenAI; an hour of video is a million. Sound is
 * inside of the request as a rule, so that its bytes cover its tokens.
 */
const BY_PIECE: Readonly<Record<PartKind, InputBound>> = {
  picture: { tokens: 6_000, ceiling: 50_000 },
  video: { tokens: 300_000, ceiling: 2_000_000 },
  audio: { tokens: 0, ceiling: 500_000 },
  file: { tokens: 100_000, ceiling: 1_000_000 },
}

/** Members that make a provider search, and read what it finds. */
const SEARCHES = new Set([
  ...['web_search_options', 'search_parameters', 'enable_search', 'search_options', 'web_search'],
  ...['plugins', 'enable_deep_search', 'force_search_enhancement', 'search_settings'],
])
const SEARCH_CEILING = 200_000
/** Members that stand for texts of any length that the provider has, or gets elsewhere. */
const REMOTE = new Set([
  ...['files', 'file_ids', 'attachments', 'documents', 'images', 'videos', 'data_sources'],
  ...['previous_response_id', 'conversation', 'conversation_id', 'mcp_servers', 'extra_body'],
])

/** A provider may add a system prompt of its own and count by a tokenizer of its own. */
const CEILING_FACTOR = 2
const CEILING_BASE = 100_000

/**
 * A token stands for one byte of text at least, and a message's own overhead is less than the bytes
 * of its JSON. Pictures, videos and files by their address or id are added by the piece. Pictures
 * inside the request count by their bytes too: whether a text is a picture or only looks like one
 * is the provider's to say. Where something in the request may stand for any number of tokens, the
 * ceiling is the largest number of tokens that is ever believed.
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
    return { tokens, ceiling: TOKENS_MAX }
  }
  const isSearching = tools.some(({ isProviders }) => isProviders)
  if (isSearching || members.some(({ folded }) => SEARCHES.has(folded))) extra += SEARCH_CEILING
  const ceiling = tokens * CEILING_FACTOR + CEILING_BASE + extra
  return { tokens, ceiling: Math.min(TOKENS_MAX, ceiling) }
}
