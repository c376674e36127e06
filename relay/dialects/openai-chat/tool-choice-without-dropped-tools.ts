import {
  type JsonObject,
  objectOf,
  objectsOf,
  parsedObject,
  textOf,
} from '#relay/canonical/json-values.ts'
import type { Member } from '../scan-request-object.ts'
import type { ChatRequest } from '../wire-format.ts'
import type { ToolElement } from './find-message-parts-and-tools.ts'

/** The change of a request's tool choice after some of its tools are dropped. */
type ChangedChoice = {
  readonly member: Member
  /** The value without the dropped tools. Null if the member is removed. */
  readonly text: string | null
}

/**
 * The maximum length in bytes of a tool choice that is changed, and of a dropped tool that is
 * parsed. A longer tool choice is sent unchanged, and a longer tool is not searched for in it.
 */
const TEXT_LENGTH_MAX = 65_536
/** The maximum length in bytes of all dropped tools together. These tools are parsed. */
const TOOLS_LENGTH_MAX = 1_048_576
/**
 * The types of choices and tools that are identified by a name. All others are identified by their
 * type.
 */
const NAMED: ReadonlySet<unknown> = new Set(['tool', 'function', 'custom'])

/**
 * Returns the change of `tool_choice` if this member names a dropped tool, because providers refuse
 * the choice of a tool that they did not get. Returns null if nothing changes, or if the dropped
 * tools are so long that parsing them would block the event loop.
 */
export function choiceWithoutTools(
  { body, members }: ChatRequest,
  dropped: readonly ToolElement[],
): ChangedChoice | null {
  const member = members.find(({ key, kind }) => key === 'tool_choice' && kind === 'object')
  if (member === undefined || dropped.length === 0) return null
  const length = dropped.reduce((sum, { start, end }) => sum + end - start, 0)
  if (length > TOOLS_LENGTH_MAX) return null
  const choice = parsedPart(body, member.valueStart, member.valueEnd)
  if (choice === null) return null
  const tools = dropped
    .map(({ start, end }) => parsedPart(body, start, end))
    .filter((tool) => tool !== null)
  const isDropped = referenceTo(tools)
  if (choice.type !== 'allowed_tools') return isDropped(choice) ? { member, text: null } : null
  const inner = objectOf(choice.allowed_tools)
  const allowed = objectsOf((inner ?? choice).tools)
  const kept = allowed.filter((tool) => !isDropped(tool))
  if (kept.length === allowed.length) return null
  if (kept.length === 0) return { member, text: null }
  const changed = inner === null ? { tools: kept } : { allowed_tools: { ...inner, tools: kept } }
  return { member, text: JSON.stringify({ ...choice, ...changed }) }
}

const parsedPart = (body: Buffer, start: number, end: number): JsonObject | null =>
  end - start > TEXT_LENGTH_MAX ? null : parsedObject(body.subarray(start, end))

/**
 * Returns a function that reports whether a tool choice, or an element of its list, refers to one
 * of `tools`.
 */
function referenceTo(tools: readonly JsonObject[]): (element: JsonObject) => boolean {
  const types = new Set(tools.map(({ type }) => type))
  const names = new Set(tools.flatMap((tool) => nameOf(tool) ?? []))
  return (element) =>
    NAMED.has(element.type) ? names.has(nameOf(element) ?? '') : types.has(element.type)
}

const nameOf = (tool: JsonObject): string | null =>
  textOf(tool.name) ?? textOf(objectOf(tool.function)?.name)
