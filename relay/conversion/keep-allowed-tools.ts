import {
  type CanonicalTool,
  InexpressibleMemberError,
  type ToolChoice,
  ToolConflictError,
} from '../canonical/canonical-request.ts'

/** The tools that the model may call, and how it may choose among them. */
export type ChosenTools = {
  readonly tools: readonly CanonicalTool[]
  readonly choice: ToolChoice | null
}

/**
 * Returns the tool and adds its name to `names`. Throws a `ToolConflictError` with `path` if
 * `names` has this name, because a call would not show which of the tools is meant.
 */
export function withNewName(tool: CanonicalTool, names: Set<string>, path: string): CanonicalTool {
  if (names.has(tool.name)) {
    throw new ToolConflictError('duplicate_tool_name', path, 'Another tool has the same name.')
  }
  names.add(tool.name)
  return tool
}

/**
 * Keeps only the tools that a tool choice allows. Not every format can express such a restriction,
 * and a model that is offered a tool may call it.
 */
export const keepAllowedTools = (
  { tools, choice }: ChosenTools,
  names: ReadonlySet<string>,
): ChosenTools => ({ tools: tools.filter(({ name }) => names.has(name)), choice })

/** Matches the path of a tool that was lost as a whole. */
const LOST_TOOL = /^tools\[\d+\](?:\.tools\[\d+\])?$/

/**
 * Returns the selection unchanged. Throws an `InexpressibleMemberError` with `path` if the model
 * must call a tool but has none, because the provider would be asked for an answer without tools.
 * If no tool is among the `losses` of the request, the caller has defined none that may be called.
 */
export function checkedForRequiredTool(
  selection: ChosenTools,
  path: string,
  losses: readonly string[],
): ChosenTools {
  if (selection.choice?.kind !== 'required' || selection.tools.length > 0) return selection
  const message = 'A tool is required, but the provider has none.'
  if (losses.some((lost) => LOST_TOOL.test(lost))) throw new InexpressibleMemberError(path, message)
  throw new ToolConflictError('required_tool_missing', path, message)
}
