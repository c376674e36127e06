import type { ToolCounts, ToolName } from '#domain/pricing/usage.ts'
import { type ToolLimits, USES_DEFAULT, USES_MAX } from '../provider-tool-limits.ts'

/**
 * The tools that Google runs and that have a price, by their names in camelCase. The value is
 * either the name of a price per use, or the number of input tokens that the tool may add.
 * `urlContext` adds up to 20 pages. `codeExecution` adds the output of its programs.
 */
const PRICED: ReadonlyMap<string, ToolName | number> = new Map<string, ToolName | number>([
  ['googleSearch', 'google_search'],
  ['googleSearchRetrieval', 'google_search'],
  ['googleMaps', 'google_maps'],
  ['urlContext', 100_000],
  ['codeExecution', 20_000],
])

/** Reports whether the tool with this camelCase name has a price. */
export const isPricedTool = (name: string): boolean => PRICED.has(name)

/**
 * Matches the models whose web search is charged once per prompt. Later models are charged per
 * query: https://ai.google.dev/gemini-api/docs/google-search (in a copy of 2026-09-17).
 */
const CHARGED_PER_PROMPT = /(?:^|\/)gemini-[12](?!\d)/

/**
 * Returns the limits of the tools that Google runs. The API can't limit the number of queries, so
 * the hold (the reserved quota) covers a likely number. Additional queries are billed as far as the
 * account can pay. Only the end of an answer lists its queries, so an answer that was cut off
 * counts as at least one use of each tool with a price per use.
 */
export function limitTools(model: string, names: ReadonlySet<string>): ToolLimits | undefined {
  const tools = [...names].flatMap((name) => PRICED.get(name) ?? [])
  if (tools.length === 0) return undefined
  const used = tools.filter((tool) => typeof tool === 'string')
  const inputTokens = tools.reduce<number>(
    (sum, tool) => sum + (typeof tool === 'number' ? tool : 0),
    0,
  )
  const isPerPrompt = CHARGED_PER_PROMPT.test(model)
  // An answer does not tell whether the search or the maps tool made a query. If the request has
  // both tools, all queries count as searches, and the maps tool counts at most once.
  const isSearching = used.includes('google_search')
  const limited = (most: number): ToolCounts =>
    Object.fromEntries(
      used.map((name) => [name, isPerPrompt || (isSearching && name === 'google_maps') ? 1 : most]),
    )
  const uses = limited(USES_DEFAULT)
  if (used.length === 0) return { uses, inputTokens, edits: [] }
  const assumed = Object.fromEntries(used.map((name) => [name, 1]))
  return {
    uses,
    usesAcceptedMax: limited(USES_MAX),
    assumedUses: { uses: assumed, of: 'cut-answer' },
    inputTokens,
    edits: [],
  }
}
