import { type ExactJson, isNumber, isObject, parseJsonText } from './json-text.ts'

/** The same JSON, two blanks a level, numbers digit by digit. What is no JSON stays as it is. */
export function readableJson(text: string): string {
  const parsed = parseJsonText(text)
  return 'fault' in parsed ? text : textOf(parsed.value, '\n')
}

/** Whether two texts are the same JSON: blanks don't count, the order of names does. */
export const isSameJson = (one: string, other: string): boolean =>
  one === other || readableJson(one) === readableJson(other)

function textOf(value: ExactJson, newLine: string): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (isNumber(value)) return value.numberText
  const inner = `${newLine}  `
  if (isObject(value)) {
    const members = [...value].map(([name, member]) => {
      return `${JSON.stringify(name)}: ${textOf(member, inner)}`
    })
    return enclosed('{', members, '}', newLine)
  }
  const elements = (value as readonly ExactJson[]).map((element) => textOf(element, inner))
  return enclosed('[', elements, ']', newLine)
}

function enclosed(open: string, items: string[], close: string, newLine: string): string {
  if (items.length === 0) return open + close
  return `${open}${newLine}  ${items.join(`,${newLine}  `)}${newLine}${close}`
}
