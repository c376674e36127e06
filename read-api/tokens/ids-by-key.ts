import type { Principal } from '#infra/http/principal.ts'
import { tokenKeysOf } from '#projections/tokens/query.ts'
import type { ReadDeps } from '../question.ts'

const OPENED_AT_ONCE = 100

/**
 * A user's tokens whose keys are the text, or hold it. Keys are kept encrypted: a whole one is
 * found by its keyed hash; for a part of one, all that the user has (a thousand at most) are
 * opened, some at a time, so that nobody else waits for long. By an access token whole ones are
 * found alone: by parts, a key could be read out letter by letter.
 */
export async function idsByKey(
  { core }: Pick<ReadDeps, 'core'>,
  { userId, sessionHash }: Pick<Principal, 'userId' | 'sessionHash'>,
  text: string,
): Promise<readonly number[]> {
  const key = text.trim().replace(/^sk-/, '')
  const refs = await tokenKeysOf(core.db, userId)
  const lookup = core.vault.keyedHash('token-key', key)
  const whole = refs.filter(({ keyLookup }) => keyLookup === lookup)
  if (whole.length > 0 || sessionHash === null) return whole.map(({ id }) => id)
  const found: number[] = []
  for (let from = 0; from < refs.length; from += OPENED_AT_ONCE) {
    const some = refs.slice(from, from + OPENED_AT_ONCE)
    const owned = some.map(({ id, keyRef }) => ({ owner: `token:${id}`, ref: keyRef }))
    const keys = await core.vault.getSecrets('token-key', owned)
    found.push(...some.filter(({ keyRef }) => keys.get(keyRef)?.includes(key)).map(({ id }) => id))
  }
  return found
}
