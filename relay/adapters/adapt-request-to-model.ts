import type { Effort, Thinking, ToolChoice } from '../canonical/canonical-request.ts'
import { modelRules } from '../conversion/anthropic-messages/members-accepted-by-model.ts'
import { writeThinking as claudeThinking } from '../conversion/anthropic-messages/write-thinking.ts'
import { writeThinkingConfig } from '../conversion/gemini/thinking-config.ts'
import { callerPathsOfLosses } from '../conversion/loss-paths-in-caller-format.ts'
import type { ChatExtensions } from '../conversion/openai-chat/chat-extensions-of-provider.ts'
import { THINKING_MEMBERS, writeThinking } from '../conversion/openai-chat/thinking-control.ts'
import { writeReasoning } from '../conversion/openai-responses/reasoning-control.ts'
import { ROUTING_MEMBERS } from '../dialects/gemini/upstream-body.ts'
import { type Member, scanObject } from '../dialects/scan-request-object.ts'
import { type ChatRequest, isDirectFormat } from '../dialects/wire-format.ts'
import type { AdapterOptions } from './read-claude-and-gemini-options.ts'

/**
 * The changes that adapters make to a request in the provider's format. An adapter is code that
 * sets members for certain models, such as thinking for names that end in `-thinking`.
 */
type Adaptation = {
  /**
   * The members to set, as JSON texts by name: those that adapters set, and those that the channel
   * overrides.
   */
  readonly overrides: ReadonlyMap<string, string>
  /**
   * The members to remove. A member is removed if it sets thinking differently from the suffix of
   * the model's name, or if the model refuses the member while it thinks.
   */
  readonly removed: ReadonlySet<string>
  /**
   * The paths of the members that no longer have an effect and are reported to the caller as lost.
   */
  readonly losses: readonly string[]
}

/** The model and the settings to which a request is adapted. */
export type AdapterTarget = {
  /** The provider's name for the model. */
  readonly model: string
  /**
   * The thinking that the suffix of the model's name demands. Null if the name has no suffix, or if
   * the format conversion has already set this thinking.
   */
  readonly thinking: Thinking | null
  /** The output limit in tokens that is sent. Null if no limit is sent. */
  readonly outputTokensMax: number | null
  readonly vendor: ChatExtensions
  /** The members that the channel overrides. */
  readonly overrides: ReadonlyMap<string, string>
  /**
   * True if adapters may add safety settings and the modalities of image models to requests in
   * Gemini's format. Thinking that a suffix such as `-thinking` demands is set even if this is
   * false.
   */
  readonly setsParameters: boolean
}

type Change = { readonly overrides: Map<string, string>; removed: Set<string>; losses: string[] }

/**
 * Returns the changes of the adapters to a request in the provider's format, or null if no adapter
 * acts. Members that the channel overrides are left unchanged, with two exceptions: adapters set
 * inner members of `generationConfig`, and they append the channel's `system` to the caller's
 * `system`.
 */
export function adaptRequest(
  request: ChatRequest,
  target: AdapterTarget,
  options: AdapterOptions,
): Adaptation | null {
  const { name } = request.format
  if (isDirectFormat(name) || !actsOn(request, target, options)) return null
  const change = { overrides: new Map(target.overrides), removed: new Set<string>(), losses: [] }
  if (name === 'gemini') adaptGemini(request, target, options.gemini, change)
  if (name === 'messages') addSystem(request, change)
  const { thinking } = target
  if (thinking !== null && name === 'messages')
    setThinking(request, { ...target, thinking }, change)
  if (thinking !== null && name === 'chat') setEffort(request, { ...target, thinking }, change)
  if (thinking !== null && name === 'responses')
    setReasoning(request, { ...target, thinking }, change)
  return { ...change, losses: callerPathsOfLosses(change.losses, name) }
}

function actsOn(
  { format: { name } }: ChatRequest,
  { thinking, overrides, setsParameters }: AdapterTarget,
  { gemini }: AdapterOptions,
): boolean {
  if (thinking !== null || (name === 'messages' && overrides.has('system'))) return true
  const hasParameters = gemini.safetySettings !== null || gemini.imageModels.size > 0
  return name === 'gemini' && setsParameters && hasParameters
}

