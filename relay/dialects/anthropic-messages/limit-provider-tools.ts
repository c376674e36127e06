import { namesByFoldedName } from '#domain/shared/fold-json-member-names.ts'
import { invalidParameter, type RelayError } from '#relay/canonical/relay-error.ts'
import type { ByteEdit } from '../byte-edits.ts'
import type { ToolElement } from '../openai-chat/find-message-parts-and-tools.ts'
import { type LimitedTools, readUsesLimit } from '../provider-tool-limits.ts'
import { isMembers } from '../read-common-request-members.ts'
import { type Member, scanObject } from '../scan-request-object.ts'

/**
 * Matches the types of provider tools that cost only tokens. An `mcp_toolset` also needs the
 * request member `mcp_servers`, which the channel must allow too.
 */
const TOKENS_ONLY = /^(?:web_fetch(?:_\w+)?|mcp_toolset)$/
/**
 * Matches the types of web searches. Web searches are the only tools of Anthropic's API with a
 * price per use. Containers, for example, are charged by the hour, and no price of the gateway
 * covers them.
 */
const WEB_SEARCH = /^web_search(?:_\w+)?$/
const LIMIT = 'max_uses'
const NAMES = namesByFoldedName(['type', LIMIT])
/**
 * The number of input tokens that the hold (the reserved quota) covers for a request with tools in
 * `TOKENS_ONLY`.
 */
const INPUT_TOKENS = 100_000

/**
 * Limits how often the model may use each web search in a request, and marks the provider tools
 * that no price covers as unpriced. Returns an error if a provider tool has a member with an
 * ambiguous name.
 */
export function limitTools(body: Buffer, tools: readonly ToolElement[]): LimitedTools | RelayError {
  if (!tools.some(({ isProviderTool }) => isProviderTool)) return { tools }
  let uses: number | undefined
  let inputTokens = 0
  const edits: ByteEdit[] = []
  const limited: ToolElement[] = []
  for (const tool of tools) {
    const { start, end, isProviderTool } = tool
    const members = isProviderTool ? scanObject(body.subarray(start, end), NAMES) : NO_MEMBERS
    if (!isMembers(members)) return invalidParameter('tools')
    const inBody = members.map((member) => movedBy(member, start))
    const type = typeOf(body, inBody)
    const isSearch = WEB_SEARCH.test(type)
    const isPriced = !isProviderTool || isSearch || TOKENS_ONLY.test(type)
    limited.push(isPriced ? tool : { ...tool, isUnpriced: true })
    if (TOKENS_ONLY.test(type)) inputTokens = INPUT_TOKENS
    if (!isSearch) continue
    const limit = readUsesLimit(body, { members: inBody, end }, LIMIT)
    uses = (uses ?? 0) + limit.uses
    edits.push(...limit.edits)
  }
  if (uses === undefined && inputTokens === 0) return { tools: limited }
  const ofSearch = uses === undefined ? {} : { web_search: uses }
  const ofOthers = inputTokens === 0 ? {} : { inputTokens }
  return { tools: limited, toolLimits: { uses: ofSearch, ...ofOthers, edits } }
}

const NO_MEMBERS: readonly Member[] = []

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
