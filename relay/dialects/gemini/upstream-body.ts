import { PROVIDER_TOOLS } from '#domain/channels/restricted-request-members.ts'
import { applyEdits, type ByteEdit } from '../byte-edits.ts'
import type { ToolElement } from '../openai-chat/find-message-parts-and-tools.ts'
import { editsToRemove } from '../openai-chat/upstream-body.ts'
import { isMembers } from '../read-common-request-members.ts'
import { type Member, scanObject } from '../scan-request-object.ts'
import type { ChatRequest, UpstreamBody, UpstreamChange } from '../wire-format.ts'
import { camelCased, snakeCased } from './camel-case.ts'
import { CALLER_TOOLS } from './find-content-parts-and-tools.ts'
import { isPricedTool } from './limit-provider-tools.ts'

/**
 * The members that are always sent to the provider. All others are removed unless the channel
 * allows them, because they may change what is billed. Google refuses unknown members anyway.
 * `isRestricted` decides about `model` and `serviceTier`.
 */
const SENT: ReadonlySet<string> = new Set([
  ...['contents', 'systemInstruction', 'tools', 'toolConfig', 'safetySettings', 'generationConfig'],
])
/** The members of `generationConfig` that let the provider choose another model. */
export const ROUTING_MEMBERS: ReadonlySet<string> = new Set([
  ...['routingConfig', 'modelConfig', 'modelSelectionConfig'],
])
/** The members that are removed when no tool is left. */
const OF_TOOLS: ReadonlySet<string> = new Set(['tools', 'toolConfig'])
const CONFIG = 'generationConfig'
const LIMIT = 'maxOutputTokens'
/** Matches the values of `serviceTier` that are charged at the standard price. */
const STANDARD_TIER = /^(?:null|"(?:service_tier_)?(?:standard|unspecified)")$/i

const NOTHING_DROPPED: readonly string[] = []

/**
 * Builds the request body for the provider, as `upstreamBody` of OpenAI's format does. The body
 * does not name the model. If nothing changes, the original body is returned without a copy.
 */
export function upstreamBody(request: ChatRequest, change: UpstreamChange): UpstreamBody {
  const { body, members, namesOtherModel } = request
  const { overrides, outputTokens, allowed } = change
  const overridden = new Set([...overrides.keys()].map(camelCased))
  const restricted = members.filter((member) => isRestricted(body, member, allowed))
  const isNamed = ({ key }: Member): boolean => key !== 'model' || namesOtherModel === true
  const dropped = restricted.filter(isNamed).map(({ key }) => key)
  const tools = keptTools(request, change, overridden)
  const isToolless = tools?.every(({ text }) => text === '') === true
  const removed = members.filter(
    (member) =>
      restricted.includes(member) ||
      overridden.has(camelCased(member.key)) ||
      (isToolless && OF_TOOLS.has(camelCased(member.key))),
  )
  const remaining = members.filter((member) => !removed.includes(member))
  const edits: ByteEdit[] = [...(isToolless ? [] : editsOfTools(request, tools))]
  const inserted = new Map([...overrides].filter(([key]) => key !== 'model'))
  const config = configFor(request, inserted, remaining, outputTokens ?? null)
  if (config !== null) {
    dropped.push(...config.dropped)
    if (config.member === null) inserted.set(config.name, config.text)
    else {
      const { valueStart: start, valueEnd: end } = config.member
      edits.push({ start, end, text: config.text })
    }
  }
  if (tools !== null) dropped.push(PROVIDER_TOOLS)
  if (edits.length === 0 && removed.length === 0 && inserted.size === 0) {
    return { body, dropped: NOTHING_DROPPED }
  }
  const texts = [...inserted].map(([key, text]) => `${JSON.stringify(key)}:${text}`)
  const [first] = remaining
  if (first === undefined) return { body: Buffer.from(`{${texts.join()}}`), dropped }
  edits.push(...editsToRemove(members, removed, spanOfMember))
  if (texts.length > 0) {
    edits.push({ start: first.keyStart, end: first.keyStart, text: `${texts.join()},` })
  }
  return { body: applyEdits(body, edits), dropped }
}

const spanOfMember = ({ keyStart, valueEnd }: Member) => ({ start: keyStart, end: valueEnd })
const spanOfTool = ({ start, end }: ToolElement) => ({ start, end })

