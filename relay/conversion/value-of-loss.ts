import { isObject } from '#relay/canonical/json-values.ts'
import { shortPath } from './collect-losses.ts'
import { camelCase, type Members, membersOf } from './gemini/members-in-either-spelling.ts'

/** The value at the path of a loss, within one member of the caller's request. */
export type ValueOfLoss = {
  /** Undefined if nothing has this path. */
  readonly value: unknown
  /** True if the value belongs to an answer of a model within the conversation. */
  readonly isOfModel: boolean
}

/**
 * Matches the types of items with what a provider answered: calls of its tools, such as one with a
 * generated image, and lists of tools, whose JSON schemas may contain addresses as examples.
 */
const ANSWERED_TYPE = /(?:_call|_tools|^tool_search_output)$/

/** Reports whether a value is the answer of a model within the conversation. */
export const isAnswerOfModel = (value: unknown): boolean =>
  isObject(value) &&
  (value.role === 'assistant' ||
    value.role === 'model' ||
    (typeof value.type === 'string' && ANSWERED_TYPE.test(value.type)))

/** Reads the values of losses in one request. */
export class LossReader {
  private readonly isGemini: boolean
  /** The members of an object in Gemini's format by their names in camelCase. Read once. */
  private readonly members = new WeakMap<object, Members>()

  /** The losses in Gemini's format have names in camelCase, but a request has any spelling. */
  constructor(isGemini: boolean) {
    this.isGemini = isGemini
  }

  /** Reports whether a loss names the member `key` of a request itself. */
  isNamed(key: string, losses: ReadonlySet<string>): boolean {
    if (losses.has(key) || losses.has(shortPath(key))) return true
    return this.isGemini && losses.has(camelCase(key))
  }

  /** Returns the value at `path`, such as `[0].content[1]`, in `root`. A name may contain dots. */
  valueAt(root: unknown, path: string): ValueOfLoss {
    let value = root
    let rest = path.replace(/^\./, '')
    while (rest !== '') {
      if (isAnswerOfModel(value)) return { value: undefined, isOfModel: true }
      const [matched = rest, key = rest] = /^\[?([^.[\]]+)\]?\.?/.exec(rest) ?? []
      const whole = this.memberOf(value, rest)
      value = whole ?? this.memberOf(value, key)
      rest = whole === undefined ? rest.slice(matched.length) : ''
    }
    return { value, isOfModel: isAnswerOfModel(value) }
  }

  private memberOf(value: unknown, name: string): unknown {
    if (Array.isArray(value)) return Object.hasOwn(value, name) ? value[Number(name)] : undefined
    if (!isObject(value)) return undefined
    if (Object.hasOwn(value, name)) return value[name]
    if (!this.isGemini) return undefined
    // Gemini accepts a single object instead of a list.
    if (name === '0') return value
    const members = this.members.get(value) ?? membersOf(value, name)
    this.members.set(value, members)
    return members.get(name)
  }
}
