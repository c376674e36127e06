import { createHash } from 'node:crypto'
import type { AnswerPart, CanonicalChoice, CanonicalEvent } from '../canonical/canonical-answer.ts'
import type { CanonicalRequest, ToolChoice } from '../canonical/canonical-request.ts'
import { withPathOf } from './caller-paths-of-canonical-parts.ts'
import type { ProviderFormatName } from './format-conversion.ts'

const LENGTH_MAX = 64
const WORD = /^[\w-]{1,64}$/
/**
 * The names of tools that the providers of each format accept. A provider refuses the whole request
 * for a tool with another name. Anthropic itself accepts 128 characters, but Bedrock does not.
 */
const ACCEPTED: Readonly<Record<ProviderFormatName, RegExp>> = {
  chat: WORD,
  responses: WORD,
  messages: WORD,
  gemini: /^[A-Za-z_][\w.:-]{0,63}$/,
}

/**
 * The maximum length of a name that is replaced, which is far above those of clients. The names are
 * kept in memory until the call ends. A provider refuses a longer name.
 */
const REPLACED_LENGTH_MAX = 256

/** The caller's names of tools, by the names that are sent to the provider instead. */
export type OriginalToolNames = ReadonlyMap<string, string>

type AdaptedRequest = {
  readonly request: CanonicalRequest
  /**
   * Contains the names of defined tools that were replaced, and the first of the replaced names of
   * other tools, which a model that finds them in the conversation may call again.
   */
  readonly originalNames: OriginalToolNames
}

/**
 * Replaces the names of tools that the provider's format does not accept, wherever the request has
 * them. A name gets the same replacement in every request, because a changed prompt would not be
 * found in the provider's cache. Two names never get the same replacement. An empty name is kept.
 */
export function adaptToolNames(
  request: CanonicalRequest,
  format: ProviderFormatName,
): AdaptedRequest {
  const accepted = ACCEPTED[format]
  const names = namesIn(request)
  const isReplaced = (name: string): boolean =>
    name !== '' && name.length <= REPLACED_LENGTH_MAX && !accepted.test(name)
  const refused = [...names].filter(isReplaced)
  if (refused.length === 0) return { request, originalNames: new Map() }
  const replacements = new Map<string, string>()
  for (const name of refused) {
    const replacement = replacementOf(name, names)
    names.add(replacement)
    replacements.set(name, replacement)
  }
  const originalNames = namesToRestore(request, replacements)
  return { request: withReplacedNames(request, replacements), originalNames }
}

/** The maximum number of names of tools that are not defined, because names are kept in memory. */
const UNDEFINED_TOOLS_MAX = 128

function namesToRestore(
  { tools }: CanonicalRequest,
  replacements: ReadonlyMap<string, string>,
): OriginalToolNames {
  const defined = new Set(tools.map(({ name }) => name))
  const originals = new Map<string, string>()
  let others = 0
  for (const [name, replacement] of replacements) {
    if (!defined.has(name)) others += 1
    if (defined.has(name) || others <= UNDEFINED_TOOLS_MAX) originals.set(replacement, name)
  }
  return originals
}

/**
 * Returns the part or event with the caller's name of the tool. Every other part or event is
 * returned unchanged.
 */
export function withOriginalToolName<Value extends AnswerPart | CanonicalEvent>(
  value: Value,
  originalNames: OriginalToolNames,
): Value {
  if (value.kind !== 'tool-call') return value
  const name = originalNames.get(value.name)
  return name === undefined ? value : { ...value, name }
}

/** Returns the choices with the caller's names of the tools in all parts. */
export const withOriginalToolNames = (
  choices: readonly CanonicalChoice[],
  originalNames: OriginalToolNames,
): readonly CanonicalChoice[] =>
  originalNames.size === 0
    ? choices
    : choices.map((choice) => ({
        ...choice,
        parts: choice.parts.map((part) => withOriginalToolName(part, originalNames)),
      }))

/** Returns the names of all tools that the request defines, chooses, or called before. */
function namesIn({ tools, toolChoice, messages }: CanonicalRequest): Set<string> {
  const names = new Set(tools.map(({ name }) => name))
  if (toolChoice?.kind === 'tool') names.add(toolChoice.name)
  for (const { parts } of messages) {
    for (const part of parts) {
      if (part.kind === 'tool-call' || part.kind === 'tool-result') names.add(part.name)
    }
  }
  return names
}

const DIGITS = 10

/**
 * Returns an accepted name that begins like `name` and is not in `taken`. It ends with a digest of
 * `name`, because the beginnings of several names may be equal.
 */
function replacementOf(name: string, taken: ReadonlySet<string>): string {
  const start = name.slice(0, LENGTH_MAX - DIGITS - 2).replace(/[^\w-]/g, '_')
  // Gemini's names begin with a letter or an underscore.
  const beginning = /^[A-Za-z_]/.test(start) ? start : `_${start}`
  for (let attempt = 0; ; attempt += 1) {
    const text = attempt === 0 ? name : `${attempt} ${name}`
    const digest = createHash('sha256').update(text).digest('hex').slice(0, DIGITS)
    const replacement = `${beginning}_${digest}`
    if (!taken.has(replacement)) return replacement
  }
}

function withReplacedNames(
  request: CanonicalRequest,
  replacements: ReadonlyMap<string, string>,
): CanonicalRequest {
  const replace = <Named extends { readonly name: string }>(named: Named): Named => {
    const name = replacements.get(named.name)
    return name === undefined ? named : { ...named, name }
  }
  const choose = (choice: ToolChoice | null): ToolChoice | null =>
    choice?.kind === 'tool' ? replace(choice) : choice
  return {
    ...request,
    tools: request.tools.map(replace),
    toolChoice: choose(request.toolChoice),
    messages: request.messages.map((message) => {
      const parts = message.parts.map((part) =>
        part.kind === 'tool-call' || part.kind === 'tool-result'
          ? withPathOf(part, replace(part))
          : part,
      )
      return withPathOf(message, { ...message, parts })
    }),
  }
}
