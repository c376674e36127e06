import {
  type JsonObject,
  objectOf,
  objectOrEmpty,
  objectsOf,
  textOf,
} from '#relay/canonical/json-values.ts'
import {
  type AnswerFormat,
  type CanonicalTool,
  ConversionError,
  type ToolChoice,
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
  isAbsent,
  optionalBoolean,
  optionalList,
  optionalObject,
  optionalText,
  requiredList,
  requiredObject,
  requiredText,
} from '../read-json-values-strictly.ts'
import { readCacheMark } from './read-request-content.ts'

/**
 * Reads `tools` and the older `functions`. A tool that is not a function is reported as lost. A
 * function with the name of a tool is left out, because some clients send the same tools in both
 * members. Throws a `ConversionError` if two tools have the same name.
 */
export function readTools(body: JsonObject, losses: string[]): readonly CanonicalTool[] {
  const names = new Set<string>()
  const tools = optionalList(body.tools, 'tools').flatMap((value, at) => {
    const path = `tools[${at}]`
    const tool = readTool(requiredObject(value, path), path, losses)
    return tool === null ? [] : [withNewName(tool, names, path)]
  })
  const namesOfTools = new Set(names)
  const functions = optionalList(body.functions, 'functions').flatMap((value, at) => {
    const path = `functions[${at}]`
    const tool = readFunction(requiredObject(value, path), path, losses)
    return namesOfTools.has(tool.name) ? [] : [withNewName(tool, names, path)]
  })
  return [...tools, ...functions]
}

function readTool(tool: JsonObject, path: string, losses: string[]): CanonicalTool | null {
  if (isCustom(tool)) return readCustom(tool, path, losses)
  if (!isAbsent(tool.type) && !FUNCTION_TYPES.has(tool.type)) {
    addLoss(losses, path)
    return null
  }
  if (isAbsent(tool.function) && !isAbsent(tool.name)) return readFlatFunction(tool, path, losses)
  const definition = requiredObject(tool.function, `${path}.function`)
  addUnreadMembers(tool, new Set(['type', 'function', 'cache_control']), path, losses)
  const cache =
    readCacheMark(tool, path, losses) ?? readCacheMark(definition, `${path}.function`, losses)
  const read = readFunction(definition, `${path}.function`, losses)
  return cache === null ? read : { ...read, cache }
}

/**
 * Reports whether a tool is one of OpenAI's custom tools, whose input is a text. Anthropic also
 * calls tools that the caller runs `custom`, but these have a schema.
 */
const isCustom = ({ type, input_schema }: JsonObject): boolean =>
  type === 'custom' && isAbsent(input_schema)

/** Returns the definition of a custom tool. In the form of the Responses API, it is the tool. */
const definitionOf = (tool: JsonObject): JsonObject => objectOf(tool.custom) ?? tool

function readCustom(tool: JsonObject, path: string, losses: string[]): CanonicalTool {
  const definition = definitionOf(tool)
  if (definition === tool) return readCustomTool(tool, path, losses)
  addUnreadMembers(tool, new Set(['type', 'custom']), path, losses)
  return readCustomTool(definition, `${path}.custom`, losses)
}

/** Returns the names of the custom tools of a valid request. */
export const namesOfCustomTools = (body: JsonObject): ReadonlySet<string> =>
  new Set(
    objectsOf(body.tools)
      .filter(isCustom)
      .flatMap((tool) => textOf(definitionOf(tool).name) ?? []),
  )

const FUNCTION_TYPES: ReadonlySet<unknown> = new Set(['function', 'custom'])

/**
 * Reads a function in the form of the Responses API or of Anthropic. In these forms, the members of
 * the function are in the tool itself. Some clients, such as Cursor, use these forms in chats.
 */
function readFlatFunction(tool: JsonObject, path: string, losses: string[]): CanonicalTool {
  const { type: _type, ...definition } = tool
  const cache = readCacheMark(tool, path, losses)
  const read = readFunction(definition, path, losses)
  return cache === null ? read : { ...read, cache }
}

const FUNCTION_MEMBERS = ['name', 'description', 'strict', 'cache_control']

function readFunction(definition: JsonObject, path: string, losses: string[]): CanonicalTool {
  // Anthropic's name for the parameters is `input_schema`.
  const schema = isAbsent(definition.parameters) ? 'input_schema' : 'parameters'
  addUnreadMembers(definition, new Set([...FUNCTION_MEMBERS, schema]), path, losses)
  return {
    name: requiredText(definition.name, `${path}.name`),
    description: optionalText(definition.description, `${path}.description`) ?? '',
    schema: optionalObject(definition[schema], `${path}.${schema}`) ?? {
      type: 'object',
      properties: {},
    },
    isStrict: optionalBoolean(definition.strict, `${path}.strict`),
  }
}

/**
 * The string values of `tool_choice`, which are types in Anthropic's form. `any` of Mistral and of
 * Anthropic means the same as `required`.
 */
