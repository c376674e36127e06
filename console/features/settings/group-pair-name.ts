/** The separator between two groups of a special ratio: the user's group and the token's group. */
const AND = ' > '

/**
 * Formats two groups as `vip > default`. If a group's name would make this text ambiguous, formats
 * the groups as JSON.
 */
export const groupPairName = (user: string, token: string): string =>
  `${user}${token}`.includes('>') || user.startsWith('[')
    ? JSON.stringify([user, token])
    : `${user}${AND}${token}`

/** Parses a name that `groupPairName` has formatted. Returns null for any other name. */
export function groupPairOf(name: string): readonly [user: string, token: string] | null {
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
