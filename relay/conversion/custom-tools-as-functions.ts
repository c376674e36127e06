import { type JsonObject, objectOf, textOf } from '#relay/canonical/json-values.ts'
import type { CanonicalTool } from '../canonical/canonical-request.ts'
import { addLoss, addUnreadMembers } from './collect-losses.ts'
import { CustomToolInputDecoder } from './decode-custom-tool-input.ts'
import { optionalObject, optionalText, requiredText } from './read-json-values-strictly.ts'

/** Returns the arguments of the function that represents a tool with text input. */
export const argumentsOfInput = (input: string): string => JSON.stringify({ input })

/** Returns the text input of a tool from the arguments of its function. */
export function inputOfArguments(argumentsJson: string): string {
  const decoder = new CustomToolInputDecoder()
  return decoder.add(argumentsJson) + decoder.end()
}

const CUSTOM_MEMBERS = new Set(['type', 'name', 'description', 'format'])
const FORMAT_MEMBERS = new Set(['type', 'grammar', 'syntax', 'definition'])
const GRAMMAR_MEMBERS = new Set(['syntax', 'definition'])

/**
 * Reads the definition of one of OpenAI's custom tools, whose input is a text and not JSON, as a
 * function with one argument. The description of the argument contains the grammar of the text,
 * because the format of functions has no other place for a grammar.
 */
export function readCustomTool(tool: JsonObject, path: string, losses: string[]): CanonicalTool {
  addUnreadMembers(tool, CUSTOM_MEMBERS, path, losses)
  const format = optionalObject(tool.format, `${path}.format`)
  if (format?.type === 'grammar') addLoss(losses, `${path}.format`)
  addUnreadMembers(format ?? {}, FORMAT_MEMBERS, `${path}.format`, losses)
  // The grammar is a member of its own in chats only.
  const grammar = objectOf(format?.grammar)
  addUnreadMembers(grammar ?? {}, GRAMMAR_MEMBERS, `${path}.format.grammar`, losses)
  const description = format?.type === 'grammar' ? describeGrammar(grammar ?? format) : ANY_TEXT
  return {
    name: requiredText(tool.name, `${path}.name`),
    description: optionalText(tool.description, `${path}.description`) ?? '',
    schema: {
      type: 'object',
      properties: { input: { type: 'string', description } },
      required: ['input'],
      additionalProperties: false,
    },
    isStrict: null,
  }
}

const ANY_TEXT = 'Any text.'

const describeGrammar = ({ syntax, definition }: JsonObject): string =>
  `The text must match this ${textOf(syntax) ?? ''} grammar:\n${textOf(definition) ?? ''}`
