/** The separator between the user's group and the token's group. */
const SEPARATOR = ' > '

/**
 * Returns a text such as `vip > default`. If the names of the groups would make the text ambiguous,
 * returns JSON.
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
