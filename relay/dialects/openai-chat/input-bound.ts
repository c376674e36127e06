/** How many input tokens a request can stand for. */
export type InputBound = {
  /** No more than this in all likelihood: what the hold covers. */
  readonly tokens: number
  /** No provider counts more than this: a larger count is not believed. */
  readonly ceiling: number
}

/** A part whose tokens the bytes don't tell: a picture by its address, a file by its id. */
type PartKind = {
  /** The part's `type`, as it stands in the JSON. */
  readonly type: Buffer
  readonly tokens: number
  readonly ceiling: number
}

const part = (type: string, tokens: number, ceiling: number): PartKind => ({
  type: Buffer.from(`"${type}"`),
  tokens,
  ceiling,
})

/**
 * The largest counts that providers publish: a picture in fine detail is up to 5 000 tokens for
 * most models and 48 169 for the small ones of OpenAI; an hour of video is a million.
 */
const PART_KINDS: readonly PartKind[] = [
  part('image_url', 6_000, 50_000),
  part('video_url', 300_000, 2_000_000),
  part('input_audio', 0, 500_000),
  part('file', 100_000, 1_000_000),
]

/** Members that make a provider search, and read what it finds. */
const SEARCHES = [Buffer.from('"web_search_options"'), Buffer.from('"plugins"')]
const SEARCH_CEILING = 200_000

/** A provider may add a system prompt of its own and count by a tokenizer of its own. */
const CEILING_FACTOR = 2
const CEILING_BASE = 100_000

const COLON = 58

/**
 * A token stands for one byte of text at least, and a message's own overhead is less than the bytes
 * of its JSON. What is named by its address or id (pictures, videos, files) is added by the piece.
 * Pictures inside the request count by their bytes too: whether a text is a picture or only looks
 * like one is the provider's to say.
 */
export function inputBoundOf(body: Buffer): InputBound {
  let tokens = body.length
  let extra = 0
  for (const { type, ...piece } of PART_KINDS) {
    const pieces = valuesEqual(body, type)
    tokens += pieces * piece.tokens
    extra += pieces * piece.ceiling
  }
  if (SEARCHES.some((member) => body.includes(member))) extra += SEARCH_CEILING
  return { tokens, ceiling: tokens * CEILING_FACTOR + CEILING_BASE + extra }
}

/** How often the text stands where a value does, behind a colon. */
function valuesEqual(body: Buffer, text: Buffer): number {
  let count = 0
  for (let at = body.indexOf(text); at >= 0; at = body.indexOf(text, at + 1)) {
    let before = at - 1
    while (before > 0 && (body[before] ?? 0) <= 32) before -= 1
    if (body[before] === COLON) count += 1
  }
  return count
}