function isRestricted(
  body: Buffer,
  { key, valueStart, valueEnd }: Member,
  allowed: ReadonlySet<string>,
): boolean {
  const name = camelCased(key)
  if (SENT.has(name)) return false
  if (name === 'serviceTier' && valueEnd - valueStart < 64) {
    if (STANDARD_TIER.test(body.toString('latin1', valueStart, valueEnd))) return false
  }
  // No built-in price covers any tier except the standard tier, so a channel can't allow other
  // tiers.
  if (name === 'serviceTier') return true
  return name === 'model' || (!allowed.has(name) && !allowed.has(snakeCased(name)))
}

type Kept = { readonly tool: ToolElement; readonly text: string | null }

/**
 * Returns the part of each tool that is sent, or null if all tools are sent unchanged. `text` is
 * null for a tool that is sent completely, and empty for a tool that is removed. One tool may
 * contain functions of the caller together with tools that Google runs. Tools without a price are
 * never sent.
 */
function keptTools(
  { body, tools }: ChatRequest,
  { allowed }: UpstreamChange,
  overridden: ReadonlySet<string>,
): readonly Kept[] | null {
  if (overridden.has('tools')) return null
  const isAllowed = allowed.has(PROVIDER_TOOLS)
  const isChanged = ({ isProviderTool, isUnpriced = false }: ToolElement): boolean =>
    isProviderTool && (!isAllowed || isUnpriced)
  if (!tools.some(isChanged)) return null
  const isKept = (name: string): boolean =>
    CALLER_TOOLS.has(name) || (isAllowed && isPricedTool(camelCased(name)))
  return tools.map((tool) => ({ tool, text: isChanged(tool) ? partOf(body, tool, isKept) : null }))
}

function partOf(
  body: Buffer,
  { start, end }: ToolElement,
  isKept: (name: string) => boolean,
): string {
  const bytes = body.subarray(start, end)
  const members = scanObject(bytes)
  if (!isMembers(members)) return ''
  const kept = members.filter(({ key }) => isKept(key))
  const texts = kept.map(({ keyStart, valueEnd }) => bytes.toString('utf8', keyStart, valueEnd))
  return texts.length === 0 ? '' : `{${texts.join()}}`
}

function editsOfTools({ tools }: ChatRequest, kept: readonly Kept[] | null): readonly ByteEdit[] {
  if (kept === null) return []
  const removed = kept.filter(({ text }) => text === '').map(({ tool }) => tool)
  const changed = kept.flatMap(({ tool: { start, end }, text }) =>
    text === null || text === '' ? [] : [{ start, end, text }],
  )
  return [...changed, ...editsToRemove(tools, removed, spanOfTool)]
}

type Config = {
  /** The member to replace. Null if a new member `name` is inserted. */
  readonly member: Member | null
  readonly name: string
  readonly text: string
  readonly dropped: readonly string[]
}

/**
 * Returns the `generationConfig` to send, or null if nothing changes. The caller's members in
 * `ROUTING_MEMBERS` are removed, and the output limit is set to `outputTokens`. A smaller limit
 * stays unchanged.
 */
function configFor(
  { body }: ChatRequest,
  overrides: ReadonlyMap<string, string>,
  remaining: readonly Member[],
  outputTokens: number | null,
): Config | null {
  const override = [...overrides].find(([key]) => camelCased(key) === CONFIG)
  const member = remaining.find(({ key }) => camelCased(key) === CONFIG) ?? null
  const name = override?.[0] ?? member?.key ?? CONFIG
  const bytes =
    override !== undefined
      ? Buffer.from(override[1])
      : member?.kind === 'object'
        ? body.subarray(member.valueStart, member.valueEnd)
        : Buffer.from('{}')
  const members = scanObject(bytes)
  if (!isMembers(members)) return null
  const routing =
    override === undefined ? members.filter(({ key }) => ROUTING_MEMBERS.has(camelCased(key))) : []
  const limit = members.find(({ key }) => camelCased(key) === LIMIT)
  const own =
    limit === undefined ? 0 : Number(bytes.toString('latin1', limit.valueStart, limit.valueEnd))
  const isLimited = outputTokens === null || (own > 0 && own <= outputTokens)
  if (isLimited && routing.length === 0) return null
  const texts = members
    .filter((one) => !routing.includes(one) && (isLimited || one !== limit))
    .map(({ keyStart, valueEnd }) => bytes.toString('utf8', keyStart, valueEnd))
  if (!isLimited) texts.push(`${JSON.stringify(limit?.key ?? LIMIT)}:${outputTokens}`)
  const dropped = routing.map(({ key }) => `${name}.${key}`)
  return {
    member: override === undefined ? member : null,
    name,
    text: `{${texts.join()}}`,
    dropped,
  }
}
