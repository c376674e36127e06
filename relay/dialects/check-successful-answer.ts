const OPEN_BRACE = 123
const CLOSE_BRACE = 125
const ERROR = Buffer.from('"error"')

/**
 * Returns a function that checks the body of an answer with status 200. A valid answer is a JSON
 * object with one of `members`, whose value is not null. The function returns null for a valid
 * answer, and `error-event` if the body contains an error instead. It returns `format` for any
 * other body, such as an error in a vendor's own format.
 */
export function answerCheck(...members: readonly string[]) {
  const keys = members.map((member) => Buffer.from(JSON.stringify(member)))
  return (body: Buffer): 'format' | 'error-event' | null => errorOfAnswer(body, keys)
}

function errorOfAnswer(body: Buffer, members: readonly Buffer[]): 'format' | 'error-event' | null {
  let first = 0
  let last = body.length - 1
  while ((body[first] ?? 33) <= 32) first += 1
  while ((body[last] ?? 33) <= 32) last -= 1
  if (body[first] !== OPEN_BRACE || body[last] !== CLOSE_BRACE) return 'format'
  if (members.some((member) => hasValue(body, member))) return null
  return body.includes(ERROR) ? 'error-event' : 'format'
}

const NULL_VALUE = /^\s*:\s*null\b/
const NULL_BYTES_MAX = 16

function hasValue(body: Buffer, member: Buffer): boolean {
  const at = body.indexOf(member)
  if (at < 0) return false
  const start = at + member.length
  return !NULL_VALUE.test(body.toString('latin1', start, start + NULL_BYTES_MAX))
}
