import { isRestrictedMember, PROVIDER_TOOLS } from '#domain/channel/restricted-members.ts'
import { foldedName } from '#domain/shared/folded-name.ts'
import { type Edit, splice } from '../json-bytes.ts'
import { type Member, scanObject } from '../json-scan.ts'
import type { ToolElement } from './body-parts.ts'
import type { ChatRequest } from './chat-request.ts'

type UpstreamChange = {
  readonly model: string
  /** It is the name of a deployment, which says nothing of the model that runs there. */
  readonly isDeployment?: boolean
  readonly forcesUsage: boolean
  /** JSON texts. */
  readonly overrides: ReadonlyMap<string, string>
  /** Restricted members that pass, and `PROVIDER_TOOLS`. */
  readonly allowed: ReadonlySet<string>
  /** The most output tokens of a choice: sent in place of a larger limit or of none. */
  readonly outputTokens?: number | null
}

type UpstreamBody = {
  readonly body: Buffer
  /**
   * The restricted members that are not in it, as the caller spelled them; `PROVIDER_TOOLS` where
   * tools of the provider are not.
   */
  readonly dropped: readonly string[]
}

const EMPTY = Buffer.from('{}')
const NONE: readonly Member[] = []
const NO_TOOLS: readonly ToolElement[] = []
/** Members that make no sense without any tool; some providers refuse them then. */
const OF_TOOLS = new Set(['tools', 'tool_choice', 'parallel_tool_calls'])

/**
 * The bytes for the provider: with its own name of the model, the admin's overrides, and, for a
 * stream, a request for the usage chunk; without the members that would have it serve something
 * else than what is billed. The very same bytes when nothing differs.
 */
export function upstreamBody(request: ChatRequest, change: UpstreamChange): UpstreamBody {
  const values = new Map(change.overrides)
  if (change.model !== request.model && !values.has('model')) {
    values.set('model', JSON.stringify(change.model))
  }
  if (request.isStream && change.forcesUsage && !request.wantsUsage) {
    values.set('stream_options', withIncludeUsage(request))
  }
  if (change.outputTokens) setOutputLimit(values, request, change, change.outputTokens)
  const restricted = restrictedOf(request, change)
  const tools = droppedTools(request, change)
  const isToolless = tools.length > 0 && tools.length === request.tools.length
  const removed = removedOf(request, change.overrides, restricted, isToolless)
  if (values.size === 0 && removed.length === 0 && tools.length === 0) {
    return { body: request.body, dropped: [] }
  }
  const kept = request.members.filter((member) => !removed.includes(member))
  const edits = [
    ...removals(request.members, removed, spanOfMember),
    ...(isToolless ? [] : removals(request.tools, tools, spanOfTool)),
  ]
  for (const [key, text] of values) {
    const member = kept.find((candidate) => candidate.key === key)
    if (member !== undefined) edits.push({ start: member.valueStart, end: member.valueEnd, text })
    else edits.push(insertion(kept, key, text))
  }
  const dropped = restricted.map(({ key }) => key)
  if (tools.length > 0) dropped.push(PROVIDER_TOOLS)
  return { body: splice(request.body, edits), dropped }
}

const LIMIT_MEMBERS = ['max_tokens', 'max_completion_tokens'] as const
/** OpenAI's reasoning models refuse the older name; many other servers don't know the newer one. */
const TAKES_NEWER_MEMBER = /(?:^|\/)(?:o\d|gpt-[5-9])/
/** The same models in the name of a deployment, or in the one that its caller uses. */
const NAMES_NEWER_MODEL = /(?:^|[^a-z0-9])(?:o\d|gpt-?[5-9])(?!\d)/i

const takesNewerMember = (asked: string, { model, isDeployment }: UpstreamChange): boolean =>
  TAKES_NEWER_MEMBER.test(model) ||
  (isDeployment === true && [model, asked].some((name) => NAMES_NEWER_MODEL.test(name)))

/** No member of the request, nor an override, allows more than the limit. */
function setOutputLimit(
  values: Map<string, string>,
  { body, members, model: asked }: ChatRequest,
  change: UpstreamChange,
  tokens: number,
): void {
  const textOfMember = (name: string): string | undefined => {
    const sent = members.find(({ key }) => key === name)
    return values.get(name) ?? (sent && body.toString('latin1', sent.valueStart, sent.valueEnd))
  }
  const given = LIMIT_MEMBERS.filter((name) => textOfMember(name) !== undefined)
  const added = takesNewerMember(asked, change) ? 'max_completion_tokens' : 'max_tokens'
  for (const name of given.length > 0 ? given : [added]) {
    const own = Number(textOfMember(name) ?? 0)
    values.set(name, `${own > 0 && own < tokens ? own : tokens}`)
  }
}

/** Members that an override sets are not among them: the override takes their place. */
function restrictedOf({ body, members }: ChatRequest, change: UpstreamChange): readonly Member[] {
  let found = NONE
  for (const member of members) {
    if (!isRestrictedMember(member.folded) || change.allowed.has(member.key)) continue
    if (change.overrides.has(member.key) || isStandard(body, member)) continue
    found = [...found, member]
  }
  return found
}

