import { type JsonObject, objectOf, objectsOf, textOf } from '#relay/canonical/json-values.ts'
import {
  type CanonicalTool,
  ConversionError,
  InexpressibleMemberError,
} from '../../canonical/canonical-request.ts'
import { addLoss, addUnreadMembers } from '../collect-losses.ts'
import { readCustomTool } from '../custom-tools-as-functions.ts'
import {
  type ChosenTools,
  checkedForRequiredTool,
  keepAllowedTools,
  withNewName,
} from '../keep-allowed-tools.ts'
import {
  optionalBoolean,
  optionalList,
  optionalObject,
  optionalText,
  requiredList,
  requiredObject,
  requiredText,
} from '../read-json-values-strictly.ts'

type NamespacedName = { readonly namespace: string; readonly name: string }

/** The caller's tools that were converted to functions, by the names of the functions. */
export type CallerTools = {
  /** The tools whose input is a text and not JSON. */
  readonly custom: ReadonlySet<string>
  readonly namespaced: ReadonlyMap<string, NamespacedName>
}

/** Returns the name of the function that represents a tool in a namespace. */
export const functionName = (name: string, namespace: string | null): string =>
  namespace === null ? name : `${namespace}__${name}`

/**
 * Returns the custom tools and the tools in namespaces of a valid request, by the names of the
 * functions that represent the tools.
 */
export function findCallerTools(body: JsonObject): CallerTools {
  const custom = new Set<string>()
  const namespaced = new Map<string, NamespacedName>()
  const add = (tool: JsonObject, namespace: string | null): void => {
    const name = textOf(tool.name)
    if (name === null) return
    const flat = functionName(name, namespace)
    if (tool.type === 'custom') custom.add(flat)
    if (namespace !== null) namespaced.set(flat, { namespace, name })
  }
  for (const tool of objectsOf(body.tools)) {
    if (tool.type !== 'namespace') add(tool, null)
    else for (const each of objectsOf(tool.tools)) add(each, textOf(tool.name))
  }
  return { custom, namespaced }
}

/**
 * Reads the tools that the caller runs. A tool that the provider would run, such as `web_search`,
 * is reported as lost, and the model answers without it. Throws a `ConversionError` if two tools
 * have the same name.
 */
export function readTools(body: JsonObject, losses: string[]): readonly CanonicalTool[] {
  const names = new Set<string>()
  return optionalList(body.tools, 'tools').flatMap((element, at) => {
    const path = `tools[${at}]`
    const functions = readTool(requiredObject(element, path), null, path, losses)
    return functions.map((tool) => withNewName(tool, names, path))
  })
}

const FUNCTION_MEMBERS = new Set(['type', 'name', 'description', 'parameters', 'strict'])
const NAMESPACE_MEMBERS = new Set(['type', 'name', 'tools'])
/** The number of characters that the name of a namespace may always add to a request. */
const ADDED_CHARACTERS_MAX = 256
/**
 * The part of the length of its tools that the name of a namespace may add. Clients add far less.
 */
const ADDED_PART = 1 / 2

function readTool(
  tool: JsonObject,
  namespace: string | null,
  path: string,
  losses: string[],
): readonly CanonicalTool[] {
  const type = requiredText(tool.type, `${path}.type`)
  if (type === 'function') return [readFunction(tool, namespace, path, losses)]
  if (type === 'custom') return [readCustom(tool, namespace, path, losses)]
  if (type === 'namespace' && namespace === null) {
    const name = requiredText(tool.name, `${path}.name`)
    const tools = requiredList(tool.tools, `${path}.tools`)
    checkNamespace(name, tools, path)
    addUnreadMembers(tool, NAMESPACE_MEMBERS, path, losses)
    return tools.flatMap((element, at) => {
      const toolPath = `${path}.tools[${at}]`
      return readTool(requiredObject(element, toolPath), name, toolPath, losses)
    })
  }
  addLoss(losses, path)
  return []
}

/**
 * Throws a `ConversionError` for a namespace with a long name and many short tools. The name is
 * repeated in the name of each function, so that a short request could become much longer than its
 * hold covers.
 */
function checkNamespace(name: string, tools: readonly unknown[], path: string): void {
  const added = name.length * tools.length
  if (added <= ADDED_CHARACTERS_MAX) return
  if (added <= JSON.stringify(tools).length * ADDED_PART) return
  throw new ConversionError(`${path}.name`, 'The name is too long for a namespace of short tools.')
}

const EMPTY_SCHEMA: JsonObject = { type: 'object', properties: {} }

function readFunction(
  tool: JsonObject,
  namespace: string | null,
  path: string,
  losses: string[],
): CanonicalTool {
  addUnreadMembers(tool, FUNCTION_MEMBERS, path, losses)
  return {
    name: functionName(requiredText(tool.name, `${path}.name`), namespace),
    description: optionalText(tool.description, `${path}.description`) ?? '',
    schema: optionalObject(tool.parameters, `${path}.parameters`) ?? EMPTY_SCHEMA,
    isStrict: optionalBoolean(tool.strict, `${path}.strict`),
  }
}

function readCustom(
  tool: JsonObject,
  namespace: string | null,
  path: string,
  losses: string[],
): CanonicalTool {
  const { name, ...custom } = readCustomTool(tool, path, losses)
  return { ...custom, name: functionName(name, namespace) }
}

const CHOICE_MEMBERS = new Set(['type', 'name', 'namespace', 'mode', 'tools'])
const KINDS: ReadonlySet<unknown> = new Set(['auto', 'none', 'required'])

/**
 * Reads `tool_choice`. If the choice has the type `allowed_tools`, only the tools that it names are
 * kept. Throws a `ConversionError` for an unknown choice, and if a tool is required but none is
 * left.
 */
export function readToolChoice(
  body: JsonObject,
  tools: readonly CanonicalTool[],
  losses: string[],
): ChosenTools {
  const selection = readChoice(body.tool_choice, tools)
  const choice = objectOf(body.tool_choice)
  if (choice !== null) addUnreadMembers(choice, CHOICE_MEMBERS, 'tool_choice', losses)
  return checkedForRequiredTool(selection, 'tool_choice', losses)
}

function readChoice(value: unknown, tools: readonly CanonicalTool[]): ChosenTools {
  if (value === undefined || value === null) return { tools, choice: null }
  if (KINDS.has(value)) return { tools, choice: { kind: value as 'auto' | 'none' | 'required' } }
  const choice = requiredObject(value, 'tool_choice')
  if (choice.type === 'function' || choice.type === 'custom') {
    requiredText(choice.name, 'tool_choice.name')
    return { tools, choice: { kind: 'tool', name: chosenName(choice) } }
  }
  if (choice.type === 'allowed_tools' && (choice.mode === 'auto' || choice.mode === 'required')) {
    const allowed = requiredList(choice.tools, 'tool_choice.tools').map(objectOf)
    const names = new Set(allowed.map((tool) => chosenName(tool ?? {})))
    return keepAllowedTools({ tools, choice: { kind: choice.mode } }, names)
  }
  throw new InexpressibleMemberError(
    'tool_choice',
    'The chosen tool can’t be offered by this provider.',
  )
}

const chosenName = ({ name, namespace }: JsonObject): string =>
  functionName(textOf(name) ?? '', textOf(namespace))
