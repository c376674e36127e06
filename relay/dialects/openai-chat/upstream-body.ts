import {
  isRestrictedMember,
  OUTPUT_LIMITS,
  PROVIDER_TOOLS,
} from '#domain/channels/restricted-request-members.ts'
import { foldedName } from '#domain/shared/fold-json-member-names.ts'
import { applyEdits, type ByteEdit } from '../byte-edits.ts'
import { isUnpricedCondition } from '../price-conditions-of-call.ts'
import { type Member, scanObject } from '../scan-request-object.ts'
import type { BodyEnvelope, ChatRequest, UpstreamBody, UpstreamChange } from '../wire-format.ts'
import type { ToolElement } from './find-message-parts-and-tools.ts'
import { choiceWithoutTools } from './tool-choice-without-dropped-tools.ts'

const EMPTY = Buffer.from('{}')
const NONE: readonly Member[] = []
const NO_TOOLS: readonly ToolElement[] = []
const NO_NAMES: ReadonlySet<string> = new Set()
const CHOICE = 'tool_choice'
/**
 * The members that are removed when no tool is left, because some providers refuse these members
 * without tools.
 */
const OF_TOOLS = new Set(['tools', CHOICE, 'parallel_tool_calls'])

/** How the request bodies of a format are changed for the provider. */
export type BodyRules = {
  /** The names of the members that limit the output tokens. */
  readonly limits: readonly string[]
  /** Returns the name of the member that is added if the request has no output limit. */
  readonly addedLimit: (requestedModel: string, change: UpstreamChange) => string
  /**
   * Reports whether a member is removed unless the channel allows it. `folded` is the member's name
   * after case folding.
   */
  readonly isRestricted: (folded: string) => boolean
}

/**
 * Builds the request body for the provider. It sets the provider's model name, the admin's
 * overrides, the output limit and, if required, a request for the chunk with the usage. Restricted
 * members are removed, because they may make the provider deliver something other than what is
 * billed. If nothing changes, the original body is returned without a copy.
 */
export function upstreamBody(
  request: ChatRequest,
  change: UpstreamChange,
  rules = CHAT_RULES,
): UpstreamBody {
  const values = new Map(change.overrides)
  if (change.model !== request.model && !values.has('model')) {
    values.set('model', JSON.stringify(change.model))
  }
  if (change.outputTokens) setOutputLimit(values, request, change, rules, change.outputTokens)
  const restricted = restrictedOf(request, change, rules)
  const tools = droppedTools(request, change)
  const isToolless = tools.length > 0 && tools.length === request.tools.length
  const choice = isToolless || values.has(CHOICE) ? null : choiceWithoutTools(request, tools)
  if (choice !== null && choice.text !== null) values.set(CHOICE, choice.text)
  const others = choice === null || choice.text !== null ? [] : [choice.member]
  const removed = [...removedOf(request, change, restricted, isToolless), ...others]
  const options =
    request.isStream && change.forcesUsage ? withUsage(request, change, removed) : null
  if (options !== null) values.set('stream_options', options)
  if (change.envelope !== undefined) setEnvelope(values, change.envelope)
  const limits = toolLimitEdits(request, change, tools)
  const isEdited = values.size + removed.length + tools.length + limits.length > 0
  if (!isEdited) {
    return { body: request.body, dropped: NOTHING_DROPPED }
  }
  const remaining = request.members.filter((member) => !removed.includes(member))
  const edits = [
    ...editsToRemove(request.members, removed, spanOfMember),
    ...(isToolless ? [] : editsToRemove(request.tools, tools, spanOfTool)),
    ...limits,
  ]
  for (const [key, text] of values) {
    const member = remaining.find((candidate) => candidate.key === key)
    if (member !== undefined) edits.push({ start: member.valueStart, end: member.valueEnd, text })
    else edits.push(insertion(remaining, key, text))
  }
  const dropped = restricted.map(({ key }) => key)
  if (tools.length > 0) dropped.push(PROVIDER_TOOLS)
  if (choice !== null) dropped.push(CHOICE)
  return { body: applyEdits(request.body, edits), dropped }
}

const NOTHING_DROPPED: readonly string[] = []

