import { knownNames } from '#domain/shared/folded-name.ts'
import { type Denial, deny } from '#relay/canonical/denial.ts'
import { jsonDenial } from '#relay/dialects/json-denial.ts'
import { scanObject } from '#relay/dialects/json-scan.ts'

/** What the console says beside the chat itself, and the chat without it. */
export type OwnRequest = {
  /** Empty: the user's own. */
  readonly group: string
  readonly body: Buffer
}

/** The chat's own names are looked at where it is read. */
const NAMES = knownNames(['group', 'max_tokens'])
const ZERO = /^-?0(\.0+)?$/

/**
 * Takes `group` out of the body, which no provider knows, and a `max_tokens` of 0, which means no
 * limit here and is an error to most of them. What is no JSON object is left for others to refuse.
 */
export function ownRequest(body: Buffer): OwnRequest | Denial {
  const members = scanObject(body, NAMES)
  if ('fault' in members) {
    return members.fault === 'ambiguous' ? jsonDenial(body, members) : { group: '', body }
  }
  const raw = (start: number, end: number) => body.toString('utf8', start, end)
  let group = ''
  const kept = members.filter(({ key, kind, valueStart, valueEnd }) => {
    if (key === 'group' && kind === 'string') group = JSON.parse(raw(valueStart, valueEnd))
    if (key === 'group') return kind !== 'string' && kind !== 'null'
    return key !== 'max_tokens' || !ZERO.test(raw(valueStart, valueEnd))
  })
  if (kept.some(({ key }) => key === 'group')) return deny('invalid_parameter', { param: 'group' })
  if (kept.length === members.length) return { group, body }
  const parts = kept.flatMap(({ keyStart, valueEnd }, index) => [
    Buffer.from(index === 0 ? '' : ','),
    body.subarray(keyStart, valueEnd),
  ])
  return { group, body: Buffer.concat([Buffer.from('{'), ...parts, Buffer.from('}')]) }
}
