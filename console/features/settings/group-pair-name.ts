/**
 * The separator in the name of a special ratio. The name contains the user's group before the
 * separator and the token's group after it.
 */
const AND = ' > '

/**
 * Formats two groups as `vip > default`. If a group's name makes this text ambiguous, formats the
 * groups as JSON.
 */
export const pairName = (user: string, token: string): string =>
  `${user}${token}`.includes('>') || user.startsWith('[')
    ? JSON.stringify([user, token])
    : `${user}${AND}${token}`

/**
 * Parses a name that `pairName` has formatted to its two groups. Returns null for any other name.
 */
export function pairOf(name: string): readonly [user: string, token: string] | null {
  const [user, token] = jsonPair(name) ?? name.split(AND)
  return user === undefined || token === undefined ? null : [user, token]
}

function jsonPair(name: string): readonly string[] | null {
  if (!name.startsWith('["')) return null
  try {
    const pair: unknown = JSON.parse(name)
    return Array.isArray(pair) ? pair.map(String) : null
  } catch {
    return null
  }
}