function setEnvelope(values: Map<string, string>, { removed, added }: BodyEnvelope): void {
  for (const name of removed) values.delete(name)
  for (const [name, text] of added) values.set(name, text)
}

/**
 * Matches the models that require `max_completion_tokens`, namely OpenAI's reasoning models. All
 * other models get `max_tokens`, because many servers support only this member.
 */
const TAKES_NEWER_MEMBER = /(?:^|\/)(?:o\d|gpt-[5-9])/
/**
 * Matches a name that contains `o3`, `gpt-5` or another model that requires
 * `max_completion_tokens`. For a deployment, both its own name and the caller's model name are
 * tested.
 */
export const NAMES_NEWER_MODEL = /(?:^|[^a-z0-9])(?:o\d|gpt-?[5-9])(?!\d)/i

const takesNewerMember = (
  requestedModel: string,
  { model, isDeployment }: UpstreamChange,
): boolean =>
  TAKES_NEWER_MEMBER.test(model) ||
  (isDeployment === true && [model, requestedModel].some((name) => NAMES_NEWER_MODEL.test(name)))

const CHAT_RULES: BodyRules = {
  limits: OUTPUT_LIMITS,
  addedLimit: (requestedModel, change) =>
    takesNewerMember(requestedModel, change) ? 'max_completion_tokens' : 'max_tokens',
  isRestricted: isRestrictedMember,
}

/**
 * Limits the output per choice to `tokens`. A smaller limit in the request or in an override stays
 * unchanged. If neither of them has a limit, a limit is added.
 */
function setOutputLimit(
  values: Map<string, string>,
  { body, members, model: requestedModel }: ChatRequest,
  change: UpstreamChange,
  { limits, addedLimit }: BodyRules,
  tokens: number,
): void {
  const textOfMember = (name: string): string | undefined => {
    const sent = members.find(({ key }) => key === name)
    return values.get(name) ?? (sent && body.toString('latin1', sent.valueStart, sent.valueEnd))
  }
  const presentLimits = limits.filter((name) => textOfMember(name) !== undefined)
  const limitsToSet =
    presentLimits.length > 0 ? presentLimits : [addedLimit(requestedModel, change)]
  for (const name of limitsToSet) {
    const own = Number(textOfMember(name) ?? 0)
    values.set(name, `${own > 0 && own < tokens ? own : tokens}`)
  }
}

/**
 * Returns the restricted members to remove. A member that an override replaces is not removed. A
 * member whose value changes the price is removed if no price covers the value, even if the channel
 * allows the member.
 */
function restrictedOf(
  request: ChatRequest,
  change: UpstreamChange,
  { isRestricted }: BodyRules,
): readonly Member[] {
  let restricted = NONE
  for (const member of request.members) {
    if (!isRestricted(member.folded)) continue
    if (change.allowed.has(member.key) && !isUnpricedCondition(request, member)) continue
    if (change.overrides.has(member.key) || isStandard(request.body, member)) continue
    restricted = [...restricted, member]
  }
  return restricted
}

/**
 * Returns the tools that the provider runs and that are removed, because the channel does not allow
 * such tools or because they have no price.
 */
function droppedTools(
  { tools }: ChatRequest,
  { allowed, overrides }: UpstreamChange,
): readonly ToolElement[] {
  if (tools.length === 0 || overrides.has('tools')) return NO_TOOLS
  const isAllowed = allowed.has(PROVIDER_TOOLS)
  const isDropped = ({ isProviderTool, isUnpriced = false }: ToolElement): boolean =>
    isProviderTool && (!isAllowed || isUnpriced)
  return tools.some(isDropped) ? tools.filter(isDropped) : NO_TOOLS
}

/**
 * Returns the edits that limit the uses of provider tools. Returns no edits if tools are removed or
 * overridden, because the changed body is read again and limited later. Also returns no edits if an
 * override sets the limit.
 */
function toolLimitEdits(
  { toolLimits }: ChatRequest,
  { overrides }: UpstreamChange,
  dropped: readonly ToolElement[],
): readonly ByteEdit[] {
  if (toolLimits === undefined || dropped.length > 0 || overrides.has('tools')) return []
  const { member, edits } = toolLimits
  const isOverridden =
    member !== undefined && [...overrides.keys()].some((key) => foldedName(key) === member)
  return isOverridden ? [] : edits
}

