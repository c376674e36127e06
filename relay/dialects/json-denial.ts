import { type Denial, deny } from '#relay/canonical/denial.ts'
import { DEPTH_MAX, type JsonFault, MEMBERS_MAX, VALUES_MAX } from './json-scan.ts'

/** What is wrong with a body, for whoever wrote the program that sent it. */
export function jsonDenial(body: Buffer, fault: JsonFault): Denial {
  switch (fault.fault) {
    case 'duplicate':
      return deny('duplicate_key', { param: fault.key.slice(0, 64) })
    case 'not-an-object':
      return deny('json_not_object')
    case 'not-utf8':
      return deny('invalid_utf8')
    case 'too-deep':
      return deny('json_too_deep', { subject: String(DEPTH_MAX) })
    case 'too-long':
      return deny('json_too_long', { subject: String(VALUES_MAX) })
    case 'too-wide':
      return deny('json_too_wide', { subject: String(MEMBERS_MAX) })
    case 'bad-text':
      return deny('invalid_text', { subject: placeOf(body, fault.at) })
    case 'malformed':
      if (isBlank(body)) return deny('empty_body')
      if (fault.at >= body.length) return deny('json_incomplete')
      return deny('invalid_json', { subject: placeOf(body, fault.at) })
  }
}

const LF = 10

/** `line:column` from 1, as editors count; the column in characters. */
function placeOf(body: Buffer, at: number): string {
  let line = 1
  let lineStart = 0
  for (let end = body.indexOf(LF); end >= 0 && end < at; end = body.indexOf(LF, lineStart)) {
    line += 1
    lineStart = end + 1
  }
  return `${line}:${body.toString('utf8', lineStart, at).length + 1}`
}

const isBlank = (body: Buffer): boolean =>
  body.every((byte) => byte === 32 || byte === 9 || byte === LF || byte === 13)