const CHOICES: ReadonlyMap<unknown, ToolChoice> = new Map<unknown, ToolChoice>([
  ['auto', { kind: 'auto' }],
  ['none', { kind: 'none' }],
  ['required', { kind: 'required' }],
  ['any', { kind: 'required' }],
])

/**
 * Reads `tool_choice`, or the older `function_call`. If the choice has the type `allowed_tools`,
 * only the tools that it names are kept. Throws a `ConversionError` for an unknown choice, and if
 * it allows no tool of the request but requires one.
 */
export function readToolChoice(
  body: JsonObject,
  tools: readonly CanonicalTool[],
  losses: string[],
): ChosenTools {
  const choice = objectOf(body.tool_choice)
  return choice?.type === 'allowed_tools'
    ? readAllowedTools(choice, tools, losses)
    : { tools, choice: readOneChoice(body, losses) }
}

const ALLOWED_TOOLS = new Set(['type', 'mode', 'tools'])

/**
 * Reads a choice among some of the tools. Clients that send tools in the form of the Responses API
 * also send the choice in that form, without the inner object `allowed_tools`.
 */
function readAllowedTools(
  value: JsonObject,
  tools: readonly CanonicalTool[],
  losses: string[],
): ChosenTools {
  const isFlat = isAbsent(value.allowed_tools)
  const path = isFlat ? 'tool_choice' : 'tool_choice.allowed_tools'
  const allowed = isFlat ? value : requiredObject(value.allowed_tools, path)
  addUnreadMembers(allowed, ALLOWED_TOOLS, path, losses)
  const choice = CHOICES.get(allowed.mode) ?? null
  if (choice === null && !isAbsent(allowed.mode)) {
    throw new ConversionError(`${path}.mode`, 'The mode of the tool choice is unknown.')
  }
  const selection = { tools, choice }
  if (isAbsent(allowed.tools)) return selection
  const names = requiredList(allowed.tools, `${path}.tools`).flatMap((element) => {
    const tool = objectOrEmpty(element)
    return textOf((objectOf(tool.function) ?? definitionOf(tool)).name) ?? []
  })
  const kept = keepAllowedTools(selection, new Set(names))
  return checkedForRequiredTool(kept, `${path}.tools`, losses)
}

function readOneChoice(body: JsonObject, losses: string[]): ToolChoice | null {
  if (!isAbsent(body.tool_choice)) return readChoice(body.tool_choice, losses)
  if (isAbsent(body.function_call)) return null
  const choice = CHOICES.get(body.function_call)
  return choice ?? namedChoice(body.function_call, 'function_call', losses)
}

function namedChoice(value: unknown, path: string, losses: string[]): ToolChoice {
  const named = requiredObject(value, path)
  addUnreadMembers(named, new Set(['name']), path, losses)
  return { kind: 'tool', name: requiredText(named.name, `${path}.name`) }
}

function readChoice(value: unknown, losses: string[]): ToolChoice {
  const word = CHOICES.get(value)
  if (word !== undefined) return word
  const choice = requiredObject(value, 'tool_choice')
  const { type, disable_parallel_tool_use: _isSingle, ...members } = choice
  const kind = CHOICES.get(type)
  if (kind !== undefined) {
    addUnreadMembers(members, new Set(), 'tool_choice', losses)
    return kind
  }
  if (type !== 'function' && type !== 'custom' && type !== 'tool') {
    throw new ConversionError('tool_choice.type', 'The type of the tool choice is unknown.')
  }
  if (type === 'tool' || isAbsent(choice[type])) return namedChoice(members, 'tool_choice', losses)
  addUnreadMembers(members, new Set([type]), 'tool_choice', losses)
  return namedChoice(choice[type], `tool_choice.${type}`, losses)
}

const FORMAT_TYPES: ReadonlySet<unknown> = new Set(['text', 'json_object', 'json_schema'])

/**
 * Reads `response_format`. Formats other than text, JSON and a JSON schema are reported as lost.
 */
export function readAnswerFormat(body: JsonObject, losses: string[]): AnswerFormat | null {
  const format = optionalObject(body.response_format, 'response_format')
  if (format === null) return null
  if (FORMAT_TYPES.has(format.type)) {
    addUnreadMembers(format, new Set(['type', 'json_schema']), 'response_format', losses)
  }
  if (format.type === 'text') return null
  if (format.type === 'json_object') return { kind: 'json' }
  if (format.type !== 'json_schema') {
    addLoss(losses, 'response_format')
    return null
  }
  const path = 'response_format.json_schema'
  const definition = requiredObject(format.json_schema, path)
  addUnreadMembers(definition, new Set(['name', 'schema', 'strict']), path, losses)
  return {
    kind: 'schema',
    name: requiredText(definition.name, `${path}.name`),
    schema: optionalObject(definition.schema, `${path}.schema`) ?? {},
    isStrict: optionalBoolean(definition.strict, `${path}.strict`),
  }
}