const memberOf = ({ members }: ChatRequest, names: readonly string[]): Member | undefined =>
  members.find(({ key, kind }) => names.includes(key) && kind !== 'null')

const textOf = ({ body }: ChatRequest, { valueStart, valueEnd }: Member): string =>
  body.toString('utf8', valueStart, valueEnd)

/** Sets a member, unless the channel overrides it. */
function setMember({ overrides }: Change, name: string, text: string): void {
  if (!overrides.has(name)) overrides.set(name, text)
}

/**
 * Appends the channel's system prompt to the caller's. Clients such as Claude Code rely on their
 * first system block, so nothing may precede or replace that block. If one of the two prompts is
 * neither a string nor a list, the channel's prompt replaces the caller's.
 */
function addSystem(request: ChatRequest, { overrides }: Change): void {
  const member = memberOf(request, ['system'])
  const added = overrides.get('system')
  const addedBlocks = added === undefined ? null : blocksIn(added)
  const blocks = member === undefined ? null : blocksIn(textOf(request, member))
  if (addedBlocks === null || blocks === null) return
  const all = [blocks, addedBlocks].filter((text) => text !== '')
  overrides.set('system', `[${all.join()}]`)
}

/**
 * Returns the content blocks of a system prompt as JSON, without the brackets of the list. A string
 * becomes one text block. Returns null if the JSON is neither a list nor a string.
 */
function blocksIn(json: string): string | null {
  if (json.startsWith('[')) return json.slice(1, -1).trim()
  if (!json.startsWith('"')) return null
  return json === '""' ? '' : `{"type":"text","text":${json}}`
}

type ThinkingTarget = AdapterTarget & { readonly thinking: Thinking }

const NO_NAMES: ReadonlySet<string> = new Set()

const SAMPLING = ['temperature', 'top_p', 'top_k']

function setThinking(request: ChatRequest, target: ThinkingTarget, change: Change): void {
  if (change.overrides.has('thinking')) return
  const { model, thinking, outputTokensMax } = target
  const rules = modelRules(model)
  const written = claudeThinking(
    { thinking, toolChoice: toolChoiceOf(request) },
    {
      rules,
      outputTokensMax: outputTokensMax ?? 0,
      lacksThinkingBeforeCalls: false,
      losses: change.losses,
    },
  )
  if (written.thinking === null) {
    // The suffix of the model's name takes precedence over the request's `thinking`, which may
    // demand the opposite.
    if (memberOf(request, ['thinking']) !== undefined) change.removed.add('thinking')
    return
  }
  change.overrides.set('thinking', JSON.stringify(written.thinking))
  if (written.effort !== null) setClaudeEffort(request, written.effort, change)
  if (!rules.refusesSamplingWhileThinking || written.thinking.type === 'disabled') return
  for (const name of SAMPLING) {
    if (memberOf(request, [name]) === undefined) continue
    change.removed.add(name)
    change.losses.push(name)
  }
}

const OUTPUT_CONFIG = 'output_config'

function setClaudeEffort(request: ChatRequest, effort: Effort, change: Change): void {
  if (change.overrides.has(OUTPUT_CONFIG)) return
  const member = memberOf(request, [OUTPUT_CONFIG])
  const text = member === undefined ? '{}' : textOf(request, member)
  const inner = new Map([['effort', JSON.stringify(effort)]])
  change.overrides.set(OUTPUT_CONFIG, withInnerMembers(text, inner))
}

const TOOL_CHOICE_BYTES_MAX = 4_096

/**
 * Returns `required` if the request forces the use of a tool, because a model can't think in this
 * case. Returns null for any other request. A value that is too long to be parsed counts as forced.
 */
function toolChoiceOf(request: ChatRequest): ToolChoice | null {
  const member = memberOf(request, ['tool_choice'])
  if (member === undefined) return null
  if (member.valueEnd - member.valueStart > TOOL_CHOICE_BYTES_MAX) return { kind: 'required' }
  const { type } = JSON.parse(textOf(request, member)) as { readonly type?: unknown }
  return type === 'any' || type === 'tool' ? { kind: 'required' } : null
}

