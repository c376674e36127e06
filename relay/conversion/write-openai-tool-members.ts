import type { JsonObject } from '#relay/canonical/json-values.ts'
import type { CanonicalRequest, CanonicalTool } from '../canonical/canonical-request.ts'
import { addLoss } from './collect-losses.ts'

/** Returns the members whose value is not null. */
export const withoutNulls = (members: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null))

/**
 * The functions of one of OpenAI's formats that write a tool and a tool choice that names one tool.
 */
type ToolFormat = {
  readonly writeTool: (tool: CanonicalTool, path: string) => JsonObject
  readonly writeChoice: (name: string) => JsonObject
}

/**
 * Writes the members of a request that concern its tools. Returns no members for a request without
 * tools, because OpenAI then rejects `tool_choice` and `parallel_tool_calls`. A tool choice that
 * requires a call is then reported as lost.
 */
export function writeToolMembers(
  { tools, toolChoice, allowsParallelCalls }: CanonicalRequest,
  { writeTool, writeChoice }: ToolFormat,
  losses: string[],
): JsonObject {
  if (tools.length === 0) {
    const isLost = toolChoice?.kind === 'required' || toolChoice?.kind === 'tool'
    if (isLost) addLoss(losses, 'toolChoice')
    return {}
  }
  const choice =
    toolChoice?.kind === 'tool' ? writeChoice(toolChoice.name) : (toolChoice?.kind ?? null)
  return {
    tools: tools.map((tool, at) => writeTool(tool, `tools[${at}]`)),
    tool_choice: choice,
    parallel_tool_calls: allowsParallelCalls,
  }
}

const SCHEMA_NAME_LENGTH_MAX = 64

/**
 * Returns a schema's name as OpenAI accepts it: at most 64 letters, digits, `_` and `-`. Any other
 * character becomes `_`, and an empty name becomes `answer`.
 */
export const schemaName = (name: string): string =>
  name.replace(/[^\w-]/g, '_').slice(0, SCHEMA_NAME_LENGTH_MAX) || 'answer'
