import { isObject, type JsonObject } from '#relay/canonical/json-values.ts'
import {
  type CanonicalRequest,
  type CanonicalTool,
  ConversionError,
  type Converted,
  InexpressibleMemberError,
  type ToolChoice,
} from '../../canonical/canonical-request.ts'
import { addLoss } from '../collect-losses.ts'
import {
  type ChosenTools,
  checkedForRequiredTool,
  keepAllowedTools,
} from '../keep-allowed-tools.ts'
import { requiredText } from '../read-json-values-strictly.ts'
import {
  listOrSingle,
  type Members,
  membersOf,
  reportUnknownMembers,
  textMember,
} from './members-in-either-spelling.ts'
import { readContents, readSystem } from './read-contents.ts'
import { readGeminiSchema } from './read-gemini-schema.ts'
import { readGenerationConfig } from './read-generation-config.ts'

const NAMES = new Set([
  ...['model', 'contents', 'systemInstruction', 'tools', 'toolConfig', 'generationConfig'],
  'cachedContent',
])
const DECLARATION_NAMES = new Set(['name', 'description', 'parameters', 'parametersJsonSchema'])
const CHOICE_NAMES = new Set(['mode', 'allowedFunctionNames'])

/**
 * Reads the body of `generateContent` or `streamGenerateContent`. The path of the URL names the
 * model and decides whether the answer is a stream. Throws a `ConversionError` for a malformed
 * member, and for a request whose prompt is partly stored at Google.
 */
export function readRequest(
  body: JsonObject,
  { model, isStream }: { readonly model: string; readonly isStream: boolean },
): Converted<CanonicalRequest> {
  const losses: string[] = []
  const members = membersOf(body, 'body')
  reportUnknownMembers(members, NAMES, '', losses)
  if (members.has('cachedContent')) {
    throw new InexpressibleMemberError('cachedContent', 'cachedContent can be read by Gemini only')
  }
  const declared = readTools(members.get('tools'), losses)
  const { tools, choice } = readToolConfig(members.get('toolConfig'), declared, losses)
  const value: CanonicalRequest = {
    model,
    isStream,
    system: readSystem(members.get('systemInstruction'), losses),
    messages: readContents(members.get('contents'), losses),
    tools,
    toolChoice: choice,
    allowsParallelCalls: null,
    ...readGenerationConfig(members.get('generationConfig'), losses),
    endUser: null,
    promptCacheKey: null,
  }
  return { value, losses }
}

/**
 * Reads the caller's functions. Tools that Google runs, such as `googleSearch`, are reported as
 * lost.
 */
function readTools(value: unknown, losses: string[]): readonly CanonicalTool[] {
  return listOrSingle(value, 'tools').flatMap((tool, index) => {
    const path = `tools[${index}]`
    const members = membersOf(tool, path)
    reportUnknownMembers(members, new Set(['functionDeclarations']), path, losses)
    const at = `${path}.functionDeclarations`
    return listOrSingle(members.get('functionDeclarations'), at).map((declaration, position) =>
      readDeclaration(declaration, `${at}[${position}]`, losses),
    )
  })
}

function readDeclaration(value: unknown, path: string, losses: string[]): CanonicalTool {
  const members = membersOf(value, path)
  reportUnknownMembers(members, DECLARATION_NAMES, path, losses)
  const name = textMember(members, 'name', path)
  if (name === null || name === '') {
    throw new ConversionError(`${path}.name`, `${path} needs a name`)
  }
  const parameters = members.get('parameters')
  const jsonSchema = members.get('parametersJsonSchema')
  if (parameters !== undefined && jsonSchema !== undefined) {
    throw new ConversionError(path, `${path} has both parameters and parametersJsonSchema`)
  }
  if (jsonSchema !== undefined && !isObject(jsonSchema)) {
    const at = `${path}.parametersJsonSchema`
    throw new ConversionError(at, `${at} must be an object`)
  }
  const schema =
    parameters === undefined
      ? (jsonSchema ?? { type: 'object', properties: {} })
      : readGeminiSchema(parameters, `${path}.parameters`)
  return {
    name,
    description: textMember(members, 'description', path) ?? '',
    schema,
    isStrict: null,
  }
}

/**
 * Reads how the model may call functions. If `allowedFunctionNames` restricts the calls to several
 * functions, only these functions are kept.
 */
function readToolConfig(
  value: unknown,
  tools: readonly CanonicalTool[],
  losses: string[],
): ChosenTools {
  if (value === undefined) return { tools, choice: null }
  const members = membersOf(value, 'toolConfig')
  reportUnknownMembers(members, new Set(['functionCallingConfig']), 'toolConfig', losses)
  const calling = members.get('functionCallingConfig')
  if (calling === undefined) return { tools, choice: null }
  const path = 'toolConfig.functionCallingConfig'
  const config = membersOf(calling, path)
  reportUnknownMembers(config, CHOICE_NAMES, path, losses)
  const names = allowedNames(config, `${path}.allowedFunctionNames`)
  const mode = (textMember(config, 'mode', path) ?? 'MODE_UNSPECIFIED').toUpperCase()
  const [name] = names
  if (mode === 'ANY' && names.length === 1 && name !== undefined) {
    return { tools, choice: { kind: 'tool', name } }
  }
  const selection = { tools, choice: choiceOf(mode, path, losses) }
  if (names.length === 0 || mode === 'NONE') return selection
  const allowed = keepAllowedTools(selection, new Set(names))
  return checkedForRequiredTool(allowed, `${path}.allowedFunctionNames`, losses)
}

const allowedNames = (config: Members, path: string): readonly string[] =>
  listOrSingle(config.get('allowedFunctionNames'), path).map((name, index) =>
    requiredText(name, `${path}[${index}]`),
  )

function choiceOf(mode: string, path: string, losses: string[]): ToolChoice | null {
  switch (mode) {
    case 'MODE_UNSPECIFIED':
      return null
    case 'AUTO':
      return { kind: 'auto' }
    case 'VALIDATED':
      addLoss(losses, `${path}.mode (VALIDATED)`)
      return { kind: 'auto' }
    case 'ANY':
      return { kind: 'required' }
    case 'NONE':
      return { kind: 'none' }
    default:
      throw new ConversionError(`${path}.mode`, `${path}.mode is unknown`)
  }
}
