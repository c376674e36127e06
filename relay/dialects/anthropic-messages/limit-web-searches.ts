import { namesByFoldedName } from '#domain/shared/fold-name-case.ts'
import { type RelayError, relayError } from '#relay/canonical/relay-error.ts'
import type { ByteEdit } from '../byte-edits.ts'
import type { ToolElement } from '../openai-chat/find-message-parts-and-tools.ts'
import { isMembers } from '../read-request-members.ts'
import { type Member, scanObject } from '../scan-request-object.ts'
import { limitIn, type ToolLimits } from '../tool-limits.ts'

/** Matches the types of the only tool of Anthropic's API that has a price per use. */
const WEB_SEARCH = /^web_search(?:_\w+)?$/
const LIMIT = 'max_uses'
const NAMES = namesByFoldedName(['type', LIMIT])

/**
 * Finds the web searches in a request and limits their uses. Returns undefined if there are none.
 * Returns an error if it is ambiguous which type or limit a tool of the provider has.
 */
export function limitWebSearches(
  body: Buffer,
  tools: readonly ToolElement[],
): ToolLimits | undefined | RelayError {
  let uses: number | undefined
  const edits: ByteEdit[] = []
  for (const { start, end, isProviders } of tools) {
    if (!isProviders) continue
    const members = scanObject(body.subarray(start, end), NAMES)
    if (!isMembers(members)) return relayError('invalid_parameter', { param: 'tools' })
    const inBody = members.map((member) => movedBy(member, start))
    if (!WEB_SEARCH.test(typeOf(body, inBody))) continue
    const limit = limitIn(body, { members: inBody, end }, LIMIT)
    uses = (uses ?? 0) + limit.uses
    edits.push(...limit.edits)
  }
  return uses === undefined ? undefined : { uses: { web_search: uses }, edits }
}

const movedBy = (member: Member, offset: number): Member => ({
  ...member,
  keyStart: member.keyStart + offset,
  valueStart: member.valueStart + offset,
  valueEnd: member.valueEnd + offset,
})

function typeOf(body: Buffer, members: readonly Member[]): string {
  const type = members.find(({ key }) => key === 'type')
  if (type?.kind !== 'string') return ''
  return JSON.parse(body.toString('utf8', type.valueStart, type.valueEnd)) as string
}
