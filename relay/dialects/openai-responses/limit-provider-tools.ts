import type { ToolName } from '#domain/pricing/usage.ts'
import { namesByFoldedName } from '#domain/shared/fold-json-member-names.ts'
import type { ToolElement } from '../openai-chat/find-message-parts-and-tools.ts'
import { type LimitedTools, readUsesLimit, type ToolLimits } from '../provider-tool-limits.ts'
import { isMembers } from '../read-common-request-members.ts'
import { type Member, scanObject } from '../scan-request-object.ts'

/** The tools of OpenAI's Responses API that have a price per use, recognized by their types. */
const PRICED: readonly (readonly [RegExp, ToolName])[] = [
  [/^web_search(?:_\d{4}_\d{2}_\d{2})?$/, 'web_search'],
  [/^web_search_preview(?:_\d{4}_\d{2}_\d{2})?$/, 'web_search_preview'],
  [/^file_search$/, 'file_search'],
  [/^code_interpreter$/, 'code_interpreter'],
  [/^image_generation$/, 'image_generation'],
]
const NAMES = namesByFoldedName(['type', 'container', 'model'])
const CONTAINER_NAMES = namesByFoldedName(['type', 'memory_limit'])
/**
 * The members of a container and the values that the price covers. Larger containers cost up to 64
 * times more.
 */
const IN_CONTAINER: ReadonlyMap<string, readonly string[]> = new Map([
  ['type', ['"auto"']],
  ['memory_limit', ['"1g"', 'null']],
])
/** The member that limits the number of uses of all tools together. */
export const TOOL_CALLS_LIMIT = 'max_tool_calls'
const CLOSE_BRACE = 125

/**
 * Returns the tools of a request, and the limits of those provider tools that have a price. Their
 * uses are limited by `max_tool_calls`, which applies to all tools together. One tool alone may use
 * up the limit, so the hold (the reserved quota) covers that many uses of each tool.
 */
export function limitTools(
  body: Buffer,
  members: readonly Member[],
  tools: readonly ToolElement[],
): LimitedTools {
  if (!tools.some(({ isProviderTool }) => isProviderTool)) return { tools }
  const names = tools.map((tool) => (tool.isProviderTool ? pricedName(body, tool) : null))
  // An answer does not show which of the two search tools made a search. If a request has both
  // tools, the preview is therefore unpriced.
  const isSearching = names.includes('web_search')
  const isPriced = (name: ToolName | null | undefined): name is ToolName =>
    typeof name === 'string' && !(isSearching && name === 'web_search_preview')
  const limited = tools.map((tool, index) =>
    tool.isProviderTool && !isPriced(names[index]) ? { ...tool, isUnpriced: true } : tool,
  )
  const used = names.filter(isPriced)
  if (used.length === 0) return { tools: limited }
  const end = body.lastIndexOf(CLOSE_BRACE) + 1
  const { uses, edits } = readUsesLimit(body, { members, end }, TOOL_CALLS_LIMIT)
  const toolLimits = {
    uses: Object.fromEntries(used.map((name) => [name, uses])),
    edits,
    member: TOOL_CALLS_LIMIT,
  }
  return { tools: limited, toolLimits }
}

/** Returns the members that give the outline of a request the tool limits of the request. */
export function outlinedTools(limits: ToolLimits | undefined): object {
  if (limits === undefined) return {}
  const tools = Object.keys(limits.uses).map((type) => ({ type }))
  return { tools, [TOOL_CALLS_LIMIT]: Math.max(...Object.values(limits.uses)) }
}

/** Returns the name of the tool in the price list. Returns null if no price covers the tool. */
function pricedName(body: Buffer, { start, end }: ToolElement): ToolName | null {
  const bytes = body.subarray(start, end)
  const members = scanObject(bytes, NAMES)
  if (!isMembers(members)) return null
  const find = (key: string) => members.find((member) => member.key === key)
  const type = find('type')
  if (type?.kind !== 'string') return null
  const name = nameOf(JSON.parse(textOf(bytes, type)) as string)
  if (name === 'code_interpreter' && !isPlainContainer(bytes, find('container'))) return null
  // The price covers only the tool's default model.
  if (name === 'image_generation' && find('model') !== undefined) return null
  return name
}

const nameOf = (type: string): ToolName | null =>
  PRICED.find(([types]) => types.test(type))?.[1] ?? null

/**
 * Reports whether the tool gets a new container of the smallest size. A container with an id, or a
 * file in a container, may belong to another caller.
 */
function isPlainContainer(bytes: Buffer, container: Member | undefined): boolean {
  if (container === undefined || container.kind === 'null') return true
  if (container.kind !== 'object') return false
  const inner = bytes.subarray(container.valueStart, container.valueEnd)
  const members = scanObject(inner, CONTAINER_NAMES)
  return (
    isMembers(members) &&
    members.every((member) => IN_CONTAINER.get(member.key)?.includes(textOf(inner, member)))
  )
}

const textOf = (bytes: Buffer, { valueStart, valueEnd }: Member): string =>
  bytes.toString('utf8', valueStart, valueEnd)