/**
 * Returns all members to remove. These are restricted members, members that the change or its
 * envelope lists, and members that a provider may read in place of an override. If no tool is left,
 * the members in `OF_TOOLS` are removed too.
 */
function removedOf(
  { members }: ChatRequest,
  { overrides, removed = NO_NAMES, envelope }: UpstreamChange,
  restricted: readonly Member[],
  isToolless: boolean,
): readonly Member[] {
  const isUnchanged = overrides.size === 0 && removed.size === 0 && envelope === undefined
  if (isUnchanged && !isToolless) return restricted
  const folded = new Set([...overrides.keys()].map(foldedName))
  const isReplaced = ({ key, folded: name }: Member): boolean =>
    (folded.has(name) || removed.has(key) || (isToolless && OF_TOOLS.has(key))) &&
    !overrides.has(key)
  const others = members.filter(
    (member) =>
      (envelope?.removed.has(member.folded) || isReplaced(member)) && !restricted.includes(member),
  )
  return [...restricted, ...others]
}

/** The values of `service_tier` that the provider charges at the standard price. */
const STANDARD_TIERS = new Set(['"auto"', '"default"', '"standard_only"', 'null'])

const isStandard = (body: Buffer, { key, valueStart, valueEnd }: Member): boolean =>
  key === 'service_tier' &&
  valueEnd - valueStart <= 16 &&
  STANDARD_TIERS.has(body.toString('latin1', valueStart, valueEnd))

type Span = { readonly start: number; readonly end: number }

const spanOfMember = ({ keyStart, valueEnd }: Member): Span => ({ start: keyStart, end: valueEnd })
const spanOfTool = ({ start, end }: ToolElement): Span => ({ start, end })

/**
 * Returns the edits that remove items from a JSON list or object. An item is removed with the comma
 * before it, or at the beginning of the list with the comma after it.
 */
export function editsToRemove<Item>(
  items: readonly Item[],
  removed: readonly Item[],
  spanOf: (item: Item) => Span,
): ByteEdit[] {
  if (removed.length === 0) return []
  const removedItems = new Set(removed)
  const first = items.findIndex((item) => !removedItems.has(item))
  const spans = items.map(spanOf)
  return spans.flatMap(({ start, end }, index) => {
    if (!removedItems.has(items[index] as Item)) return []
    if (index < first) return [{ start, end: spans[index + 1]?.start ?? 0, text: '' }]
    return [{ start: spans[index - 1]?.end ?? 0, end, text: '' }]
  })
}

/**
 * Returns the edit that inserts a member before the first remaining member. Some member always
 * remains, such as `model` or the prompt.
 */
function insertion([first]: readonly Member[], key: string, text: string): ByteEdit {
  const at = first?.keyStart ?? 1
  return { start: at, end: at, text: `${JSON.stringify(key)}:${text},` }
}

/**
 * Returns the value of `stream_options` that requests the chunk with the usage. Returns null if the
 * options already request this chunk. An override can change other options, but it can't turn off
 * this chunk.
 */
function withUsage(
  { body, members, wantsUsage }: ChatRequest,
  { overrides }: UpstreamChange,
  removed: readonly Member[],
): string | null {
  const override = overrides.get('stream_options')
  const member = members.find((one) => one.key === 'stream_options' && !removed.includes(one))
  if (override === undefined && wantsUsage && member !== undefined) return null
  const own = member?.kind === 'object' ? body.subarray(member.valueStart, member.valueEnd) : EMPTY
  const options = override === undefined ? own : Buffer.from(override)
  const presentLimits = scanObject(options)
  const entries = 'error' in presentLimits ? NONE : presentLimits
  if (entries.some(({ key, kind }) => key === 'include_usage' && kind === 'true')) return null
  const remaining = entries
    .filter(({ key }) => key !== 'include_usage')
    .map(({ keyStart, valueEnd }) => options.toString('utf8', keyStart, valueEnd))
  return `{${[...remaining, '"include_usage":true'].join()}}`
}
