import { fetchTokens } from '../tokens/list-tokens.ts'

const LOOKED_AT = 100
const ENABLED = 1

/** Whether one of the user's tokens is enabled, of the newest hundred. */
export async function hasEnabledToken(signal: AbortSignal): Promise<boolean> {
  const { items } = await fetchTokens({ keyword: '', page: 0, pageSize: LOOKED_AT }, signal)
  return items.some(({ status }) => status === ENABLED)
}