/** Tools that the provider runs itself, where the channel does not allow them. */
function droppedTools(
  { tools }: ChatRequest,
  { allowed, overrides }: UpstreamChange,
): readonly ToolElement[] {
  if (tools.length === 0 || allowed.has(PROVIDER_TOOLS) || overrides.has('tools')) return NO_TOOLS
  return tools.some(({ isProviders }) => isProviders)
    ? tools.filter(({ isProviders }) => isProviders)
    : NO_TOOLS
}

/** With those that a provider may read as one of the overrides, and go by instead of it. */
function removedOf(
  { members }: ChatRequest,
  overrides: ReadonlyMap<string, string>,
  restricted: readonly Member[],
  isToolless: boolean,
): readonly Member[] {
  if (overrides.size === 0 && !isToolless) return restricted
  const folded = new Set([...overrides.keys()].map(foldedName))
  const others = members.filter(
    (member) =>
      (folded.has(member.folded) || (isToolless && OF_TOOLS.has(member.key))) &&
      !overrides.has(member.key) &&
      !restricted.includes(member),
  )
  return [...restricted, ...others]
}

/** The tiers that cost what the price list says. */
const STANDARD_TIERS = new Set(['"auto"', '"default"', 'null'])

const isStandard = (body: Buffer, { key, valueStart, valueEnd }: Member): boolean =>
  key === 'service_tier' &&
  valueEnd - valueStart <= 9 &&
  STANDARD_TIERS.has(body.toString('latin1', valueStart, valueEnd))

type Span = { readonly start: number; readonly end: number }

const spanOfMember = ({ keyStart, valueEnd }: Member): Span => ({ start: keyStart, end: valueEnd })
const spanOfTool = ({ start, end }: ToolElement): Span => ({ start, end })

/** Each with the comma before it; those before the first that stays, with the comma behind. */
function removals<Item>(
  items: readonly Item[],
  removed: readonly Item[],
  spanOf: (item: Item) => Span,
): Edit[] {
  if (removed.length === 0) return []
  const gone = new Set(removed)
  const first = items.findIndex((item) => !gone.has(item))
  const spans = items.map(spanOf)
  return spans.flatMap(({ start, end }, index) => {
    if (!gone.has(items[index] as Item)) return []
    if (index < first) return [{ start, end: spans[index + 1]?.start ?? 0, text: '' }]
    return [{ start: spans[index - 1]?.end ?? 0, end, text: '' }]
  })
}

/** New members go in front of the first, where a comma always follows: a model is always there. */
function insertion([first]: readonly Member[], key: string, text: string): Edit {
  const at = first?.keyStart ?? 1
  return { start: at, end: at, text: `${JSON.stringify(key)}:${text},` }
}

function withIncludeUsage({ body, members }: ChatRequest): string {
  const member = members.find((candidate) => candidate.key === 'stream_options')
  const isObject = member?.kind === 'object'
  const options = isObject ? body.subarray(member.valueStart, member.valueEnd) : EMPTY
  const given = scanObject(options)
  const kept = ('fault' in given ? [] : given)
    .filter(({ key }) => key !== 'include_usage')
    .map(({ keyStart, valueEnd }) => options.toString('utf8', keyStart, valueEnd))
  return `{${[...kept, '"include_usage":true'].join()}}`
}

const KEY = Buffer.from('"model"')
const QUOTE = 34
const BACKSLASH = 92
const COLON = 58

/**
 * An answer, or whole events of a stream, with the name of the model that the caller used. Found
 * in the bytes, which are not built: inside a text the key's quotes would have backslashes. The
 * empty name, which Azure sends in its first event, stays.
 */
export function withModel(bytes: Buffer, model: string): Buffer {
  const edits: Edit[] = []
  for (let at = bytes.indexOf(KEY); at >= 0; at = bytes.indexOf(KEY, at + KEY.length)) {
    if (bytes[at - 1] === BACKSLASH) continue
    const colon = behindSpace(bytes, at + KEY.length)
    if (bytes[colon] !== COLON) continue
    const start = behindSpace(bytes, colon + 1)
    const end = bytes[start] === QUOTE ? endOfText(bytes, start) : -1
    if (end > start + 2) edits.push({ start, end, text: JSON.stringify(model) })
  }
  return splice(bytes, edits)
}

/** The `model` that an answer's bytes name first; null when they name none. */
export function modelIn(bytes: Buffer): string | null {
  const at = bytes.indexOf(KEY)
  if (at < 0) return null
  const colon = behindSpace(bytes, at + KEY.length)
  const start = behindSpace(bytes, colon + 1)
  const isText = bytes[colon] === COLON && bytes[start] === QUOTE
  const end = isText ? endOfText(bytes, start) : -1
  return end < 0 ? null : bytes.toString('utf8', start + 1, end - 1)
}

function behindSpace(bytes: Buffer, from: number): number {
  let at = from
  while (bytes[at] === 32 || bytes[at] === 10 || bytes[at] === 13 || bytes[at] === 9) at += 1
  return at
}

/** Behind the quote that closes the text at `start`; -1 when none does. */
function endOfText(bytes: Buffer, start: number): number {
  for (let at = start + 1; at < bytes.length; at += 1) {
    if (bytes[at] === BACKSLASH) at += 1
    else if (bytes[at] === QUOTE) return at + 1
  }
  return -1
}
