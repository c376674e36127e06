/** Separates the user's group from the token's group in the name of a pair. */
const SEPARATOR = ' > '

/**
 * Returns the name of a pair of a user's group and a token's group, such as `vip > default`. If the
 * names of the groups would make this text ambiguous, the name is the pair as JSON.
 */
export const groupPairName = (user: string, token: string): string =>
  `${user}${token}`.includes('>') || user.startsWith('[')
    ? JSON.stringify([user, token])
    : `${user}${SEPARATOR}${token}`

export function groupPairOf(name: string): readonly [user: string, token: string] | null {
  const [user, token] = jsonPair(name) ?? name.split(SEPARATOR)
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