function setEffort(request: ChatRequest, target: ThinkingTarget, change: Change): void {
  const written = Object.entries(writeThinking(target, target.vendor, change.losses).members)
  if (written.length === 0) return
  for (const [name, value] of written) setMember(change, name, JSON.stringify(value))
  for (const name of THINKING_MEMBERS) {
    if (!change.overrides.has(name) && memberOf(request, [name]) !== undefined) {
      change.removed.add(name)
    }
  }
}

function setReasoning(request: ChatRequest, target: ThinkingTarget, change: Change): void {
  if (change.overrides.has('reasoning')) return
  const { reasoning } = writeReasoning(target.thinking, target.model, change.losses)
  if (typeof reasoning?.effort !== 'string') return
  const member = memberOf(request, ['reasoning'])
  const inner = new Map([['effort', JSON.stringify(reasoning.effort)]])
  const text = member === undefined ? '{}' : textOf(request, member)
  change.overrides.set('reasoning', withInnerMembers(text, inner))
}

const GENERATION_CONFIG = ['generationConfig', 'generation_config']
const IMAGES = '["TEXT","IMAGE"]'

function adaptGemini(
  request: ChatRequest,
  { model, thinking, setsParameters }: AdapterTarget,
  { safetySettings, imageModels }: AdapterOptions['gemini'],
  change: Change,
): void {
  const { overrides, losses } = change
  const hasSettings = memberOf(request, ['safetySettings', 'safety_settings']) !== undefined
  if (setsParameters && safetySettings !== null && !hasSettings) {
    setMember(change, 'safetySettings', safetySettings)
  }
  const inner = new Map<string, string>()
  if (thinking !== null) {
    const written = writeThinkingConfig(thinking, model)
    losses.push(...written.losses)
    if (written.value !== null) inner.set('thinkingConfig', JSON.stringify(written.value))
  }
  const member = memberOf(request, GENERATION_CONFIG)
  const name = member?.key ?? 'generationConfig'
  const own = member === undefined ? '{}' : withoutRouting(textOf(request, member))
  const text = overrides.get(name) ?? own
  const isImageModel = imageModels.has(request.model) || imageModels.has(model)
  if (setsParameters && isImageModel && !hasInnerMember(text, 'responseModalities')) {
    inner.set('responseModalities', IMAGES)
  }
  if (inner.size > 0) overrides.set(name, withInnerMembers(text, inner))
}

/**
 * Returns a member's name in lower case and without underscores, because Gemini's API accepts each
 * name in camelCase and in snake_case.
 */
const plainName = (name: string): string => name.replaceAll('_', '').toLowerCase()

function innerMembers(json: string): {
  readonly bytes: Buffer
  readonly members: readonly Member[]
} {
  const bytes = Buffer.from(json)
  const members = scanObject(bytes)
  return { bytes, members: 'error' in members ? [] : members }
}

const hasInnerMember = (json: string, name: string): boolean =>
  innerMembers(json).members.some(
    ({ key, kind }) => kind !== 'null' && plainName(key) === plainName(name),
  )

/**
 * The names, in lower case and without underscores, of the members that let the provider choose
 * another model.
 */
const ROUTING = new Set([...ROUTING_MEMBERS].map(plainName))

/**
 * Returns the caller's `generationConfig` without the members in `ROUTING`. Adapters send their
 * changed copy of it like an admin's override, and the later step that removes these members from
 * requests leaves overrides unchanged.
 */
function withoutRouting(json: string): string {
  const { members } = innerMembers(json)
  const isRouted = members.some(({ key }) => ROUTING.has(plainName(key)))
  return isRouted ? withInnerMembers(json, new Map(), ROUTING) : json
}

/**
 * Returns the JSON object `json` with the members of `inner` added or replaced, and without the
 * members in `removed`. Names are compared without letter case and underscores. The bytes of all
 * other members do not change.
 */
function withInnerMembers(
  json: string,
  inner: ReadonlyMap<string, string>,
  removed: ReadonlySet<string> = NO_NAMES,
): string {
  const replaced = new Set([...removed, ...[...inner.keys()].map(plainName)])
  const { bytes, members } = innerMembers(json)
  const others = members
    .filter(({ key }) => !replaced.has(plainName(key)))
    .map(({ keyStart, valueEnd }) => bytes.toString('utf8', keyStart, valueEnd))
  const added = [...inner].map(([name, text]) => `${JSON.stringify(name)}:${text}`)
  return `{${[...others, ...added].join()}}`
}
