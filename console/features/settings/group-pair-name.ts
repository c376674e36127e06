/** Separates the two groups in the name of a special ratio: first the user's, then the token's. */
const AND = ' > '

/** Formats two groups as `vip > default`, or as JSON if a group's name makes this ambiguous. */
export const pairName = (user: string, token: string): string =>
  `${user}${token}`.includes('>') || user.startsWith('[')
    ? JSON.stringify([user, token])
    : `${user}${AND}${token}`

/** Parses the two groups of a name that `pairName` has formatted; null for any other name. */
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
