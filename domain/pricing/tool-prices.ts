import type { DecimalText, ToolPrices } from './price-snapshot.ts'
import type { RatioMap } from './read-ratios.ts'
import { TOOL_NAMES, type ToolCounts, type ToolName } from './usage.ts'

export const TOOL_PRICES_KEY = 'ToolPrice'

/**
 * The prices of the provider's tools in dollars per 1000 uses (see `built-in-prices.md`). As in the
 * option `ToolPrice`, a key is the name of a tool, or `tool:model` if another price applies to a
 * model. A model may end with `*`, which matches any text.
 */
export const DEFAULT_TOOL_PRICES: RatioMap = new Map<string, DecimalText>([
  ['web_search', '10'],
  ['web_search:grok*', '5'],
  ['web_search_preview', '10'],
  ['web_search_preview:gpt-4o*', '25'],
  ['web_search_preview:gpt-4.1*', '25'],
  ['x_search', '5'],
  ['file_search', '2.5'],
  ['code_interpreter', '30'],
  ['code_interpreter:grok*', '5'],
  ['image_generation', '150'],
  ['google_search', '14'],
  ['google_search:gemini-2*', '35'],
  ['google_maps', '14'],
  ['google_maps:gemini-2*', '25'],
])

/**
 * Returns the prices of the used tools for the model. An admin's entry for a tool takes precedence
 * over all built-in entries. Among the admin's entries and among the built-in entries, `tool:model`
 * takes precedence over `tool:prefix*`, a longer prefix over a shorter prefix, and all of these
 * over `tool`. Tools without a price are omitted.
 */
export function toolPricesOf(set: RatioMap, model: string, uses: ToolCounts): ToolPrices {
  const prices: Partial<Record<ToolName, DecimalText>> = {}
  for (const name of TOOL_NAMES) {
    if (uses[name] === undefined) continue
    const price = priceIn(set, name, model) ?? priceIn(DEFAULT_TOOL_PRICES, name, model)
    if (price !== undefined) prices[name] = price
  }
  return prices
}

function priceIn(prices: RatioMap, tool: ToolName, model: string): DecimalText | undefined {
  const exact = prices.get(`${tool}:${model}`)
  if (exact !== undefined) return exact
  let longest = -1
  let price = prices.get(tool)
  for (const [name, ofName] of prices) {
    if (!name.startsWith(`${tool}:`) || !name.endsWith('*')) continue
    const prefix = name.slice(tool.length + 1, -1)
    if (prefix.length <= longest || !model.startsWith(prefix)) continue
    longest = prefix.length
    price = ofName
  }
  return price
}
