import { parsedObject } from './json-values.ts'
import { isVendorError } from './read-provider-error-body.ts'

const QUOTE = 34
const COMMA = 44
const BACKSLASH = 92
const OPENING: ReadonlySet<number> = new Set([91, 123])
const CLOSING: ReadonlySet<number> = new Set([93, 125])

const OBJECT_START = /^\s*\{/
/** Matches a member `error`, or a list `errors`, whose value has begun and is not empty. */
const BEGUN_ERROR = /^\s*"errors?"\s*:\s*(?!null\b|\[\s*(?:\]|$))\S/

/**
 * Reports whether a text begins like a JSON object that is not an error. `start` is the beginning
 * of a body or of an event that is too large to be kept. The same members mark it as an error as in
 * a short answer. Members after the beginning are not seen.
 */
export function beginsLikeAnswer(start: string): boolean {
  if (!OBJECT_START.test(start)) return false
  const lastMember = startOfLastMember(start)
  if (BEGUN_ERROR.test(start.slice(lastMember))) return false
  // The comma or the opening brace before the last member is left out.
  const members = parsedObject(`${start.slice(0, lastMember - 1)}}`) ?? {}
  return (members.error ?? null) === null && !isVendorError(members)
}

/**
 * Returns the offset after the last comma between members of the outermost object, or after the
 * opening brace if there is no such comma.
 */
function startOfLastMember(start: string): number {
  let depth = 0
  let isInText = false
  let last = start.indexOf('{') + 1
  for (let at = 0; at < start.length; at += 1) {
    const code = start.charCodeAt(at)
    if (isInText && code === BACKSLASH) at += 1
    else if (code === QUOTE) isInText = !isInText
    else if (isInText) continue
    else if (OPENING.has(code)) depth += 1
    else if (CLOSING.has(code)) depth -= 1
    else if (code === COMMA && depth === 1) last = at + 1
  }
  return last
}
