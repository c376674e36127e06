import { namesByFoldedName } from '#domain/shared/fold-name-case.ts'
import { type RelayError, relayError } from '#relay/canonical/relay-error.ts'
import { isMembers } from '../check-common-request-members.ts'
import { nestedMemberRules } from '../check-nested-json-members.ts'
import { type Member, scanObject } from '../scan-request-object.ts'

const MEMBER = 'context_management'
/**
 * The maximum length of the value of `MEMBER` in bytes. Clients send a few edits of some hundred
 * bytes.
 */
const BYTES_MAX = 65_536
const NAMES = namesByFoldedName(['edits'])
const EDIT_RULES = nestedMemberRules('edits', { type: ['string'] })
/** Matches the types of edits that compact the conversation, such as `compact_20260112`. */
const COMPACT = /compact/i

/**
 * Returns an error if the request lets the provider compact the conversation, or if the provider
 * may read the edits differently from the gateway. A compaction is a second call of the model,
 * which the hold (the reserved quota) does not cover. Other edits only remove content and are
 * accepted.
 */
export function errorInContextManagement(
  body: Buffer,
  members: readonly Member[],
): RelayError | null {
  const member = members.find(({ key }) => key === MEMBER)
  if (member?.kind !== 'object') return null
  const bytes = body.subarray(member.valueStart, member.valueEnd)
  const inner = bytes.length > BYTES_MAX ? null : scanObject(bytes, NAMES, EDIT_RULES)
  const edits = inner !== null && isMembers(inner) ? inner.find(({ key }) => key === 'edits') : null
  if (edits === undefined) return null
  if (edits === null || edits.kind !== 'array' || edits.ambiguity !== null) {
    return relayError('invalid_parameter', { param: MEMBER })
  }
  const list = JSON.parse(bytes.toString('utf8', edits.valueStart, edits.valueEnd)) as unknown[]
  const isCompact = list.some((edit) => COMPACT.test(typeOf(edit)))
  return isCompact ? relayError('parameter_not_supported', { param: MEMBER }) : null
}

const typeOf = (edit: unknown): string =>
  typeof edit === 'object' && edit !== null && 'type' in edit ? `${edit.type}` : ''
